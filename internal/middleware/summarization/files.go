package summarization

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
)

// folder is where texts that were left out are kept. Its name begins with a dot: it is no work of the agent's.
const folder = sandbox.Outputs + "/.tool-results"

// pathFor is the file for the text of a message. It depends on the text alone, so that writing it again changes
// nothing.
func pathFor(m *message.Message) string {
	sum := sha256.Sum256([]byte(m.Text()))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, m.Name[:min(len(m.Name), 64)])
	if name == "" || m.Role != message.Tool {
		name = "message"
	}
	return folder + "/" + name + "-" + hex.EncodeToString(sum[:6]) + ".txt"
}

// imagesLeftOut stands where nothing but images was left out.
const imagesLeftOut = "[… images are left out here …]"

// noteFor stands where text was left out. path is the file that has all of it; empty if there is none.
func noteFor(m *message.Message, keep int, path string) string {
	n := utf8.RuneCountInString(m.Text())
	left := fmt.Sprintf("[… %d of %d characters are left out here", max(0, n-keep), n)
	switch {
	case path != "":
		return left + "; all of it is in " + path + " …]"
	case m.Role == message.Tool:
		return left + "; call the tool again if you need them …]"
	}
	return left + " …]"
}

// store writes the texts of newly shortened messages into files. A text that cannot be written is shortened all the
// same, without the name of a file: the thread's history still has it.
func (m *Middleware) store(p *plan, old []compaction.Short) {
	for i, s := range p.short {
		msg := &p.all[i]
		if s.Note == imagesLeftOut || slices.Contains(old, s) {
			continue
		}
		if m.cfg.Files == nil || m.cfg.Files.WriteFile(pathFor(msg), []byte(msg.Text()), false) != nil {
			s.Note = noteFor(msg, s.Keep, "")
			p.shorten(i, s)
		}
	}
}

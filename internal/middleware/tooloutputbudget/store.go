package tooloutputbudget

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/sandbox"
)

// maxParsed bounds the text that is looked into, in bytes.
const maxParsed = 5 << 20

// logs are tools whose output is named as a log.
var logs = []string{"bash", "bash_tool", "web_fetch"}

// store sees to it that all of the text is in a file and returns what takes its place. stored is the file that the tool
// made itself. It reports false when the text is not to be stored or cannot be.
func (m *Middleware) store(name, text, stored string) (string, bool) {
	limit := m.threshold(name)
	if limit <= 0 || m.cfg.Files == nil || utf8.RuneCountInString(text) <= limit {
		return "", false
	}
	if stored != "" {
		if s, ok := m.ofFile(name, text, stored); ok {
			return s, true
		}
	}
	path := m.pathOf(name, text)
	if err := m.cfg.Files.WriteFile(path, []byte(text), false); err != nil {
		return "", false // a full disk or a folder that the agent made unusable: the model still gets its result
	}
	whole := text
	if len(whole) > maxParsed {
		whole = ""
	}
	return m.render(source{tool: name, path: path, chars: utf8.RuneCountInString(text), whole: whole, shown: text}),
		true
}

// ofFile makes the synopsis of a file that the tool has made. It is false if the file cannot be read any more.
func (m *Middleware) ofFile(name, text, path string) (string, bool) {
	info, err := m.cfg.Files.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	src := source{tool: name, path: path, chars: int(info.Size()), shown: text}
	if whole, err := m.cfg.Files.ReadFile(path, maxParsed); err == nil {
		src.whole = string(whole)
		src.chars = utf8.RuneCount(whole)
	}
	return m.render(src), true
}

// pathOf names the file by what is in it: the same result, or the same call after a crash, makes the same file.
func (m *Middleware) pathOf(name, text string) string {
	sum := sha256.Sum256([]byte(name + "\x00" + text))
	ending := "txt"
	if slices.Contains(logs, name) {
		ending = "log"
	}
	return fmt.Sprintf("%s/%s/%s-%s.%s", sandbox.Outputs, m.cfg.Subdir, fileName(name), hex.EncodeToString(sum[:6]),
		ending)
}

// DefaultFolder is where the files of a thread are if nothing else is configured; summaries of results go there, too.
const DefaultFolder = sandbox.Outputs + "/" + defaultSubdir

const (
	defaultSubdir = ".tool-results"
	threeDigits   = "[0-9a-f][0-9a-f][0-9a-f]"
)

// FilePattern is the pattern, as of path.Match, that the names of the files fit: they end with a hash of what is in
// them.
const FilePattern = "*-" + threeDigits + threeDigits + threeDigits + threeDigits + ".*"

// fileName is the name of a tool as part of a file's name. A model may call tools that do not exist.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "tool"
	}
	return name[:min(len(name), 64)]
}

// cut leaves out the middle of a text that is longer than a result may be without a file. It depends on its arguments
// and the configuration alone.
func (m *Middleware) cut(name, text string) (string, bool) {
	n, limit := utf8.RuneCountInString(text), m.inline(name)
	if limit < 0 || n <= limit {
		return "", false
	}
	marker := func(left int) string {
		return fmt.Sprintf("\n[... %d chars omitted from %s output. Persistent storage unavailable. Ask for a "+
			"smaller part if you need them.]\n", left, fileName(name))
	}
	room := limit - utf8.RuneCountInString(marker(n))
	if room <= 0 {
		return excerpt.First(text, limit), true
	}
	first, last := m.cfg.FallbackHead, m.cfg.FallbackTail
	if first+last > room {
		first, last = min(first, room*3/4), min(last, room-room*3/4)
	}
	a, b := wholeLines(excerpt.First(text, first)), excerpt.Last(text, last)
	return a + marker(n-utf8.RuneCountInString(a)-utf8.RuneCountInString(b)) + b, true
}

// wholeLines leaves out a cut line at the end, unless that is much.
func wholeLines(s string) string {
	if i := strings.LastIndexByte(s, '\n'); i > len(s)*3/4 {
		return s[:i]
	}
	return s
}

package search

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

const (
	// partLen is how long the pieces are that a message is found by, in bytes, and maxParts how many one has; of what
	// a tool has answered the first is enough.
	partLen, maxParts = 16 << 10, 32
	// MaxFiles is how many files of a thread are found by their names.
	MaxFiles = 2000
	maxTitle = 1000
)

// document is what can be found: a title, a piece of a message, the name of a file.
type document struct {
	docKey

	thread, title string // of what was found
	role          string
	at            time.Time
	text          string
}

// docKey names a document within its thread.
type docKey struct {
	form, ref string
	part      int
}

// digest tells whether a document has changed.
func (d document) digest() string {
	sum := sha256.Sum256([]byte(d.role + "\x00" + d.text))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// Content is what a thread has to be found. Messages are those of its present branch, Files the paths of its files.
type Content struct {
	Thread   store.Thread
	Messages []message.Message
	Files    []string
}

// documents are those of a thread. The time of a message is that of its run: its beginning for what the user said,
// its end for the answers.
func (c Content) documents(runs []store.Run) (list []document) {
	add := func(d document) {
		if d.text = database.Plain(strings.TrimSpace(d.text)); d.text != "" {
			list = append(list, d)
		}
	}
	for _, path := range c.Files[:min(len(c.Files), MaxFiles)] {
		add(document{docKey: docKey{File, path, 0}, at: c.Thread.UpdatedAt, text: shortPath(path)})
	}
	times := make(map[string]store.Run, len(runs))
	for _, r := range runs {
		times[r.ID] = r
	}
	asked, answered := c.Thread.CreatedAt, c.Thread.CreatedAt
	for _, m := range c.Messages {
		if m.Role == message.Human && conversation.IsUser(m) {
			if r, ok := times[runOf(m)]; ok {
				asked, answered = r.CreatedAt, r.UpdatedAt
			}
		}
		text, most, at := textOf(m), maxParts, answered
		switch m.Role {
		case message.Tool:
			most = 1
		case message.Human:
			at = asked
		}
		for part, piece := range pieces(text, most) {
			add(document{docKey: docKey{Message, m.ID, part}, role: string(m.Role), at: at, text: piece})
		}
	}
	add(document{docKey: docKey{form: Title}, at: c.Thread.CreatedAt, text: head(c.Thread.Title, maxTitle)})
	return list
}

// textOf is what people see of a message.
func textOf(m message.Message) string {
	switch {
	case m.ID == "" || m.Role == message.System || conversation.Hidden(m) && !conversation.IsUser(m):
		return ""
	case m.Role == message.Human:
		return conversation.OwnText(m)
	}
	return m.Text()
}

// runOf is the run that a human message began.
func runOf(m message.Message) (id string) {
	_ = json.Unmarshal(m.Kwargs["run_id"], &id) // a client may have written anything
	return id
}

// shortPath is the path of a file as people know it.
func shortPath(path string) string {
	for _, folder := range []string{"workspace", "uploads", "outputs"} {
		if _, rest, ok := strings.Cut(path, "/"+folder+"/"); ok {
			return rest
		}
	}
	return path
}

// head is the beginning of a text, of whole characters.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// pieces cuts a text at the ends of lines or words, into at most as many pieces.
func pieces(text string, most int) (list []string) {
	for text != "" && len(list) < most {
		piece := head(text, partLen)
		if len(piece) < len(text) {
			if at := strings.LastIndexAny(piece, "\n"); at > partLen/2 {
				piece = piece[:at+1]
			} else if at := strings.LastIndexAny(piece, " \t"); at > partLen/2 {
				piece = piece[:at+1]
			}
		}
		list, text = append(list, piece), text[len(piece):]
	}
	return list
}

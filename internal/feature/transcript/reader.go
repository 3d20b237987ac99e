package transcript

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// maxShown bounds the arguments and the result of a call, in bytes each; the rest is cut off, which is said.
const maxShown = 16 << 10

// said is a message as people read it.
type said struct {
	Person    bool
	At        time.Time
	Text      string
	Reasoning string
	Files     []string // with their paths
	Pictures  int
}

// call is a call of a tool with its result.
type call struct {
	Name    string
	Args    string
	Result  string
	Failed  bool
	Missing bool // there is no result
	Files   []string
}

// shown is a format for people.
type shown interface {
	begin(about About) error
	say(s said) error
	call(c call) error
	end() error
}

// reader shows messages, and each call where its result comes.
type reader struct {
	shown

	waiting []message.ToolCall // of the last answer, without results so far
}

func (r *reader) add(raw Message) error {
	var m message.Message
	if err := json.Unmarshal(raw.Raw, &m); err != nil {
		return fmt.Errorf("read a message of %s: %w", raw.At.UTC().Format(time.RFC3339), err)
	}
	if m.Role == message.Tool {
		return r.result(m)
	}
	if err := r.unanswered(); err != nil {
		return err
	}
	r.waiting = m.ToolCalls
	s := said{Person: m.Role == message.Human, At: raw.At, Text: inert.Text(m.Text()),
		Reasoning: inert.Text(m.Reasoning())}
	if s.Person {
		s.Text, s.Files = inert.Text(conversation.OwnText(m)), uploads(m.Kwargs["files"])
	}
	for _, p := range m.Content {
		if p.Type == message.PartImage {
			s.Pictures++
		}
	}
	if s.Text == "" && s.Reasoning == "" && len(s.Files) == 0 && s.Pictures == 0 {
		return nil
	}
	return r.say(s)
}

// result shows the call that a message answers.
func (r *reader) result(m message.Message) error {
	c := call{Name: m.Name, Result: m.Text(), Failed: m.Status == message.StatusError}
	for i, w := range r.waiting {
		if w.ID == m.ToolCallID {
			c.Name, c.Args = w.Name, string(w.Args)
			r.waiting = append(r.waiting[:i:i], r.waiting[i+1:]...)
			break
		}
	}
	return r.show(c)
}

// unanswered shows the calls that got no result.
func (r *reader) unanswered() error {
	for _, w := range r.waiting {
		if err := r.show(call{Name: w.Name, Args: string(w.Args), Missing: true}); err != nil {
			return err
		}
	}
	r.waiting = nil
	return nil
}

func (r *reader) show(c call) error {
	if c.Name == "present_files" {
		c.Files = presented(c.Args)
	}
	c.Name, c.Args, c.Result = inert.Line(c.Name), cut(c.Args), cut(c.Result)
	return r.call(c)
}

func (r *reader) end() error {
	if err := r.unanswered(); err != nil {
		return err
	}
	return r.shown.end()
}

// cut bounds a text, and says how much of it is missing.
func cut(s string) string {
	if len(s) <= maxShown {
		return inert.Text(s)
	}
	end := maxShown
	for end > 0 && s[end]&0xc0 == 0x80 { // within a character
		end--
	}
	return fmt.Sprintf("%s\n[%d more bytes are left out]", inert.Text(s[:end]), len(s)-end)
}

// maxFiles bounds the files that are named of one message.
const maxFiles = 100

// uploads are the paths of the files that a message came with, as its client says.
func uploads(raw json.RawMessage) (paths []string) {
	if len(raw) == 0 || !json.Valid(raw) {
		return nil
	}
	entries, _ := rawjson.Elements(raw)
	for _, e := range entries[:min(len(entries), maxFiles)] {
		fields, _ := rawjson.Members(e)
		name, _ := rawjson.String(fields["path"])
		if name == "" {
			name, _ = rawjson.String(fields["filename"])
		}
		if name != "" {
			paths = append(paths, inert.Line(name))
		}
	}
	return paths
}

// presented are the paths of the files that the agent hands over by a call.
func presented(args string) (paths []string) {
	var in struct {
		Paths []string `json:"filepaths"`
	}
	if json.Unmarshal([]byte(args), &in) != nil {
		return nil
	}
	for _, p := range in.Paths[:min(len(in.Paths), maxFiles)] {
		paths = append(paths, inert.Line(p))
	}
	return paths
}

// titleOf is a title on one line.
func titleOf(a About) string {
	if t := inert.Line(a.Title); t != "" {
		return t
	}
	return "Thread " + a.ID
}

// timeOf is a time as a transcript writes it; empty if it is not known.
func timeOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

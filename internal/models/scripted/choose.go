package scripted

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/lib/untrusted"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// maxText bounds what a template may produce, in bytes.
const maxText = 8 << 20

// view is what a script sees of the conversation.
type view struct {
	// User is the text of what the user said last, also in a hidden answer to a question.
	User string
	// ToolResults are the texts of the tool messages after it, in order, and LastToolResult the last of them.
	ToolResults    []string
	LastToolResult string
	// AllText is all messages, one after the other.
	AllText string
	// System is the system prompt.
	System string

	turn int // AI messages after what the user said last
}

func newView(msgs []message.Message) *view {
	v := &view{}
	var all strings.Builder
	for i := range msgs {
		m := &msgs[i]
		text := m.Text()
		all.WriteString(text)
		all.WriteByte('\n')
		switch {
		case conversation.IsUser(*m):
			v.User, v.ToolResults, v.LastToolResult, v.turn = untrusted.Said(conversation.OwnText(*m)), nil, "", 0
		case m.Role == message.Tool:
			v.ToolResults, v.LastToolResult = append(v.ToolResults, text), text
		case m.Role == message.AI:
			v.turn++
		}
	}
	v.AllText = all.String()
	return v
}

// turn chooses the answer to a request and fills in its templates.
func (s *script) turn(req *model.Request) (Turn, error) {
	v := newView(req.Messages)
	v.System = req.System
	d, n := s.dialogue(v.User)
	if d == nil {
		return Turn{}, fmt.Errorf("no dialogue of the script matches %.100q; add one without match", v.User)
	}
	t := d.Turns[min(v.turn, len(d.Turns)-1)]
	if req.Settings.NoTools {
		t = d.last()
	} else if v.turn >= len(d.Turns) && len(t.ToolCalls) > 0 {
		return Turn{}, fmt.Errorf("dialogue %d of the script has %d turns and the conversation needs turn %d; add "+
			"it, or end the dialogue with a turn without tool calls", n, len(d.Turns), v.turn+1)
	}
	return t.render(v)
}

func (s *script) dialogue(user string) (*dialogue, int) {
	for i := range s.Dialogues {
		d := &s.Dialogues[i]
		if d.Match == nil || d.Match.MatchString(user) {
			return d, i + 1
		}
	}
	return nil, 0
}

// last is the answer when tools are forbidden: the final text, else the last turn without its calls.
func (d *dialogue) last() turn {
	t := d.Turns[len(d.Turns)-1]
	t.ToolCalls = nil
	if d.Final != nil {
		return turn{Text: *d.Final, Delay: t.Delay, ChunkDelay: t.ChunkDelay, ChunkSize: t.ChunkSize}
	}
	return t
}

func (t *turn) render(v *view) (out Turn, err error) {
	out = Turn{Delay: t.Delay, ChunkDelay: t.ChunkDelay, ChunkSize: t.ChunkSize, Usage: t.Usage.counts(),
		FinishReason: t.FinishReason}
	if f := t.Error; f != nil {
		out.Error = &Error{Class: model.Class(f.Class), Status: f.Status, Code: f.Code, Message: f.Message,
			RetryAfter: f.RetryAfter}
	}
	if out.Text, err = t.Text.render(v); err != nil {
		return Turn{}, err
	}
	if out.Reasoning, err = t.Reasoning.render(v); err != nil {
		return Turn{}, err
	}
	for _, c := range t.ToolCalls {
		args, err := c.Args.render(v)
		if err != nil {
			return Turn{}, err
		}
		out.ToolCalls = append(out.ToolCalls, Call{Name: c.Name, Args: args})
	}
	return out, nil
}

// render runs the template.
func (t *text) render(v *view) (string, error) {
	if t.tmpl == nil {
		return "", nil
	}
	var b bounded
	if err := t.tmpl.Execute(&b, v); err != nil {
		return "", fmt.Errorf("script, line %d: %w", t.line, err)
	}
	return b.String(), nil
}

// bounded is a builder that stops a template that produces too much.
type bounded struct{ strings.Builder }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxText {
		return 0, errors.New("the template produces more than 8 MiB")
	}
	return b.Builder.Write(p)
}

// functions are what templates may call besides the built-in ones.
func functions() template.FuncMap {
	return template.FuncMap{"firstLine": firstLine, "match": match}
}

// firstLine is the first line of a text that is not blank, without its spaces.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// match is the first group of the first match, else the whole match, else "".
func match(expr, s string) (string, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return "", err
	}
	found := re.FindStringSubmatch(s)
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0], nil
	}
	return found[1], nil
}

package history

import (
	"slices"

	"github.com/pudu-ai/pudu/message"
)

// sequence sees to it that everybody speaks behind somebody whom he may follow. The messages are clean and paired.
func (r *Rules) sequence(in []message.Message) []message.Message {
	out := make([]message.Message, 0, len(in)+2)
	for len(in) > 0 {
		n := r.run(in)
		out = append(r.bridge(out, in[0].Role), joined(in[:n]))
		in = in[n:]
	}
	return r.end(out)
}

// run is how many messages at the start become one.
func (r *Rules) run(in []message.Message) int {
	n := 1
	for r.Alternate && in[0].Role == message.Human && n < len(in) && in[n].Role == message.Human {
		n++
	}
	return n
}

// bridge appends what must stand between the messages so far and one of role next.
func (r *Rules) bridge(out []message.Message, next message.Role) []message.Message {
	before := message.System
	if len(out) > 0 {
		before = out[len(out)-1].Role
	}
	switch {
	case next == message.AI && r.UserFirst && before == message.System && onlySystem(out):
		return append(out, message.New(message.Human, sayBeginning))
	case next == message.AI && r.Alternate && before == message.AI:
		return append(out, message.New(message.Human, sayContinue))
	case next == message.Human && r.AnswerResults && before == message.Tool:
		return append(out, message.New(message.AI, sayRead))
	}
	return out
}

func onlySystem(msgs []message.Message) bool {
	return !slices.ContainsFunc(msgs, func(m message.Message) bool { return m.Role != message.System })
}

// end makes the list one that asks for an answer.
func (r *Rules) end(out []message.Message) []message.Message {
	if !r.NoPrefill {
		return out
	}
	for n := len(out); n > 0 && out[n-1].Role == message.AI && !hasContent(out[n-1].Content); n-- {
		out = out[:n-1]
	}
	if n := len(out); n == 0 || out[n-1].Role == message.AI || out[n-1].Role == message.System {
		out = append(out, message.New(message.Human, sayContinue))
	}
	return out
}

// joined is one message of several users' messages: their parts in a row, texts that meet with an empty line between.
func joined(msgs []message.Message) message.Message {
	m := msgs[0]
	if len(msgs) == 1 {
		return m
	}
	var j joiner
	for i := range msgs {
		if msgs[i].Name != m.Name {
			m.Name = ""
		}
		j.add(msgs[i].Content)
	}
	m.Content, m.List = j.done(), true
	return m
}

// joiner collects parts. The text of the last one is kept as bytes, so that many short messages cost what they are
// long.
type joiner struct {
	parts []message.Part
	text  []byte
	grown bool // the last part's text is in text
}

func (j *joiner) add(parts []message.Part) {
	for i, p := range parts {
		if n := len(j.parts); i == 0 && n > 0 && plain(&j.parts[n-1]) && plain(&p) {
			if !j.grown {
				j.text, j.grown = append(j.text[:0], j.parts[n-1].Text...), true
			}
			j.text = append(append(j.text, "\n\n"...), p.Text...)
			continue
		}
		j.done()
		j.parts = append(j.parts, p)
	}
}

// done writes the text of the last part and returns all parts.
func (j *joiner) done() []message.Part {
	if j.grown {
		j.parts[len(j.parts)-1].Text, j.grown = string(j.text), false
	}
	return j.parts
}

func plain(p *message.Part) bool { return p.Type == message.PartText && len(p.Extra) == 0 }

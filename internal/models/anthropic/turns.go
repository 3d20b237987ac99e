package anthropic

import (
	"slices"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// writer writes one request body.
type writer struct {
	model      *Model
	noThinking bool // thinking is off: blocks of earlier thinking stay here
	buf        []byte
	head       int // the closing brace of the last system block, else of the last tool, else 0
	turns      []turn
}

// turn is a message of the wire.
type turn struct {
	user bool
	mark int // the closing brace of its last block that can carry a cache mark; 0 if there is none
}

// messages writes the conversation. The API wants users and assistants to take turns and no empty blocks: neighbours of
// one side become one message, and a message without content is left out. It wants the results of a turn's calls before
// anything else that stands behind them.
func (w *writer) messages(msgs []message.Message) error {
	w.buf = append(w.buf, `,"messages":[`...)
	for len(msgs) > 0 {
		n := 0
		for n < len(msgs) && !w.speaks(&msgs[n]) {
			n++
		}
		if err := w.users(msgs[:n]); err != nil {
			return err
		}
		if n < len(msgs) {
			w.assistant(&msgs[n])
			n++
		}
		msgs = msgs[n:]
	}
	if len(w.turns) > 0 {
		w.buf = append(w.buf, `]}`...)
	}
	w.buf = append(w.buf, ']')
	return nil
}

// users writes what stands between two answers: results first.
func (w *writer) users(msgs []message.Message) error {
	for i := range msgs {
		if msgs[i].Role != message.Tool {
			continue
		}
		if err := w.result(&msgs[i]); err != nil {
			return err
		}
	}
	for i := range msgs {
		if r := msgs[i].Role; r != message.Human && r != message.System {
			continue
		}
		if err := w.parts(msgs[i].Content); err != nil {
			return err
		}
	}
	return nil
}

// begin makes room for a block: in the last message if it is of the same side, else in a new one.
func (w *writer) begin(user bool) {
	n := len(w.turns)
	if n > 0 && w.turns[n-1].user == user {
		w.buf = append(w.buf, ',')
		return
	}
	if n > 0 {
		w.buf = append(w.buf, `]},`...)
	}
	w.turns = append(w.turns, turn{user: user})
	w.buf = append(w.buf, `{"role":`...)
	w.buf = append(w.buf, pick(user, `"user"`, `"assistant"`)...)
	w.buf = append(w.buf, `,"content":[`...)
}

// marked notes that the block just written can carry a cache mark. Thinking cannot.
func (w *writer) marked() { w.turns[len(w.turns)-1].mark = len(w.buf) - 1 }

// member writes a further member of an object.
func (w *writer) member(name, value string) {
	w.buf = append(w.buf, `,"`...)
	w.buf = append(w.buf, name...)
	w.buf = rawjson.AppendString(append(w.buf, `":`...), value)
}

// speaks reports whether a message is an answer with something to send.
func (w *writer) speaks(msg *message.Message) bool {
	if msg.Role != message.AI {
		return false
	}
	ours := w.model.client.Made(msg)
	return len(msg.ToolCalls) > 0 || slices.ContainsFunc(msg.Content, func(p message.Part) bool {
		return p.Type == message.PartText && !blank(p.Text) || w.sendsThinking(&p, ours)
	})
}

// sendsThinking reports whether a part is thinking that goes back: this provider's own, with its proof, byte for byte
// and in its place, older turns' too. While thinking is off none does. The API says that the turn under way must then
// have none and ignores that of older turns, and a change of the switch makes its cache of the messages void anyway.
func (w *writer) sendsThinking(p *message.Part, ours bool) bool {
	return p.Type == message.PartReasoning && ours && !w.noThinking && (p.Signature != "" || p.Redacted != "")
}

// begunWithout reports whether the turn under way (all answers and results since the user last spoke) began without
// thinking, because another provider or another setting was in use. With a budget the API demands that a turn begins
// with thinking, and cannot start in its middle: such a turn is finished without. Adaptive models demand nothing.
func (m *Model) begunWithout(msgs []message.Message) bool {
	first := -1
	asked, answered := false, false // what stands behind the answer: words, results
	for i := range slices.Backward(msgs) {
		switch msgs[i].Role {
		case message.Human, message.System:
			asked = true
		case message.Tool:
			answered = true
		case message.AI:
			if asked && !answered {
				return first >= 0 && !m.thought(&msgs[first])
			}
			first, asked, answered = i, false, false
		}
	}
	return first >= 0 && !m.thought(&msgs[first])
}

// thought reports whether an answer of this provider has thinking, be it without a proof: only servers that do not
// check proofs leave them out.
func (m *Model) thought(msg *message.Message) bool {
	return m.client.Made(msg) && slices.ContainsFunc(msg.Content, func(p message.Part) bool {
		return p.Type == message.PartReasoning
	})
}

// Package compaction says which part of a long conversation a model still sees. The conversation in the state is never
// cut: people, the API and the store keep all of it. A private channel holds the [Compaction] that was made last, and
// [Project] turns the whole conversation into what is sent:
//
//	[durable block] [rescued messages] [everything behind the cut]
//
// The durable block is one hidden message with what must outlive the cut: the summary, the tasks given to sub-agents,
// the skills that were read. It is frozen in the compaction. So nothing of a projection changes until the next
// compaction: messages are only added at its end, and a provider's cache of the request holds.
//
// Whoever compacts lives in the middleware summarization; the middleware durablecontext projects. A feature that asks
// whether the model can still see a message asks [InSight].
package compaction

import (
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Channel holds the last compaction.
var Channel = state.LastValue[Compaction]("compaction").AsPrivate()

// Compaction says what of the conversation is sent. The zero value sends all of it.
type Compaction struct {
	// Upto is the id of the last message that the model no longer sees; it sees what follows. Empty: nothing is cut. An
	// id that the conversation no longer has cuts nothing either.
	Upto string `json:"upto,omitempty"`
	// Summarized is the id of the last message that the summary covers. It is before Upto when something had to be cut
	// while no summary could be had; the next summary makes up for it.
	Summarized string `json:"summarized,omitempty"`
	// Block is the text of the durable block; empty: there is none.
	Block string `json:"block,omitempty"`
	// Rescued are ids of messages before the cut that are sent nevertheless, in their order: the user's last
	// request, and reminders that hold on.
	Rescued []string `json:"rescued,omitempty"`
	// Shortened are the messages that are sent with a part of their text.
	Shortened []Short `json:"shortened,omitempty"`
	// Tokens and Messages are how large the projection was right after the last attempt to make it smaller. The next
	// attempt waits until it has grown from there.
	Tokens   int `json:"tokens,omitempty"`
	Messages int `json:"messages,omitempty"`
	// Number counts the compactions of the thread.
	Number int `json:"number,omitempty"`
}

// Short says how the text of a message is shortened: to its beginning and its end, with a note between them.
type Short struct {
	ID string `json:"id"`
	// Keep is how many characters stay, two thirds of them at the beginning. A text that is not longer stays as it is.
	Keep int    `json:"keep"`
	Note string `json:"note"`
	// TextOnly drops images and other parts that are no text, and the marks for which wrappers would add such parts.
	TextOnly bool `json:"text_only,omitempty"`
}

// Start is the index of the first message behind the cut, 0 if nothing is cut. msgs is the conversation of the state.
func (c *Compaction) Start(msgs []message.Message) int {
	if c.Upto == "" {
		return 0
	}
	return index(msgs, c.Upto) + 1
}

// Visible returns the messages behind the cut. msgs is the conversation of the state.
func (c *Compaction) Visible(msgs []message.Message) []message.Message { return msgs[c.Start(msgs):] }

// InSight returns the messages of a state that the model still sees, at the end of its conversation, which is msgs.
func InSight(s state.State, msgs []message.Message) []message.Message {
	at := Channel.Get(s)
	return at.Visible(msgs)
}

// index finds a message from the end, where what is looked for mostly is; -1 if there is none.
func index(msgs []message.Message, id string) int {
	if id == "" {
		return -1
	}
	for i := range slices.Backward(msgs) {
		if msgs[i].ID == id {
			return i
		}
	}
	return -1
}

// Of returns the message as it is sent.
func (s Short) Of(m message.Message) message.Message {
	text := m.Text()
	cut := Cut(text, s.Keep, s.Note)
	if s.TextOnly {
		return s.textOnly(m, text, cut)
	}
	if cut == text {
		return m
	}
	content := []message.Part{message.Text(cut)}
	for _, p := range m.Content {
		if p.Type != message.PartText {
			content = append(content, p)
		}
	}
	m.Content = content
	return m
}

func (s Short) textOnly(m message.Message, text, cut string) message.Message {
	if cut == text && !strings.HasSuffix(text, s.Note) {
		cut = strings.TrimSpace(text + "\n" + s.Note)
	}
	m.Content = []message.Part{message.Text(cut)}
	hidden := m.Kwargs[message.KeyHidden]
	if m.Kwargs = nil; hidden != nil {
		m.Kwargs = message.Fields{message.KeyHidden: hidden}
	}
	return m
}

// Cut shortens a text to keep characters, two thirds of them from its beginning, with the note on a line of its own
// between them. A text that is not longer is returned as it is.
func Cut(text string, keep int, note string) string {
	if len(text) <= keep {
		return text
	}
	tail := keep / 3
	head := forward(text, keep-tail)
	end := backward(text, tail)
	if head >= end {
		return text
	}
	return text[:head] + "\n" + note + "\n" + text[end:]
}

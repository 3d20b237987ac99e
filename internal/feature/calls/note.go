package calls

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
)

// Bounds of the messages that a record has itself: of one, and of all, in bytes. Of larger ones the beginning is kept.
const (
	maxOwn     = 256 << 10
	maxOwnAll  = 512 << 10
	maxExcerpt = 1000
)

// Asked is what a model was given.
type Asked struct {
	// Model is its configured name, Provider its own.
	Model, Provider string
	Request         *model.Request
	// State is what the request was made of, Messages the conversation in it, and Usual what [conversation.AppendSent]
	// makes of that; nil if nobody has asked it.
	State           state.State
	Messages, Usual []message.Message
}

// Notes notes the calls of one attempt of a run, one after the other. What it remembers saves work and bytes, and
// nothing is lost with it.
type Notes struct {
	keep  func(context.Context, frame) string
	frame frame // of the last call
	named string

	inlined map[string]bool // messages that a record has, by their names
	last    []message.Message
	sum     summer // over last
}

// Note returns what the log is to keep of a call.
func (n *Notes) Note(ctx context.Context, a *Asked) json.RawMessage {
	msgs := a.Request.Messages
	d := difference{frame: n.name(ctx, a), count: len(msgs), sum: n.sumOf(msgs)}
	from := a.Messages
	if d.plain = a.Usual == nil; !d.plain {
		from = project(a.State, a.Messages, a.Usual)
	}
	if !one(msgs, from) {
		d.pieces = diff(msgs, from)
		n.fill(d.pieces, msgs)
	}
	return d.append(nil)
}

// project is the conversation of a state as it is usually sent.
func project(s state.State, msgs, usual []message.Message) []message.Message {
	c := compaction.Channel.Get(s)
	return compaction.Project(&c, msgs, usual)
}

// one reports whether two lists are the same memory, which nobody changes.
func one(a, b []message.Message) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// name is that of the call's frame.
func (n *Notes) name(ctx context.Context, a *Asked) string {
	f := frame{Model: a.Model, Provider: a.Provider, System: a.Request.System, Settings: a.Request.Settings,
		Tools: a.Request.Tools}
	if n.named == "" || !f.same(&n.frame) {
		n.frame, n.named = f, n.keep(ctx, f)
	}
	return n.named
}

// same reports whether two frames of a run are one.
func (f *frame) same(g *frame) bool {
	return f.Model == g.Model && f.Provider == g.Provider && f.System == g.System && f.Settings == g.Settings &&
		len(f.Tools) == len(g.Tools) &&
		(len(f.Tools) == 0 || &f.Tools[0] == &g.Tools[0])
}

// sumOf is the sum over a request's messages. Of one that has grown only what is new is read.
func (n *Notes) sumOf(msgs []message.Message) string {
	from := len(n.last)
	same := func(a, b message.Message) bool { return conversation.Same(&a, &b) }
	if from > len(msgs) || !one(n.last, msgs[:from]) && !slices.EqualFunc(n.last, msgs[:from], same) {
		from = 0
	}
	if from == 0 {
		n.sum.sum.Reset()
	}
	for i := from; i < len(msgs); i++ {
		n.sum.add(&msgs[i])
	}
	n.last = msgs
	return n.sum.text()
}

// diff says which messages of the base a request is made of. The pieces of those that it does not have are empty, and
// from is where in the request they stand. nil is all of the base.
func diff(req, base []message.Message) []piece {
	pieces, next := []piece{}, 0
	var at map[string]int // the base, by id
	for i := range req {
		m := &req[i]
		if next >= len(base) || !equal(m, &base[next]) {
			if at == nil {
				at = make(map[string]int, len(base))
				for j := range base {
					at[base[j].ID] = j
				}
			}
			j, ok := at[m.ID]
			if !ok || !equal(m, &base[j]) {
				pieces = append(pieces, piece{from: i})
				continue
			}
			next = j
		}
		if last := len(pieces) - 1; last >= 0 && pieces[last].n > 0 && pieces[last].from+pieces[last].n == next {
			pieces[last].n++
		} else {
			pieces = append(pieces, piece{from: next, n: 1})
		}
		next++
	}
	if len(pieces) == 1 && pieces[0].from == 0 && pieces[0].n == len(base) {
		return nil
	}
	return pieces
}

// fill gives the messages that the base does not have to their pieces: each to the first that has it.
func (n *Notes) fill(pieces []piece, msgs []message.Message) {
	left := maxOwnAll
	for i := range pieces {
		p := &pieces[i]
		if p.n > 0 {
			continue
		}
		raw := ownForm(&msgs[p.from], min(maxOwn, left))
		if name := nameOf(raw); n.inlined[name] {
			p.named = name
		} else {
			p.own, n.inlined[name] = raw, true
			left = max(left-len(raw), 0)
		}
	}
}

// ownForm is a message as a record has it, of at most so many bytes.
func ownForm(m *message.Message, most int) json.RawMessage {
	kept := *m
	kept.Content = slices.Clone(m.Content)
	for i := range kept.Content {
		kept.Content[i].URL = marked(kept.Content[i].URL)
	}
	raw, err := kept.AppendJSON(nil)
	if err == nil && len(raw) <= most {
		return raw
	}
	text := m.Text()
	text = text[:min(len(text), maxExcerpt)]
	short := message.New(m.Role, fmt.Sprintf("%s\n[%d bytes of this message are not kept]", text, len(raw)-len(text)))
	short.ID, short.Name, short.ToolCallID = m.ID, m.Name, m.ToolCallID
	raw, _ = short.AppendJSON(nil) // texts can be encoded
	return raw
}

package calls

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

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
	// State is what the request was made of, and Messages the conversation in it.
	State    state.State
	Messages []message.Message
}

// Notes notes the calls of one attempt of a run, one after the other. What it remembers saves work and bytes, and nothing is
// lost with it.
type Notes struct {
	keep func(context.Context, frame) string
	memo conversation.Memo

	frame frame // of the last call
	named string

	inlined map[string]bool // messages that a record has, by their names
	last    []message.Message
	sum     xxhash.Digest // over last
}

// Note returns what the log is to keep of a call.
func (n *Notes) Note(ctx context.Context, a *Asked) json.RawMessage {
	msgs := a.Request.Messages
	d := difference{frame: n.name(ctx, a), count: len(msgs), sum: n.sumOf(msgs)}
	usual := base(a.State, a.Messages, &n.memo)
	var foreign int
	d.pieces, foreign = diff(msgs, usual)
	if foreign > 0 {
		if pieces, fewer := diff(msgs, a.Messages); fewer < foreign {
			d.plain, d.pieces, usual = true, pieces, a.Messages
		}
	}
	if len(d.pieces) == 1 && d.pieces[0].from == 0 && d.pieces[0].n == len(usual) {
		d.pieces = nil
	}
	n.fill(d.pieces, msgs)
	return d.append(nil)
}

// base is the conversation of a state as it is usually sent. memo may be nil.
func base(s state.State, msgs []message.Message, memo *conversation.Memo) []message.Message {
	sent := memo.Map(msgs, conversation.AppendSent)
	c := compaction.Channel.Get(s)
	return compaction.Project(&c, msgs, sent)
}

// name is that of the call's frame.
func (n *Notes) name(ctx context.Context, a *Asked) string {
	f := frame{Model: a.Model, Provider: a.Provider, System: a.Request.System, Settings: a.Request.Settings, Tools: a.Request.Tools}
	if n.named == "" || !f.same(&n.frame) {
		n.frame, n.named = f, n.keep(ctx, f)
	}
	return n.named
}

// same reports whether two frames of a run are one.
func (f *frame) same(g *frame) bool {
	return f.Model == g.Model && f.Provider == g.Provider && f.System == g.System && f.Settings == g.Settings && len(f.Tools) == len(g.Tools) &&
		(len(f.Tools) == 0 || &f.Tools[0] == &g.Tools[0])
}

// sumOf is the sum over a request's messages. Of one that has grown only what is new is read.
func (n *Notes) sumOf(msgs []message.Message) string {
	from := len(n.last)
	if from > len(msgs) || !slices.EqualFunc(n.last, msgs[:from], func(a, b message.Message) bool { return conversation.Same(&a, &b) }) {
		from = 0
	}
	if from == 0 {
		n.sum.Reset()
	}
	for i := from; i < len(msgs); i++ {
		sum(&n.sum, &msgs[i])
	}
	n.last = msgs
	return sumText(&n.sum)
}

func sumText(h *xxhash.Digest) string { return strconv.FormatUint(h.Sum64(), 36) }

// sumOf is the sum over messages.
func sumOf(msgs []message.Message) string {
	h := xxhash.New()
	for i := range msgs {
		sum(h, &msgs[i])
	}
	return sumText(h)
}

// diff says which messages of the base a request is made of. foreign counts those that it does not have: their pieces are
// empty, and from is where in the request they stand.
func diff(req, base []message.Message) (pieces []piece, foreign int) {
	next := 0
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
				foreign++
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
	if pieces == nil {
		pieces = []piece{}
	}
	return pieces, foreign
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

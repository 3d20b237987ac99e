package anthropic

import (
	"cmp"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// KeyCallPositions is the key of additional_kwargs that tells where an answer's calls stood between its parts, as
// {"toolu_1": [1, 0]}: before part 1, or [0, 12]: in the text of part 0, after 12 bytes. A call that is not named
// stands behind all parts, so that an answer of parts and then calls, which nearly all are, has no such key.
const KeyCallPositions = "pudu_call_positions"

// place is a place between the parts of an answer, or within one.
type place struct {
	part, offset int
}

func (p place) before(q place) bool {
	return cmp.Or(cmp.Compare(p.part, q.part), cmp.Compare(p.offset, q.offset)) < 0
}

// layout follows how [message.Builder] makes parts of an answer, and notes where the calls stand between them.
type layout struct {
	parts int
	last  message.PartType
	grows bool // the last part may still grow
	size  int  // of the last part's text, in bytes
	ids   []string
	calls []place
}

// add notes what a chunk brings, in the builder's order. Call it for each chunk before it is joined with others.
func (l *layout) add(c *message.Chunk) {
	if c.Reasoning != "" {
		l.grow(message.PartReasoning, len(c.Reasoning))
	}
	if c.Signature != "" {
		l.grow(message.PartReasoning, 0)
		l.grows = false
	}
	if c.Redacted != "" {
		l.parts, l.last, l.grows, l.size = l.parts+1, message.PartReasoning, false, 0
	}
	if c.Text != "" {
		l.grow(message.PartText, len(c.Text))
	}
	for i := range c.ToolCalls {
		if c.ToolCalls[i].Index == len(l.calls) {
			l.ids, l.calls = append(l.ids, c.ToolCalls[i].ID), append(l.calls, l.end())
		}
	}
}

func (l *layout) grow(t message.PartType, n int) {
	if l.parts == 0 || l.last != t || !l.grows {
		l.parts, l.last, l.grows, l.size = l.parts+1, t, true, 0
	}
	l.size += n
}

// end is the place behind everything so far.
func (l *layout) end() place {
	if l.grows {
		return place{l.parts - 1, l.size}
	}
	return place{part: l.parts}
}

// kwargs names the calls that do not stand at the end; nil if all do.
func (l *layout) kwargs() message.Fields {
	o, found := rawjson.Begin(nil), false
	for i, at := range l.calls {
		if !at.before(l.end()) {
			break
		}
		o.Key(l.ids[i])
		o.Buf = append(append(append(o.Buf, '['), number(at.part)...), ',')
		o.Buf = append(append(o.Buf, number(at.offset)...), ']')
		found = true
	}
	raw, err := o.End()
	if !found || err != nil {
		return nil
	}
	return message.Fields{KeyCallPositions: raw}
}

// placedCall is a call with its place. Arguments that are not valid are no JSON object.
type placedCall struct {
	place
	id, name, args string
}

// callsInOrder are the calls of an answer, sorted by their places.
func callsInOrder(msg *message.Message) []placedCall {
	places := positions(msg)
	calls := make([]placedCall, 0, len(msg.ToolCalls))
	for _, c := range msg.ToolCalls {
		at, ok := places[c.ID]
		if !ok || at.part > len(msg.Content) {
			at = place{part: len(msg.Content)}
		}
		calls = append(calls, placedCall{at, c.ID, c.Name, cmp.Or(string(c.Args), "{}")})
	}
	slices.SortStableFunc(calls, func(a, b placedCall) int {
		return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.offset, b.offset))
	})
	return calls
}

// positions reads [KeyCallPositions]; what is not understood is left out.
func positions(msg *message.Message) map[string]place {
	raw, ok := msg.Kwargs[KeyCallPositions]
	if !ok {
		return nil
	}
	var list map[string][2]int
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	out := make(map[string]place, len(list))
	for id, at := range list {
		if at[0] >= 0 && at[1] >= 0 {
			out[id] = place{at[0], at[1]}
		}
	}
	return out
}

// textPlace is the offset, or the nearest place before it where a character begins, should the text have changed since.
func textPlace(text string, offset int) int {
	if offset >= len(text) {
		return len(text)
	}
	for offset > 0 && !utf8.RuneStart(text[offset]) {
		offset--
	}
	return offset
}

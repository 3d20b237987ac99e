package danglingtoolcall

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/pudu-ai/pudu/message"
)

// unknownTool stands for a name that the model left out.
const unknownTool = "unknown_tool"

// keyRawCalls is the additional_kwargs key with a provider's own copy of the calls.
const keyRawCalls = "tool_calls"

// turn is an AI message with calls, and the results found for them.
type turn struct {
	calls   []call
	results []message.Message
	noID    []message.Message // results that do not say which call they answer
}

type call struct {
	message.ToolCall
	was      string // the id in the history; may be blank or repeated
	problem  string // why the call could not be run, if that is known
	answered bool
}

// slot is one message of the repaired history; the results of its turn, if it has one, follow it.
type slot struct {
	msg  message.Message
	turn *turn
}

// repair returns the history in valid form. What is sound keeps its bytes and its order, so that the start of a
// growing history stays the same and with it the provider's cache.
func repair(msgs []message.Message) []message.Message {
	slots := make([]slot, 0, len(msgs))
	var turns []*turn
	for i, m := range msgs {
		switch m.Role {
		case message.Tool:
			file(turns, m)
			continue
		case message.AI:
			if t := takeCalls(&m, i); t != nil {
				turns = append(turns, t)
				slots = append(slots, slot{m, t})
				continue
			}
		}
		slots = append(slots, slot{msg: m})
	}
	out := make([]message.Message, 0, len(msgs))
	for _, s := range slots {
		out = append(out, s.msg)
		if s.turn != nil {
			out = append(out, s.turn.settle()...)
		}
	}
	return out
}

// takeCalls makes m's calls sound in a copy and returns them as a turn; nil if m asks for nothing. position is m's
// place in the history, for messages without an id.
func takeCalls(m *message.Message, position int) *turn {
	t := &turn{}
	for _, c := range m.ToolCalls {
		nc := call{ToolCall: c, was: c.ID}
		if !isObject(c.Args) {
			nc.Args = json.RawMessage("{}")
		}
		t.calls = append(t.calls, nc)
	}
	for _, c := range m.InvalidToolCalls {
		tc := message.ToolCall{ID: c.ID, Name: c.Name, Args: json.RawMessage("{}"), Extra: c.Extra}
		t.calls = append(t.calls, call{ToolCall: tc, was: c.ID, problem: describe(c.Error)})
	}
	if len(t.calls) == 0 {
		if t.calls = rawCalls(m); len(t.calls) > 0 {
			m.Kwargs = maps.Clone(m.Kwargs)
			delete(m.Kwargs, keyRawCalls)
		}
	}
	if len(t.calls) == 0 {
		return nil
	}
	t.name(m.ID, position)
	m.ToolCalls, m.InvalidToolCalls = make([]message.ToolCall, len(t.calls)), nil
	for i, c := range t.calls {
		m.ToolCalls[i] = c.ToolCall
	}
	return t
}

// name fills blank names and gives blank and repeated ids a value that every request derives anew.
func (t *turn) name(messageID string, position int) {
	if messageID == "" {
		messageID = strconv.Itoa(position)
	}
	seen := make(map[string]bool, len(t.calls))
	for i := range t.calls {
		c := &t.calls[i]
		if blank(c.Name) {
			c.Name = unknownTool
			c.problem = "the call named no tool"
		}
		if blank(c.ID) || seen[c.ID] {
			sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", messageID, i))
			c.ID = "call_" + hex.EncodeToString(sum[:12])
		}
		seen[c.ID] = true
	}
}

// file gives a result to the call that it answers: the first open one of its id in the newest turn that has one, for
// ids may repeat from turn to turn. A result without an id waits in the newest turn; one without a call is dropped.
func file(turns []*turn, m message.Message) {
	if len(turns) == 0 {
		return
	}
	if blank(m.ToolCallID) {
		last := turns[len(turns)-1]
		last.noID = append(last.noID, m)
		return
	}
	for _, t := range slices.Backward(turns) {
		for j := range t.calls {
			if c := &t.calls[j]; c.was == m.ToolCallID && !c.answered {
				t.answer(c, m)
				return
			}
		}
	}
}

func (t *turn) answer(c *call, m message.Message) {
	c.answered = true
	m.ToolCallID = c.ID
	if blank(m.Name) {
		m.Name = c.Name
	}
	t.results = append(t.results, m)
}

// settle returns the results of all calls of the turn, an error standing in for each that has none.
func (t *turn) settle() []message.Message {
	t.adopt()
	for i := range t.calls {
		if c := &t.calls[i]; !c.answered {
			t.answer(c, missing(c))
		}
	}
	return t.results
}

// adopt gives results without an id to calls, but only where the choice is forced: one result and one open call of a
// name, or as many results as open calls, whose names then must agree in order.
func (t *turn) adopt() {
	if len(t.noID) == 0 {
		return
	}
	byName, results := make(map[string][]*call), make(map[string]int)
	for _, c := range t.open() {
		byName[c.Name] = append(byName[c.Name], c)
	}
	for _, m := range t.noID {
		results[m.Name]++
	}
	var rest []message.Message
	for _, m := range t.noID {
		if cs := byName[m.Name]; len(cs) == 1 && results[m.Name] == 1 {
			t.answer(cs[0], m)
			continue
		}
		rest = append(rest, m)
	}
	open := t.open()
	if len(rest) != len(open) {
		return
	}
	for i, m := range rest {
		if !blank(m.Name) && m.Name != open[i].Name {
			return
		}
	}
	for i, m := range rest {
		t.answer(open[i], m)
	}
}

func (t *turn) open() []*call {
	var open []*call
	for i := range t.calls {
		if c := &t.calls[i]; !c.answered {
			open = append(open, c)
		}
	}
	return open
}

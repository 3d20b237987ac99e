package history

import (
	"bytes"
	"hash/maphash"

	"github.com/pudu-ai/pudu/message"
)

// check reports whether the messages are paired: each is by itself as the rules want it, and each answer is followed by
// its results; and, if so, whether they are in turn: each follows somebody whom he may follow. It is what most requests
// cost, so it is one pass that allocates nothing. What it says of ids that must be unique may be false for two that
// differ, once in 2^63: the repair then finds nothing to do.
func (r *Rules) check(msgs []message.Message) (paired, inTurn bool) {
	var before message.Role // whose message stands before; empty as long as only the system has spoken
	inTurn = true
	for i := 0; i < len(msgs); i++ {
		m := &msgs[i]
		if !r.stands(before, m.Role) || !r.Speakers.fits(m.Name) && m.Name != "" || !r.clean(m.Role, m.Content) {
			return false, false
		}
		if (m.Role != message.AI || len(m.ToolCalls) == 0) && !r.filled(m.Role, m.Content) {
			return false, false
		}
		inTurn = inTurn && r.follows(before, m.Role)
		if m.Role != message.System || before != "" {
			before = m.Role
		}
		if m.Role != message.AI {
			continue
		}
		n := len(m.ToolCalls)
		if len(m.InvalidToolCalls) > 0 || n > len(msgs)-i-1 || !r.answered(m.ToolCalls, msgs[i+1:]) {
			return false, false
		}
		if n > 0 {
			before = message.Tool
		}
		i += n
	}
	return !r.UniqueIDs || unique(msgs), inTurn && (!r.NoPrefill || before == message.Human || before == message.Tool)
}

// stands reports whether a message of that role may stand where it does, as far as its own role tells. Results are
// looked at with their answer: one that is met alone has none.
func (r *Rules) stands(before, role message.Role) bool {
	switch role {
	case message.System:
		return r.system() == SystemAnywhere || r.system() == SystemFirst && before == ""
	case message.Human, message.AI:
		return true
	}
	return false
}

// follows reports whether a message of role next may stand behind one of role before.
func (r *Rules) follows(before, next message.Role) bool {
	switch next {
	case message.Human:
		return (!r.AnswerResults || before != message.Tool) && (!r.Alternate || before != message.Human)
	case message.AI:
		return (!r.UserFirst || before != "") && (!r.Alternate || before != message.AI)
	}
	return true
}

// answered reports whether the calls are sound and the messages begin with their results, in order.
func (r *Rules) answered(calls []message.ToolCall, results []message.Message) bool {
	for i := range calls {
		c, res := &calls[i], &results[i]
		if blank(c.ID) || !r.IDs.fits(c.ID) || blank(c.Name) || !r.Tools.fits(c.Name) || !isObject(c.Args) {
			return false
		}
		if res.Role != message.Tool || res.ToolCallID != c.ID || res.Name != c.Name {
			return false
		}
		if !r.clean(message.Tool, res.Content) || !r.filled(message.Tool, res.Content) {
			return false
		}
	}
	return r.UniqueIDs || uniqueIn(calls)
}

// manyCalls is how many calls of one answer are compared each with each.
const manyCalls = 16

// uniqueIn reports whether no two calls of an answer share an id.
func uniqueIn(calls []message.ToolCall) bool {
	if len(calls) > manyCalls {
		return unique([]message.Message{{Role: message.AI, ToolCalls: calls}})
	}
	for i := range calls {
		for j := range i {
			if calls[i].ID == calls[j].ID {
				return false
			}
		}
	}
	return true
}

// isObject tells by its ends whether arguments, which are JSON by their contract, are an object. None at all are "{}".
func isObject(args []byte) bool {
	if len(args) == 0 {
		return true
	}
	if args[0] != '{' || args[len(args)-1] != '}' {
		args = bytes.TrimSpace(args)
	}
	return len(args) >= 2 && args[0] == '{' && args[len(args)-1] == '}'
}

var seed = maphash.MakeSeed()

// unique reports whether no two calls share an id: a table of hashes, on the stack for up to 512 calls.
func unique(msgs []message.Message) bool {
	var small [1024]uint64
	table, n := small[:], 0
	for i := range msgs {
		n += len(msgs[i].ToolCalls)
	}
	for len(table) < 2*n {
		table = make([]uint64, 2*len(table))
	}
	mask := uint64(len(table) - 1)
	for i := range msgs {
		calls := msgs[i].ToolCalls
		for j := range calls {
			h := maphash.String(seed, calls[j].ID) | 1 // 0 is a free place
			at := h >> 1 & mask
			for ; table[at] != 0; at = (at + 1) & mask {
				if table[at] == h {
					return false
				}
			}
			table[at] = h
		}
	}
	return true
}

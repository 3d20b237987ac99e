package danglingtoolcall

import (
	"bytes"
	"strings"

	"github.com/pudu-ai/pudu/message"
)

// valid reports whether nothing needs repair. It allocates nothing for messages of this program's own making.
func valid(msgs []message.Message) bool {
	for i := 0; i < len(msgs); i++ {
		m := &msgs[i]
		if m.Role == message.Tool { // results that belong to a call are skipped below
			return false
		}
		if m.Role != message.AI {
			continue
		}
		n := len(m.ToolCalls)
		if len(m.InvalidToolCalls) > 0 || n == 0 && len(rawCalls(m)) > 0 || i+n >= len(msgs) && n > 0 {
			return false
		}
		if !wellFormed(m.ToolCalls) || !answered(m.ToolCalls, msgs[i+1:i+1+n]) {
			return false
		}
		i += n
	}
	return true
}

// wellFormed reports whether each call has a name, arguments and an id of its own.
func wellFormed(calls []message.ToolCall) bool {
	for i, c := range calls {
		if blank(c.ID) || blank(c.Name) || !isObject(c.Args) {
			return false
		}
		for _, earlier := range calls[:i] {
			if earlier.ID == c.ID {
				return false
			}
		}
	}
	return true
}

// answered reports whether results, as many as calls, hold one named result for each call, in any order.
func answered(calls []message.ToolCall, results []message.Message) bool {
	for _, c := range calls {
		n := 0
		for i := range results {
			if r := &results[i]; r.Role == message.Tool && r.ToolCallID == c.ID && !blank(r.Name) {
				n++
			}
		}
		if n != 1 {
			return false
		}
	}
	return true
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// isObject tells by its ends whether args, which are JSON if they are not empty, are an object.
func isObject(args []byte) bool {
	args = bytes.TrimSpace(args)
	return len(args) >= 2 && args[0] == '{' && args[len(args)-1] == '}'
}

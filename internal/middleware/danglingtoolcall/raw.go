package danglingtoolcall

import (
	"encoding/json"

	"github.com/pudu-ai/pudu/message"
)

// rawCalls reads the calls of a message that has them only as the provider's own copy in additional_kwargs. It
// returns nil if the message has calls in proper form. Entries that are no objects are left out.
func rawCalls(m *message.Message) []call {
	raw := m.Kwargs[keyRawCalls]
	if len(raw) == 0 || len(m.ToolCalls)+len(m.InvalidToolCalls) > 0 {
		return nil
	}
	var entries []json.RawMessage
	if json.Unmarshal(raw, &entries) != nil {
		return nil
	}
	var calls []call
	for _, e := range entries {
		var rc struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		}
		if !isObject(e) || json.Unmarshal(e, &rc) != nil {
			continue
		}
		c := call{ToolCall: message.ToolCall{ID: rc.ID, Name: rc.Function.Name}, was: rc.ID}
		if c.Args = rawArgs(rc.Function.Arguments); c.Args == nil {
			c.Args, c.problem = json.RawMessage("{}"), describe("")
		}
		calls = append(calls, c)
	}
	return calls
}

// rawArgs returns arguments that are an object, or a string that holds one; else nil.
func rawArgs(raw json.RawMessage) json.RawMessage {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		raw = json.RawMessage(s)
	}
	if !isObject(raw) || !json.Valid(raw) {
		return nil
	}
	return raw
}

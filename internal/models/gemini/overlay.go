package gemini

import (
	"encoding/json"

	"github.com/pudu-ai/pudu/internal/rawjson"
	"github.com/pudu-ai/pudu/internal/wire"
	"github.com/pudu-ai/pudu/message"
)

// overlay merges further fields into f: objects member by member at any depth, anything else in place of what was there;
// null takes a field away.
func overlay(f message.Fields, over map[string]json.RawMessage) {
	for key, value := range over {
		if string(value) == "null" {
			delete(f, key)
			continue
		}
		f[key] = merged(f[key], value)
	}
}

// merged is over, or, if both values are objects, what both say. Its members are sorted, so that it is the same each
// time.
func merged(old, over json.RawMessage) json.RawMessage {
	members, ok := rawjson.Members(over)
	if !ok {
		return over
	}
	base, ok := rawjson.Members(old)
	if !ok {
		base = message.Fields{}
	}
	overlay(base, members)
	return append(wire.AppendFields([]byte{'{'}, base), '}')
}

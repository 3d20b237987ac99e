package responses

import (
	"encoding/json"
	"maps"

	"github.com/pudu-ai/pudu/internal/rawjson"
	"github.com/pudu-ai/pudu/internal/wire"
	"github.com/pudu-ai/pudu/message"
)

// overlay puts fields of the configuration over those of f: objects are merged, null takes a field away, and everything
// else replaces what was there, byte for byte.
func overlay(f message.Fields, over map[string]json.RawMessage) {
	for k, v := range over {
		old, isOld := rawjson.Members(f[k])
		add, isNew := rawjson.Members(v)
		switch {
		case string(v) == "null":
			delete(f, k)
		case isOld && isNew:
			overlay(old, add)
			f[k] = object(old)
		default:
			f[k] = v
		}
	}
}

// object writes fields in the order of their names.
func object(f message.Fields) json.RawMessage {
	return append(wire.AppendFields([]byte{'{'}, f), '}')
}

// translate turns reasoning_effort, by which chat completions and DeerFlow's configuration call it, into the effort of the
// field reasoning.
func translate(in map[string]json.RawMessage) map[string]json.RawMessage {
	effort, ok := in["reasoning_effort"]
	if !ok {
		return in
	}
	out := maps.Clone(in)
	delete(out, "reasoning_effort")
	f := message.Fields{"reasoning": object(message.Fields{"effort": effort})}
	overlay(f, out)
	return f
}

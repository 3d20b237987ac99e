package wire

import (
	"cmp"
	"slices"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// Next appends a comma, unless dst ends with an opening bracket: room for a further element or member.
func Next(dst []byte) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '{' && dst[n-1] != '[' {
		dst = append(dst, ',')
	}
	return dst
}

// AppendKey makes room for a member and appends its key with the colon.
func AppendKey(dst []byte, key string) []byte {
	return append(rawjson.AppendString(Next(dst), key), ':')
}

// AppendTool appends the members that tell a tool: its name, its description and, under the key schema, what arguments
// it takes.
func AppendTool(dst []byte, t *model.Tool, schema string) []byte {
	dst = rawjson.AppendString(AppendKey(dst, "name"), t.Name)
	dst = rawjson.AppendString(AppendKey(dst, "description"), t.Description)
	return append(AppendKey(dst, schema), cmp.Or(string(t.Parameters), `{"type":"object","properties":{}}`)...)
}

// AppendFields appends named values in the order of their names, each value byte for byte, without those of skip and
// without empty values.
func AppendFields(dst []byte, f message.Fields, skip ...string) []byte {
	keys := make([]string, 0, len(f))
	for k, v := range f {
		if len(v) > 0 && !slices.Contains(skip, k) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		dst = append(AppendKey(dst, k), f[k]...)
	}
	return dst
}

// RoomFor is about how many bytes the body of a request takes, so that it is written without growing.
func RoomFor(req *model.Request) int {
	n := 1024 + len(req.System)
	for i := range req.Tools {
		n += len(req.Tools[i].Description) + len(req.Tools[i].Parameters) + 128
	}
	for i := range req.Messages {
		n += 128
		for _, p := range req.Messages[i].Content {
			n += len(p.Text) + len(p.URL) + len(p.Raw) + len(p.Signature) + len(p.Redacted) + 64
		}
		for _, c := range req.Messages[i].ToolCalls {
			n += len(c.Args) + 128
			for _, raw := range c.Extra {
				n += len(raw)
			}
		}
	}
	return n + n/8 // escapes
}

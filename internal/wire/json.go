package wire

import (
	"slices"

	"github.com/pudu-ai/pudu/internal/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// AppendKey appends a comma, unless dst ends with an opening bracket, and the key with its colon.
func AppendKey(dst []byte, key string) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '{' && dst[n-1] != '[' {
		dst = append(dst, ',')
	}
	return append(rawjson.AppendString(dst, key), ':')
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

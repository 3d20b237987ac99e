package wire

import (
	"slices"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/message"
)

const hex = "0123456789abcdef"

// AppendString appends s as a JSON string. Only what JSON demands is escaped, so that a text reads back as the model
// wrote it; invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		b := s[i]
		if b >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		if b >= ' ' && b != '"' && b != '\\' {
			i++
			continue
		}
		dst = appendEscape(append(dst, s[start:i]...), b)
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

func appendEscape(dst []byte, b byte) []byte {
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
}

// AppendKey appends a comma, unless dst ends with an opening bracket, and the key with its colon.
func AppendKey(dst []byte, key string) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '{' && dst[n-1] != '[' {
		dst = append(dst, ',')
	}
	return append(AppendString(dst, key), ':')
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

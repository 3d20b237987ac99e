package rawjson

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// The functions below expect valid JSON ([Valid]) and do not check it again. Given anything else they return
// something wrong, but they neither panic nor read past the end. What they return shares raw's memory.

// Members returns the members of a JSON object, the last of each name; false if raw is no object.
func Members(raw []byte) (map[string]json.RawMessage, bool) {
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		return nil, false
	}
	out := make(map[string]json.RawMessage)
	for i = skipSpace(raw, i+1); i < len(raw) && raw[i] == '"'; {
		end := skipString(raw, i)
		name, _ := String(raw[i:end])
		i = skipSpace(raw, end)
		if i >= len(raw) || raw[i] != ':' {
			break
		}
		i = skipSpace(raw, i+1)
		end = skipValue(raw, i)
		out[name] = raw[i:end:end]
		i = skipComma(raw, end)
	}
	return out, true
}

// Elements returns the elements of a JSON array; false if raw is no array.
func Elements(raw []byte) ([]json.RawMessage, bool) {
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '[' {
		return nil, false
	}
	out := []json.RawMessage{}
	for i = skipSpace(raw, i+1); i < len(raw) && raw[i] != ']'; {
		end := skipValue(raw, i)
		if end == i {
			break
		}
		out = append(out, raw[i:end:end])
		i = skipComma(raw, end)
	}
	return out, true
}

// Value takes the value that raw begins with, and what comes behind it. A value of no bytes means that there is none.
func Value(raw []byte) (value, rest []byte) {
	end := skipValue(raw, 0)
	return raw[:end:end], raw[end:]
}

func skipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r') {
		i++
	}
	return i
}

func skipComma(raw []byte, i int) int {
	i = skipSpace(raw, i)
	if i < len(raw) && raw[i] == ',' {
		i = skipSpace(raw, i+1)
	}
	return i
}

// skipString returns the index behind the string that begins at i. Strings are most of what is skipped, so it leaps
// from one quote or escape to the next.
func skipString(raw []byte, i int) int {
	i++
	for quote := -1; i < len(raw); {
		if quote < i { // none was looked for yet, or the one found was escaped
			n := bytes.IndexByte(raw[i:], '"')
			if n < 0 {
				return len(raw)
			}
			quote = i + n
		}
		n := bytes.IndexByte(raw[i:quote], '\\')
		if n < 0 {
			return quote + 1
		}
		i += n + 2
	}
	return len(raw)
}

// skipValue returns the index behind the value that begins at i.
func skipValue(raw []byte, i int) int {
	depth := 0
	for i < len(raw) {
		switch raw[i] {
		case '"':
			i = skipString(raw, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			i = skipScalar(raw, i)
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// skipScalar returns the index behind a number or a word.
func skipScalar(raw []byte, i int) int {
	for i < len(raw) {
		switch raw[i] {
		case ',', ':', '}', ']', '{', '[', '"', ' ', '\n', '\t', '\r':
			return i
		}
		i++
	}
	return i
}

// String returns the text of a JSON string; false if raw is none. As in encoding/json, which reads what has escapes, a
// lone surrogate or a byte that is not UTF-8 becomes U+FFFD.
func String(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	if text := raw[1 : len(raw)-1]; bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return string(text), true
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// Kind says what a JSON value is, for error messages.
func Kind(raw []byte) string {
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// Unmarshal is that of encoding/json, but forgives fields of an unexpected type: the decoder leaves those out and goes
// on.
func Unmarshal(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	if _, mismatch := err.(*json.UnmarshalTypeError); mismatch {
		return nil
	}
	return err
}

// IsNull reports whether a member is null or was not there.
func IsNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

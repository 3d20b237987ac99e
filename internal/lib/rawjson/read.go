package rawjson

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// The functions below expect valid JSON ([Valid]). Given anything else they return what stands before the fault, but
// they neither panic nor read past the end. What they return shares raw's memory.

// Members returns the members of a JSON object, the last of each name; false if raw is no object.
func Members(raw []byte) (map[string]json.RawMessage, bool) {
	s := Scan(raw)
	if s.Peek() != '{' {
		return nil, false
	}
	out := make(map[string]json.RawMessage)
	for name := s.Object(); name != nil; name = s.Next() {
		if value := s.Value(); value != nil {
			out[nameOf(name)] = value
		}
	}
	return out, true
}

// nameOf is the name that is written so, without its quotes.
func nameOf(written []byte) string {
	if bytes.IndexByte(written, '\\') < 0 && utf8.Valid(written) {
		return string(written)
	}
	name, _ := String(slices.Concat([]byte{'"'}, written, []byte{'"'}))
	return name
}

// Elements returns the elements of a JSON array; false if raw is no array.
func Elements(raw []byte) ([]json.RawMessage, bool) {
	s := Scan(raw)
	if s.Peek() != '[' {
		return nil, false
	}
	out := []json.RawMessage{}
	for more := s.List(); more; more = s.More() {
		if value := s.Value(); value != nil {
			out = append(out, value)
		}
	}
	return out, true
}

// Value takes the value that raw begins with, and what comes behind it. A value of no bytes means that there is none.
func Value(raw []byte) (value, rest []byte) {
	s := Scanner{data: raw}
	end := len(s.Value())
	return raw[:end:end], raw[end:]
}

func skipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r') {
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

package responses

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// quick reads the events that an answer consists of almost alone: pieces of a text or of arguments, written without space
// between the fields. It reports false for everything else, with ev half filled; encoding/json does the rest, and defines
// what is read here: FuzzQuick compares the two.
func quick(data []byte, ev *event) bool {
	rest, ok := bytes.CutPrefix(data, []byte("{"))
	for ok {
		var key, value []byte
		if key, rest = cutString(rest); len(key) == 0 || len(rest) == 0 || rest[0] != ':' {
			return false
		}
		if value, rest = cutValue(rest[1:]); !ev.set(string(key), value) {
			return false
		}
		if len(rest) == 1 && rest[0] == '}' {
			return ev.Type != ""
		}
		rest, ok = bytes.CutPrefix(rest, []byte(","))
	}
	return false
}

// set takes one field, and refuses what is out of the common.
func (ev *event) set(key string, value []byte) (ok bool) {
	switch key {
	case `"type"`:
		ev.Type = deltaType(value)
		return ev.Type != ""
	case `"delta"`:
		ev.Delta, ok = text(value)
	case `"output_index"`:
		ev.OutputIndex, ok = number(value)
	case `"content_index"`:
		ev.ContentIndex, ok = number(value)
	case `"summary_index"`:
		ev.SummaryIndex, ok = number(value)
	case `"sequence_number"`:
		_, ok = number(value)
	case `"item_id"`, `"obfuscation"`:
		ok = len(value) > 0 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0
	case `"logprobs"`:
		ok = string(value) == "[]"
	}
	return ok
}

// deltaType is the type of an event that is read here.
func deltaType(quoted []byte) string {
	switch string(quoted) {
	case `"response.output_text.delta"`:
		return "response.output_text.delta"
	case `"response.reasoning_summary_text.delta"`:
		return "response.reasoning_summary_text.delta"
	case `"response.reasoning_text.delta"`:
		return "response.reasoning_text.delta"
	case `"response.function_call_arguments.delta"`:
		return "response.function_call_arguments.delta"
	}
	return ""
}

// cutValue cuts off a string, a whole number or an empty list; nothing if there is none.
func cutValue(b []byte) (value, rest []byte) {
	if rest, ok := bytes.CutPrefix(b, []byte("[]")); ok {
		return b[:2], rest
	}
	if len(b) > 0 && b[0] == '"' {
		return cutString(b)
	}
	n := 0
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return b[:n], b[n:]
}

// cutString cuts off a string with its quotes. What stands behind its backslashes is not looked at.
func cutString(b []byte) (quoted, rest []byte) {
	if len(b) == 0 || b[0] != '"' {
		return nil, b
	}
	for i := 1; i < len(b); i++ {
		switch {
		case b[i] == '"':
			return b[:i+1], b[i+1:]
		case b[i] == '\\':
			i++
		case b[i] < ' ':
			return nil, b
		}
	}
	return nil, b
}

// text is what a string says.
func text(quoted []byte) (string, bool) {
	if len(quoted) < 2 || quoted[0] != '"' {
		return "", false
	}
	if inner := quoted[1 : len(quoted)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner), true
	}
	var s string
	err := json.Unmarshal(quoted, &s)
	return s, err == nil
}

// number is a number of at most nine digits.
func number(digits []byte) (n int, ok bool) {
	if len(digits) == 0 || len(digits) > 9 || digits[0] == '0' && len(digits) > 1 {
		return 0, false
	}
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = 10*n + int(d-'0')
	}
	return n, true
}

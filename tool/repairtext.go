package tool

import (
	"encoding/json"
	"strings"
)

// RepairText looks for the one JSON object in arguments that are not JSON as they stand: it takes off white space
// and a code fence, and reads an object that was written as a JSON string, once. It is false if the rest is not
// exactly one complete object of at most 8 MiB: text that was cut off is never completed, and nothing that stands
// beside the object is dropped.
func RepairText(s string) (json.RawMessage, bool) {
	if len(s) > maxArgsBytes {
		return nil, false
	}
	text := strings.TrimSpace(unfence(strings.TrimSpace(s)))
	v, err := parseValue([]byte(text), maxArgsDepth)
	if err != nil {
		return nil, false
	}
	if v.kind == isString {
		v = *unstring(&v, isObject, 0)
	}
	return v.raw, v.kind == isObject
}

const fence = "```"

// unfence takes off an opening code fence with the name of its language, and a closing one.
func unfence(s string) string {
	s = strings.TrimSuffix(s, fence)
	rest, ok := strings.CutPrefix(s, fence)
	if !ok {
		return s
	}
	return strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
}

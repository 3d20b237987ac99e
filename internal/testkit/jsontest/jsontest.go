// Package jsontest compares answers in JSON with what a test wants to see of them.
package jsontest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// Decode reads JSON.
func Decode(t *testing.T, raw []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(bytes.TrimSpace(raw), &v); err != nil {
		t.Fatalf("%v in %.500s", err, raw)
	}
	return v
}

// At is the value at a path of names and numbers.
func At(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			i := 0
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// Unlike says where got is not as wanted; empty if it is.
func Unlike(want, got any) string {
	switch w := want.(type) {
	case string:
		if w == "*" && got != nil {
			return ""
		}
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("is %T, not an object", got)
		}
		return unlikeMembers(w, g)
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf(" is %v, want %d elements", got, len(w))
		}
		for i := range w {
			if why := Unlike(w[i], g[i]); why != "" {
				return fmt.Sprintf("[%d]%s", i, why)
			}
		}
		return ""
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Sprintf(" is %v, want %v", got, want)
	}
	return ""
}

func unlikeMembers(want, got map[string]any) string {
	for name, v := range want {
		has, ok := got[name]
		if v == "<absent>" {
			if ok {
				return fmt.Sprintf(".%s is there: %v", name, has)
			}
			continue
		}
		if !ok {
			return fmt.Sprintf(".%s is missing", name)
		}
		if why := Unlike(v, has); why != "" {
			return "." + name + why
		}
	}
	return ""
}

// Long is a text of n bytes.
func Long(n int) string { return strings.Repeat("x", n) }

// ListOf is a list of so many elements.
func ListOf(n int, element string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
}

// MembersOf is an object of so many members.
func MembersOf(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":1`, i)
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

// ObjectOf is a JSON object of n bytes.
func ObjectOf(n int) string { return `{"a":"` + Long(n-len(`{"a":""}`)) + `"}` }

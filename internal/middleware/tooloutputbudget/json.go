package tooloutputbudget

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// mostKeys is how many members of an object are named.
const mostKeys = 12

// jsonText knows a JSON object or list, and lines of which each is one.
func jsonText(text string) (about, bool) {
	if text == "" || text[0] != '{' && text[0] != '[' {
		return about{}, false
	}
	raw := []byte(text)
	if !json.Valid(raw) {
		return jsonLines(text)
	}
	a := about{kind: "json", summary: shape(raw)}
	if raw[0] == '[' {
		if first := firstElement(raw); len(first) > 0 && first[0] == '{' {
			a.structure = append([]string{"the first element:"}, members(first)...)
		}
		return a, true
	}
	a.structure = members(raw)
	return a, true
}

// jsonLines knows JSON values one a line; the first ones tell for all.
func jsonLines(text string) (about, bool) {
	const looked = 20
	n, first := 0, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if n++; n <= looked && (line[0] != '{' && line[0] != '[' || !json.Valid([]byte(line))) {
			return about{}, false
		}
		if n == 1 {
			first = line
		}
	}
	if n < 2 {
		return about{}, false
	}
	a := about{kind: "json", summary: fmt.Sprintf("%d lines with one JSON value each", n)}
	if first[0] == '{' {
		a.structure = append([]string{"the first line:"}, members([]byte(first))...)
	}
	return a, true
}

// members lists the members of an object in their order with what they are.
func members(raw []byte) (list []string) {
	more := 0
	each(raw, func(key, value []byte) {
		if len(list) == mostKeys {
			more++
			return
		}
		name, _ := rawjson.String(key)
		list = append(list, excerpt.Clip(oneLine(name), 60)+": "+shape(value))
	})
	if more > 0 {
		list = append(list, fmt.Sprintf("and %d more members", more))
	}
	return list
}

// shape says what a value is, in a few words.
func shape(raw []byte) string {
	switch {
	case len(raw) == 0:
		return "nothing"
	case raw[0] == '{':
		n := 0
		each(raw, func(_, _ []byte) { n++ })
		return fmt.Sprintf("object of %d members", n)
	case raw[0] == '[':
		return "list of " + elements(raw)
	case raw[0] == '"' && len(raw) > 60:
		return fmt.Sprintf("string of %d bytes", len(raw)-2)
	}
	return oneLine(string(raw))
}

// elements says how many there are in a list and what the first one is.
func elements(raw []byte) string {
	n := 0
	each(raw, func(_, _ []byte) { n++ })
	first := firstElement(raw)
	switch {
	case n == 0 || len(first) == 0:
		return "0 elements"
	case first[0] == '{':
		return fmt.Sprintf("%d elements, the first an object (%s)", n, keys(first))
	case first[0] == '[':
		return fmt.Sprintf("%d elements, the first a list", n)
	}
	return fmt.Sprintf("%d elements, the first %s", n, excerpt.Clip(oneLine(string(first)), 30))
}

// keys names members of an object.
func keys(raw []byte) string {
	const most = 8
	var names []string
	each(raw, func(key, _ []byte) {
		if len(names) < most {
			name, _ := rawjson.String(key)
			names = append(names, excerpt.Clip(oneLine(name), 20))
		} else if len(names) == most {
			names = append(names, "…")
		}
	})
	return strings.Join(names, ", ")
}

func firstElement(raw []byte) []byte {
	value, _ := rawjson.Value(skip(raw[1:]))
	return value
}

// each calls fn with the members of an object or the elements of a list, which have no key, in their order. raw is
// valid JSON.
func each(raw []byte, fn func(key, value []byte)) {
	object := raw[0] == '{'
	for rest := skip(raw[1:]); len(rest) > 0 && rest[0] != '}' && rest[0] != ']'; rest = skip(rest) {
		var key, value []byte
		if object {
			key, rest = rawjson.Value(rest)
			rest = skip(rest)
		}
		if value, rest = rawjson.Value(rest); len(value) == 0 {
			return
		}
		fn(key, value)
	}
}

// skip leaves out what stands between values.
func skip(raw []byte) []byte {
	for len(raw) > 0 && strings.IndexByte(" \t\r\n,:", raw[0]) >= 0 {
		raw = raw[1:]
	}
	return raw
}

package clarification

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
)

// Parse reads the arguments of a call. It accepts anything; see the package comment.
func Parse(args json.RawMessage) Request {
	in := object(args)
	r := Request{
		Question: text(in["question"], maxText),
		Context:  text(in["context"], maxText),
		Type:     text(in["clarification_type"], maxLabel),
		Options:  options(in["options"]),
		Fields:   fields(in["fields"]),
	}
	if _, ok := icons[r.Type]; !ok {
		r.Type = MissingInfo
	}
	if len(in) == 0 {
		r.Question = text(args, maxText)
	}
	if r.Question == "" {
		r.Question, r.Context = r.Context, ""
	}
	if r.Question == "" {
		r.Question = "Please give more details."
	}
	if len(r.Fields) > 0 && len(r.Artifact(strings.Repeat("x", 128))) > maxRequest {
		r.Fields = nil
	}
	return r
}

// object returns the members of a JSON object, also of one in a string; nil for anything else.
func object(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(unquote(raw), &m) != nil {
		return nil
	}
	return m
}

// unquote returns the JSON array or object that a JSON string holds; other values come back as they are.
func unquote(raw json.RawMessage) json.RawMessage {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return raw
	}
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "[") || strings.HasPrefix(s, "{") {
		if json.Valid([]byte(s)) {
			return json.RawMessage(s)
		}
	}
	return raw
}

// text returns a JSON string or scalar as trimmed text of at most limit runes; "" for null, arrays and objects.
func text(raw json.RawMessage, limit int) string {
	s, ok := scalar(raw)
	if !ok {
		return ""
	}
	return excerpt.Clip(strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD")), limit)
}

func scalar(raw json.RawMessage) (string, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] == '[' || raw[0] == '{' || string(raw) == "null" || !json.Valid(raw) {
		return "", false
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, true
	}
	return string(raw), true // a number or a bool
}

// tag is one piece of markup. "a < b" is none.
var tag = regexp.MustCompile(`</?[A-Za-z][\w:.-]*(\s[^<>]*)?/?>`)

// options flattens whatever a model calls a list of options into labels, in order, without tags, blanks and repeats.
func options(raw json.RawMessage) []Option {
	var c collector
	c.add(raw, 0)
	if s := withoutMarks(c.found); s != nil {
		return s
	}
	return c.found
}

// withoutMarks takes the numbers, letters or dashes off labels that are a list already: the text has numbers of its
// own. It returns nil unless all labels have one and count up.
func withoutMarks(found []Option) []Option {
	out := make([]Option, len(found))
	for i, o := range found {
		mark, rest, ok := strings.Cut(o.Label, " ")
		if rest = strings.TrimSpace(rest); !ok || rest == "" || !isMark(mark, i) {
			return nil
		}
		out[i] = Option{rest, o.Value}
		if o.Value == o.Label {
			out[i].Value = rest
		}
		if slices.ContainsFunc(out[:i],
			func(p Option) bool { return p.Label == out[i].Label || p.Value == out[i].Value }) {
			return nil
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// isMark reports whether s marks the i-th entry of a list, from 0: "1." "1)" "(1)" "a." "A)" "-" "*" or "•".
func isMark(s string, i int) bool {
	if s == "-" || s == "*" || s == "•" {
		return true
	}
	bare := strings.TrimPrefix(strings.TrimRight(s, ".):"), "(")
	letter := string(rune('a' + i%26))
	return bare != s && (bare == strconv.Itoa(i+1) || i < 26 && strings.EqualFold(bare, letter))
}

type collector struct {
	found []Option
	seen  map[string]bool
}

func (c *collector) add(raw json.RawMessage, depth int) {
	const maxDepth = 8
	if raw = bytes.TrimSpace(unquote(raw)); len(raw) == 0 || depth > maxDepth || len(c.found) >= maxListed {
		return
	}
	switch raw[0] {
	case '[':
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list)
		for _, v := range list {
			c.add(v, depth+1)
		}
	case '{':
		c.addObject(raw, depth)
	default:
		if s, ok := scalar(raw); ok {
			for line := range strings.SplitSeq(tag.ReplaceAllString(s, "\n"), "\n") {
				c.keep(line, "")
			}
		}
	}
}

// addObject takes {"label": ..., "value": ...} as one option and the leaves of any other object as one each.
func (c *collector) addObject(raw json.RawMessage, depth int) {
	m := object(raw)
	for _, key := range []string{"label", "title", "name", "text", "value"} {
		if label := text(m[key], maxText); label != "" {
			c.keep(label, text(m["value"], maxText))
			return
		}
	}
	for _, v := range values(raw) {
		c.add(v, depth+1)
	}
}

func (c *collector) keep(label, value string) {
	clean := func(s string) string {
		return excerpt.Clip(strings.Join(strings.Fields(tag.ReplaceAllString(s, " ")), " "), maxText)
	}
	o := Option{clean(label), clean(value)}
	if o.Label == "" || len(c.found) >= maxListed {
		return
	}
	if o.Value == "" {
		o.Value = o.Label
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	if c.seen["l"+o.Label] || c.seen["v"+o.Value] {
		return
	}
	c.seen["l"+o.Label], c.seen["v"+o.Value] = true, true
	c.found = append(c.found, o)
}

// values returns the values of an object in the order in which they are written, names its names.
func values(raw json.RawMessage) []json.RawMessage { _, out := members(raw); return out }
func names(raw json.RawMessage) []string           { out, _ := members(raw); return out }

func members(raw json.RawMessage) (names []string, values []json.RawMessage) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, nil
	}
	for dec.More() {
		var v json.RawMessage
		name, err := dec.Token()
		if err != nil || dec.Decode(&v) != nil {
			break
		}
		s, _ := name.(string)
		names, values = append(names, s), append(values, v)
	}
	return names, values
}

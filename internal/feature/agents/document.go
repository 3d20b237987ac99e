package agents

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// document is a config.yaml. A change of one key replaces that key's lines and leaves all others as they are: comments,
// and keys that other programs keep there.
type document struct {
	text string
	body *yaml.Node // the mapping
}

// isNull reports whether a value says nothing.
func isNull(n *yaml.Node) bool { return n == nil || n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func parse(text string) (*document, error) {
	var node yaml.Node
	dec := yaml.NewDecoder(strings.NewReader(text))
	if err := dec.Decode(&node); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := dec.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("it holds more than one YAML document; keep one")
	}
	d := &document{text: text, body: &yaml.Node{Kind: yaml.MappingNode}}
	if len(node.Content) > 0 && !isNull(node.Content[0]) { // else it is empty, or has comments alone
		d.body = node.Content[0]
	}
	if d.body.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: it must hold keys and values", d.body.Line)
	}
	seen := map[string]int{}
	for i := 0; i < len(d.body.Content); i += 2 {
		key := d.body.Content[i]
		if line, twice := seen[key.Value]; twice {
			return nil, fmt.Errorf("line %d: the key %.60q stands in line %d already", key.Line, key.Value, line)
		}
		seen[key.Value] = key.Line
	}
	return d, nil
}

// member returns the value of a key; nil if it is missing or null.
func member(mapping *yaml.Node, key string) *yaml.Node {
	i := index(mapping, key)
	if i < 0 {
		return nil
	}
	n := mapping.Content[i+1]
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if isNull(n) {
		return nil
	}
	return n
}

// index is the place of a key in a mapping, or -1.
func index(mapping *yaml.Node, key string) int {
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// with returns the document with another value of a key. The error says that it cannot be changed without harm to the
// other keys.
func (d *document) with(key string, value any) (*document, error) {
	if d.body.Style&yaml.FlowStyle != 0 { // {a: 1, b: 2} becomes a key a line
		d.body.Style = 0
		var text []byte
		if len(d.body.Content) > 0 {
			text, _ = yaml.Marshal(d.body) // what was read can be written
		}
		var err error
		if d, err = parse(string(text)); err != nil {
			return nil, err
		}
	}
	line, err := yaml.Marshal(map[string]any{key: value})
	if err != nil {
		return nil, err
	}
	changed, err := parse(d.splice(key, string(line)))
	if err != nil {
		return nil, fmt.Errorf("change %s: %w", key, err)
	}
	if !changed.says(key, string(line)) || !changed.differsIn(d, key) {
		return nil,
			fmt.Errorf("change %s: the file is written in a way that keeps it from being changed; edit it by hand", key)
	}
	return changed, nil
}

// splice puts the new lines of a key in the place of the old ones, or at the end.
func (d *document) splice(key, fresh string) string {
	i := index(d.body, key)
	if i < 0 {
		if d.text != "" && !strings.HasSuffix(d.text, "\n") {
			return d.text + "\n" + fresh
		}
		return d.text + fresh
	}
	lines := strings.SplitAfter(d.text, "\n")
	start, end := d.body.Content[i].Line-1, len(lines)
	if i+2 < len(d.body.Content) {
		end = d.body.Content[i+2].Line - 1
	}
	if start < 0 || end > len(lines) || start >= end { // lines are counted otherwise there
		return d.text
	}
	for ; end > start+1 && (strings.HasPrefix(lines[end-1], "#") || strings.TrimSpace(lines[end-1]) == ""); end-- {
		continue // comments in front of the next key
	}
	if c := d.body.Content[i+1].LineComment; c != "" && strings.Count(fresh, "\n") == 1 {
		fresh = strings.TrimSuffix(fresh, "\n") + " " + c + "\n"
	}
	return strings.Join(lines[:start], "") + fresh + strings.Join(lines[end:], "")
}

// says reports whether a key has the value that line gives it.
func (d *document) says(key, line string) bool {
	i := index(d.body, key)
	if i < 0 {
		return false
	}
	n := *d.body.Content[i+1]
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	got, err := yaml.Marshal(map[string]*yaml.Node{key: &n})
	return err == nil && string(got) == line
}

// differsIn reports whether all keys but one are what they were.
func (d *document) differsIn(old *document, key string) bool {
	rest := func(d *document) (others []string) {
		for i := 0; i < len(d.body.Content); i += 2 {
			if name := d.body.Content[i].Value; name != key {
				value, err := yaml.Marshal(d.body.Content[i+1])
				others = append(others, name, string(value), fmt.Sprint(err))
			}
		}
		return others
	}
	return slices.Equal(rest(old), rest(d))
}

// reader takes values out of a mapping and keeps the first thing that is wrong.
type reader struct {
	mapping *yaml.Node
	at      string // in front of the names of keys
	err     error
}

func (r *reader) failf(n *yaml.Node, key, format string, a ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("line %d: %s%s %s", n.Line, r.at, key, fmt.Sprintf(format, a...))
	}
}

func (r *reader) text(key string) string {
	n := member(r.mapping, key)
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode || n.Tag == "!!binary" {
		r.failf(n, key, "must be a text")
		return ""
	}
	return strings.TrimSpace(n.Value)
}

// list returns nil for a key that is missing and an empty list for [].
func (r *reader) list(key string) []string {
	n := member(r.mapping, key)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) > maxItems {
		r.failf(n, key, "must be a list of at most %d names", maxItems)
		return nil
	}
	out := []string{}
	for _, item := range n.Content {
		text := strings.TrimSpace(item.Value)
		if item.Kind != yaml.ScalarNode || isNull(item) || text == "" {
			r.failf(item, key, "must be a list of names")
			return nil
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// scalar decodes a value of a type that YAML has.
func scalar[T any](r *reader, key, what string, ok func(T) bool) *T {
	n := member(r.mapping, key)
	if n == nil {
		return nil
	}
	var v T
	if n.Kind != yaml.ScalarNode || n.Decode(&v) != nil || !ok(v) {
		r.failf(n, key, "must be %s, not %.40q", what, n.Value)
		return nil
	}
	return &v
}

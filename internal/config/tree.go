package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// What a configuration file may hold, so that a hostile one ends in an error and not in a full memory.
const (
	maxFile  = 1 << 20 // bytes
	maxNodes = 50_000  // values after aliases are replaced
	maxText  = 4 << 20 // bytes of all scalars after aliases are replaced
	maxDepth = 64
)

// tree is a YAML value with its aliases and merge keys replaced.
type tree struct {
	line   int
	kind   yaml.Kind // ScalarNode, SequenceNode or MappingNode
	tag    string    // "!!str", "!!int" ... of a scalar
	text   string
	items  []*tree
	fields []field
}

type field struct {
	name  string
	line  int
	value *tree
}

func (t *tree) null() bool { return t.kind == yaml.ScalarNode && t.tag == "!!null" }

// what names the kind of value for people.
func (t *tree) what() string {
	switch t.kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a table of keys"
	}
	if t.null() {
		return "nothing"
	}
	if len(t.text) > 60 {
		return strconv.Quote(t.text[:60]) + "..."
	}
	return strconv.Quote(t.text)
}

// parseTree reads one YAML document. An empty one is an empty table.
func parseTree(file string, data []byte) (*tree, error) {
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return &tree{line: 1, kind: yaml.MappingNode}, nil
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, &Error{File: file, Text: "must hold one YAML document, not several"}
	}
	g := grower{file: file}
	return g.grow(doc.Content[0], 0)
}

// grower makes trees and counts what they cost.
type grower struct {
	file  string
	nodes int
	text  int
}

func (g *grower) grow(n *yaml.Node, depth int) (*tree, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	g.nodes++
	g.text += len(n.Value)
	if depth > maxDepth || g.nodes > maxNodes || g.text > maxText {
		return nil,
			g.fail(n, fmt.Sprintf("too large: at most %d values, %d levels and %d MiB of text, aliases counted each "+
				"time", maxNodes, maxDepth, maxText>>20))
	}
	t := &tree{line: n.Line, kind: n.Kind, text: n.Value}
	switch n.Kind {
	case yaml.ScalarNode:
		t.tag = n.ShortTag()
		return t, nil
	case yaml.SequenceNode:
		for _, c := range n.Content {
			item, err := g.grow(c, depth+1)
			if err != nil {
				return nil, err
			}
			t.items = append(t.items, item)
		}
		return t, nil
	case yaml.MappingNode:
		return t, g.growFields(t, n, depth)
	}
	return nil, g.fail(n, "unexpected YAML")
}

// growFields adds the pairs of a mapping: a key may stand once, and its own keys win over merged ones ("<<").
func (g *grower) growFields(t *tree, n *yaml.Node, depth int) error {
	seen := map[string]int{}
	var merged []*tree
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			return g.fail(k, "a key must be a word")
		}
		v, err := g.grow(n.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		if k.ShortTag() == "!!merge" {
			merged = append(merged, v)
			continue
		}
		if line, twice := seen[k.Value]; twice {
			return g.fail(k, fmt.Sprintf("key %q stands twice, first in line %d: keep one", k.Value, line))
		}
		seen[k.Value] = k.Line
		g.text += len(k.Value)
		t.fields = append(t.fields, field{k.Value, k.Line, v})
	}
	return g.merge(t, seen, merged)
}

func (g *grower) merge(t *tree, seen map[string]int, sources []*tree) error {
	for len(sources) > 0 {
		s := sources[0]
		sources = sources[1:]
		switch s.kind {
		case yaml.SequenceNode:
			sources = slices.Concat(s.items, sources)
		case yaml.MappingNode:
			for _, f := range s.fields {
				if _, own := seen[f.name]; !own {
					seen[f.name] = f.line
					t.fields = append(t.fields, f)
				}
			}
		default:
			return &Error{File: g.file, Line: s.line, Text: "<< must be followed by a table of keys or a list of them"}
		}
	}
	return nil
}

func (g *grower) fail(n *yaml.Node, text string) error {
	return &Error{File: g.file, Line: n.Line, Text: text}
}

// json turns the tree into JSON. expand replaces variables in strings; nil leaves them.
func (t *tree) json(expand func(*tree) string) (json.RawMessage, error) {
	v, err := t.plain(expand)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

func (t *tree) plain(expand func(*tree) string) (any, error) {
	switch t.kind {
	case yaml.SequenceNode:
		list := make([]any, len(t.items))
		for i, item := range t.items {
			v, err := item.plain(expand)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	case yaml.MappingNode:
		table := make(map[string]any, len(t.fields))
		for _, f := range t.fields {
			v, err := f.value.plain(expand)
			if err != nil {
				return nil, err
			}
			table[f.name] = v
		}
		return table, nil
	}
	return t.scalar(expand)
}

func (t *tree) scalar(expand func(*tree) string) (any, error) {
	switch t.tag {
	case "!!null":
		return nil, nil
	case "!!bool":
		return strings.EqualFold(t.text, "true"), nil
	case "!!int":
		if i, err := strconv.ParseInt(t.text, 0, 64); err == nil {
			return i, nil
		}
		fallthrough
	case "!!float":
		f, err := strconv.ParseFloat(strings.ReplaceAll(t.text, "_", ""), 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return nil, fmt.Errorf("%s is no finite number", t.what())
		}
		return f, nil
	}
	if expand != nil {
		return expand(t), nil
	}
	return t.text, nil
}

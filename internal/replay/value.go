package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// Value is a JSON value that is written as YAML. Empty means that there is none.
type Value json.RawMessage

// IsZero reports whether there is no value, so that it is left out.
func (v Value) IsZero() bool { return len(v) == 0 }

// tagJSON marks a JSON value that YAML cannot say and that is written as text.
const tagJSON = "!json"

// maxDepth bounds the nesting of a value.
const maxDepth = 100

var errUnsayable = errors.New("cannot be written as YAML")

// MarshalYAML writes the value in the order of its members.
func (v Value) MarshalYAML() (any, error) {
	if !json.Valid(v) {
		return nil, fmt.Errorf("not a JSON value: %.60q", string(v))
	}
	dec := json.NewDecoder(bytes.NewReader(v))
	dec.UseNumber()
	n, err := nodeOf(dec, 0)
	if errors.Is(err, errUnsayable) || err == nil && n.Tag == "!!null" { // the decoder leaves a plain null out
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tagJSON, Value: string(v), Style: yaml.SingleQuotedStyle}, nil
	}
	return n, err
}

func nodeOf(dec *json.Decoder, depth int) (*yaml.Node, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := tok.(type) {
	case json.Delim:
		return listOf(dec, t, depth+1)
	case string:
		return textNode(t), nil
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: t.String()}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(t)}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
}

// listOf reads an object or an array to its end.
func listOf(dec *json.Decoder, open json.Delim, depth int) (*yaml.Node, error) {
	if depth > maxDepth {
		return nil, errUnsayable
	}
	n := &yaml.Node{Kind: yaml.SequenceNode}
	if open == '{' {
		n.Kind = yaml.MappingNode
	}
	keys := make(map[string]bool)
	for dec.More() {
		if open == '{' {
			key, err := nodeOf(dec, depth)
			if err != nil {
				return nil, err
			}
			if keys[key.Value] {
				return nil, errUnsayable // a key that comes twice
			}
			keys[key.Value] = true
			key.Style &^= yaml.LiteralStyle
			n.Content = append(n.Content, key)
		}
		item, err := nodeOf(dec, depth)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, item)
	}
	_, err := dec.Token()
	if len(n.Content) == 0 {
		n.Style = yaml.FlowStyle
	}
	return n, err
}

// UnmarshalYAML reads a value.
func (v *Value) UnmarshalYAML(n *yaml.Node) error {
	b, err := appendNode(nil, n, 0)
	if err != nil {
		return err
	}
	*v = b
	return nil
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

func appendNode(b []byte, n *yaml.Node, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("line %d: nested too deeply; write the value as JSON text behind %s", n.Line, tagJSON)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return appendMembers(b, n, depth)
	case yaml.SequenceNode:
		b = append(b, '[')
		for i, item := range n.Content {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = appendNode(b, item, depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case yaml.ScalarNode:
		return appendScalar(b, n)
	}
	return nil, fmt.Errorf("line %d: anchors and aliases are not read here; write the value itself", n.Line)
}

func appendMembers(b []byte, n *yaml.Node, depth int) ([]byte, error) {
	b = append(b, '{')
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || seen[key.Value] {
			return nil, fmt.Errorf("line %d: a key must be a text, and come once", key.Line)
		}
		seen[key.Value] = true
		if i > 0 {
			b = append(b, ',')
		}
		b = append(rawjson.AppendString(b, key.Value), ':')
		var err error
		if b, err = appendNode(b, n.Content[i+1], depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendScalar(b []byte, n *yaml.Node) ([]byte, error) {
	if n.Style == 0 && jsonNumber.MatchString(n.Value) { // also one that is too large for YAML
		return append(b, n.Value...), nil
	}
	switch n.ShortTag() {
	case "!!null":
		return append(b, "null"...), nil
	case "!!bool":
		return append(b, strings.ToLower(n.Value)...), nil
	case "!!int", "!!float":
		return nil, fmt.Errorf("line %d: %.60q is not a number as JSON writes it; quote it if it is a text", n.Line,
			n.Value)
	case tagJSON:
		if !json.Valid([]byte(n.Value)) {
			return nil, fmt.Errorf("line %d: the text behind %s is not JSON", n.Line, tagJSON)
		}
		return append(b, n.Value...), nil
	}
	return rawjson.AppendString(b, n.Value), nil
}

// Str is a text that is written as a block where it has several lines.
type Str string

// MarshalYAML implements yaml.Marshaler.
func (s Str) MarshalYAML() (any, error) { return textNode(string(s)), nil }

func textNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.ToValidUTF8(s, "\uFFFD")}
	switch {
	case jsonNumber.MatchString(s):
		n.Style = yaml.DoubleQuotedStyle
	case s != strings.TrimLeft(s, " \t\r\n\u0085\u2028\u2029"): // the indentation of a block would have to be told
		n.Style = yaml.DoubleQuotedStyle
	case strings.Contains(s, "\n"):
		n.Style = yaml.LiteralStyle
	}
	return n
}

// MarshalYAML writes a reference as a text.
func (e Entry) MarshalYAML() (any, error) {
	if e.Ref != "" {
		return e.Ref, nil
	}
	return entryFields{e.Role, e.Text}, nil
}

type entryFields struct {
	Role string `yaml:"role"`
	Text Str    `yaml:"text"`
}

// UnmarshalYAML reads both forms.
func (e *Entry) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		e.Ref = n.Value
		return nil
	}
	var f entryFields
	if err := n.Decode(&f); err != nil {
		return err
	}
	e.Role, e.Text = f.Role, f.Text
	return nil
}

// canonical is a JSON value in one spelling: sorted members, no space; what is no JSON stays as it is.
func canonical(raw []byte) string { return spelled(raw, "") }

// pretty is the canonical value on many lines.
func pretty(raw []byte) string { return spelled(raw, "  ") }

func spelled(raw []byte, indent string) string {
	if len(raw) == 0 {
		return ""
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil && err != io.EOF {
		return string(raw)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return string(raw)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

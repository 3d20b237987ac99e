package scripted

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bounds of arguments: a YAML alias can refer to itself.
const (
	maxDepth = 50
	maxNodes = 10_000
)

// args are the arguments of a call: a string is a template whose result is sent as it is, valid or not; anything else
// becomes JSON in the order of the script, its strings being templates.
type args struct {
	whole *text
	parts []argPart
}

// argPart is literal JSON, followed by a string of the script, if there is one.
type argPart struct {
	json string
	text *text
}

// UnmarshalYAML compiles the arguments.
func (a *args) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		a.whole = &text{}
		return a.whole.UnmarshalYAML(n)
	}
	c := argCompiler{left: maxNodes}
	if err := c.value(n, 0); err != nil {
		return err
	}
	a.parts = append(c.parts, argPart{json: c.lit.String()})
	return nil
}

// render fills in the templates.
func (a *args) render(v *view) (string, error) {
	if a.whole != nil {
		return a.whole.render(v)
	}
	if len(a.parts) == 0 {
		return "{}", nil
	}
	var b strings.Builder
	for _, p := range a.parts {
		b.WriteString(p.json)
		if p.text != nil {
			s, err := p.text.render(v)
			if err != nil {
				return "", err
			}
			b.Write(quote(s))
		}
	}
	return b.String(), nil
}

type argCompiler struct {
	parts []argPart
	lit   strings.Builder
	left  int
}

func (c *argCompiler) value(n *yaml.Node, depth int) error {
	if c.left--; depth > maxDepth || c.left < 0 {
		return fmt.Errorf("line %d: the arguments are nested or repeated too much; write them as a JSON string", n.Line)
	}
	switch n.Kind {
	case yaml.AliasNode:
		return c.value(n.Alias, depth+1)
	case yaml.MappingNode:
		return c.members(n, depth)
	case yaml.SequenceNode:
		return c.items(n, depth)
	}
	return c.scalar(n)
}

func (c *argCompiler) members(n *yaml.Node, depth int) error {
	c.lit.WriteByte('{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		if i > 0 {
			c.lit.WriteByte(',')
		}
		c.lit.Write(quote(n.Content[i].Value))
		c.lit.WriteByte(':')
		if err := c.value(n.Content[i+1], depth+1); err != nil {
			return err
		}
	}
	c.lit.WriteByte('}')
	return nil
}

func (c *argCompiler) items(n *yaml.Node, depth int) error {
	c.lit.WriteByte('[')
	for i, item := range n.Content {
		if i > 0 {
			c.lit.WriteByte(',')
		}
		if err := c.value(item, depth+1); err != nil {
			return err
		}
	}
	c.lit.WriteByte(']')
	return nil
}

func (c *argCompiler) scalar(n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!null":
		c.lit.WriteString("null")
		return nil
	case "!!int", "!!float", "!!bool":
		var v any
		if err := n.Decode(&v); err != nil {
			return err
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("line %d: %w; quote the value", n.Line, err)
		}
		c.lit.Write(raw)
		return nil
	}
	t := &text{}
	if err := t.parse(n); err != nil {
		return err
	}
	c.parts = append(c.parts, argPart{json: c.lit.String(), text: t})
	c.lit.Reset()
	return nil
}

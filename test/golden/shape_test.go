package golden

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Shape is what a JSON value must be like. The zero value fits anything. It is written as a JSON value: "string", "number",
// "boolean" and "any" are types, "=x" is the string x, in which ${c1} is a variable and * anything; an object has the
// keys that must be there, and an array with one element the shape that all elements have. A null fits anything, as in
// the recording it says nothing of the type.
type Shape struct {
	Kind   string
	Text   string            // of "="
	Fields map[string]*Shape // of an object
	Items  *Shape            // of an array; nil if the recording's was empty
}

// The kinds of shapes.
const (
	Any     = "any"
	String  = "string"
	Number  = "number"
	Boolean = "boolean"
	Literal = "="
	Object  = "object"
	Array   = "array"
)

// MarshalJSON writes the compact form.
func (s *Shape) MarshalJSON() ([]byte, error) {
	switch s.Kind {
	case Object:
		if s.Fields == nil {
			return []byte("{}"), nil
		}
		return json.Marshal(s.Fields)
	case Array:
		if s.Items == nil {
			return []byte("[]"), nil
		}
		return json.Marshal([]*Shape{s.Items})
	case Literal:
		return json.Marshal("=" + s.Text)
	}
	return json.Marshal(s.Kind)
}

// UnmarshalJSON reads the compact form.
func (s *Shape) UnmarshalJSON(raw []byte) error {
	switch raw[0] {
	case '{':
		s.Kind = Object
		return json.Unmarshal(raw, &s.Fields)
	case '[':
		var items []*Shape
		if err := json.Unmarshal(raw, &items); err != nil {
			return err
		}
		if s.Kind = Array; len(items) > 0 {
			s.Items = items[0]
		}
		return nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	if s.Kind = text; text != "" && text[0] == '=' {
		s.Kind, s.Text = Literal, text[1:]
	}
	return nil
}

// kindOf names the type of a decoded JSON value.
func kindOf(v any) string {
	switch v.(type) {
	case string:
		return String
	case float64, json.Number:
		return Number
	case bool:
		return Boolean
	case map[string]any:
		return Object
	case []any:
		return Array
	}
	return Any
}

// Merge returns the shape that fits what either fits: of objects the keys that both have.
func Merge(a, b *Shape) *Shape {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.Kind == Object && b.Kind == Object:
		return mergeObjects(a, b)
	case a.Kind == Array && b.Kind == Array:
		return &Shape{Kind: Array, Items: Merge(a.Items, b.Items)}
	case a.Kind == Literal && b.Kind == Literal && a.Text == b.Text:
		return a
	case stringy(a) && stringy(b):
		return &Shape{Kind: String}
	case a.Kind == b.Kind:
		return a
	}
	return &Shape{Kind: Any}
}

func mergeObjects(a, b *Shape) *Shape {
	out := &Shape{Kind: Object, Fields: map[string]*Shape{}}
	for key, shape := range a.Fields {
		if other, ok := b.Fields[key]; ok {
			out.Fields[key] = Merge(shape, other)
		}
	}
	return out
}

func stringy(s *Shape) bool { return s.Kind == String || s.Kind == Literal }

// Vars are the values of the variables, by name.
type Vars map[string]string

// check compares a value with a shape and returns what is wrong, each with its place. Variables that have no value yet get
// one.
type check struct {
	vars  Vars
	found []string
}

func (c *check) failf(at, format string, args ...any) {
	c.found = append(c.found, at+": "+fmt.Sprintf(format, args...))
}

func (c *check) value(at string, s *Shape, v any) {
	if s == nil || s.Kind == Any || s.Kind == "" {
		return
	}
	want := s.Kind
	if want == Literal {
		want = String
	}
	if kind := kindOf(v); kind != want {
		c.failf(at, "is %s (%.80s), want %s", kind, brief(v), want)
		return
	}
	switch v := v.(type) {
	case string:
		if s.Kind == Literal && !match(s.Text, v, c.vars) {
			c.failf(at, "is %.200q, want %.200q", v, fill(s.Text, c.vars))
		}
	case map[string]any:
		c.object(at, s, v)
	case []any:
		for i, item := range v {
			c.value(fmt.Sprintf("%s[%d]", at, i), s.Items, item)
		}
	}
}

func (c *check) object(at string, s *Shape, v map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(s.Fields)) {
		item, ok := v[key]
		if ok {
			c.value(at+"."+key, s.Fields[key], item)
		} else {
			c.failf(at, "has no key %q", key)
		}
	}
}

func brief(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

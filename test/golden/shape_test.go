package golden

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Shape is what a JSON value must be like. The zero value fits anything. It is written as a JSON value: "string",
// "number", "boolean" and "any" are types, "=x" is the string x, in which ${c1} is a variable and * anything; an object
// has the keys that must be there, and an array with one element the shape that all elements have. A null fits
// anything, as in the recording it says nothing of the type. Where values are compared, "is x" is the number, boolean
// or null x, and an array that begins with "exactly" has the shapes of its elements, one by one, or with "in any order"
// in an order that the server chooses.
type Shape struct {
	Kind   string
	Text   string            // of "=" and "is"
	Fields map[string]*Shape // of an object
	Items  *Shape            // of an array; nil if the recording's was empty
	Rows   []*Shape          // of "exactly" and "in any order"
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
	Is      = "is"
	Exactly = "exactly"
	Mixed   = "in any order"
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
	case Exactly, Mixed:
		list := []any{s.Kind}
		for _, row := range s.Rows {
			list = append(list, row)
		}
		return json.Marshal(list)
	case Literal:
		return json.Marshal("=" + s.Text)
	case Is:
		return json.Marshal("is " + s.Text)
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
		s.Kind = Array
		switch {
		case len(items) > 0 && (items[0].Kind == Exactly || items[0].Kind == Mixed):
			s.Kind, s.Rows = items[0].Kind, items[1:]
		case len(items) > 0:
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
	if value, ok := strings.CutPrefix(text, "is "); ok {
		s.Kind, s.Text = Is, value
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

// check compares a value with a shape and returns what is wrong, each with its place. Variables that have no value yet
// get one.
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
	switch want {
	case Literal:
		want = String
	case Exactly, Mixed:
		want = Array
	case Is:
		if got := plain(v); got != s.Text {
			c.failf(at, "is %.80s, want %s", got, s.Text)
		}
		return
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
		c.array(at, s, v)
	}
}

func (c *check) array(at string, s *Shape, v []any) {
	if s.Kind == Array {
		for i, item := range v {
			c.value(fmt.Sprintf("%s[%d]", at, i), s.Items, item)
		}
		return
	}
	if len(v) != len(s.Rows) {
		c.failf(at, "has %d elements, want %d: %s", len(v), len(s.Rows), brief(v))
		return
	}
	left := slices.Clone(v)
	for i, row := range s.Rows {
		k := 0
		if s.Kind == Mixed {
			k = max(0, slices.IndexFunc(left, func(item any) bool { return c.fits(row, item) }))
		}
		c.value(fmt.Sprintf("%s[%d]", at, i), row, left[k])
		left = slices.Delete(left, k, k+1)
	}
}

// fits tells whether a value has a shape.
func (c *check) fits(s *Shape, v any) bool {
	trial := check{vars: maps.Clone(c.vars)}
	trial.value("", s, v)
	return len(trial.found) == 0
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

// plain is a number, boolean or null as text, of which there is one for each value.
func plain(v any) string {
	if n, ok := v.(json.Number); ok {
		if f, err := n.Float64(); err == nil {
			v = f
		}
	}
	return brief(v)
}

func brief(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

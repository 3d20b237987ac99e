package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Func is the work of a tool that [New] makes; in holds the decoded arguments.
type Func[In any] func(ctx context.Context, call *Call, in In) (*Result, error)

// New makes a tool of a function. If spec.Parameters is empty, the schema of the arguments is inferred from In, a
// struct whose fields say all there is to know:
//
//	type Args struct {
//		Path  string `json:"path" doc:"What to read."`
//		Mode  string `json:"mode,omitempty" enum:"text,hex"`
//		Limit int    `json:"limit" default:"100" min:"1" max:"1000"`
//	}
//
// A field is optional if it has omitempty, omitzero or a default, or is a pointer. Required properties come first.
// Fields may be strings, booleans, numbers, slices, maps with string keys, structs and json.RawMessage, which means
// any value. min and max bound a number's value, a string's length in characters, or a slice's items. A default is
// written as it is for a string, else as JSON, and takes the place of an absent property; a struct that is absent
// as a whole stays zero.
//
// Run repairs and checks the arguments as [Schema.Check] does; what does not fit becomes a result with IsError. Names
// are compared exactly, never regardless of case. An In that is no struct, such as json.RawMessage, needs
// spec.Parameters and gets the arguments as they are, without defaults.
//
// The error says what is wrong with the name, the schema or In.
func New[In any](spec Spec, run Func[In]) (Tool, error) {
	if err := CheckName(spec.Name); err != nil {
		return nil, fmt.Errorf("make tool: %w", err)
	}
	if run == nil {
		return nil, fmt.Errorf("make tool %s: it has no function to run", spec.Name)
	}
	var err error
	if len(bytes.TrimSpace(spec.Parameters)) == 0 {
		spec.schema, err = schemaOf(reflect.TypeFor[In]())
	} else {
		spec.schema, err = spec.Schema()
	}
	if err != nil {
		return nil, fmt.Errorf("make tool %s: %w", spec.Name, err)
	}
	if !spec.schema.fit.has(isObject) {
		return nil, fmt.Errorf(
			"make tool %s: its parameters must be an object schema, no object fits this one",
			spec.Name,
		)
	}
	spec.Parameters = spec.schema.raw // a copy of its own
	return &funcTool[In]{spec: spec, run: run}, nil
}

// MustNew is [New] for tools whose spec and type are fixed in the program: it panics on the error, which can only be
// a mistake of the programmer.
func MustNew[In any](spec Spec, run Func[In]) Tool {
	t, err := New(spec, run)
	if err != nil {
		panic(err)
	}
	return t
}

// MustParse returns the spec with its Parameters parsed, for a tool whose spec is fixed in the program and that is made
// anew again and again: its schema is then read once. It panics if the schema is none, as [MustNew] does.
func MustParse(spec Spec) Spec {
	schema, err := spec.Schema()
	if err != nil {
		panic(err)
	}
	spec.Parameters, spec.schema = schema.raw, schema
	return spec
}

// maxName is what the model providers allow.
const maxName = 64

// CheckName reports whether providers accept the name of a tool: 1 to 64 of A-Z a-z 0-9 _ -.
func CheckName(name string) error {
	if name == "" {
		return errors.New("tool name is empty; it needs 1 to 64 of A-Z a-z 0-9 _ -")
	}
	if len(name) > maxName {
		return fmt.Errorf("tool name %q has %d characters, more than %d", clip(name, maxShown), len(name), maxName)
	}
	for _, r := range name {
		allowed := 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '_' || r == '-'
		if !allowed {
			return fmt.Errorf("tool name %q holds %q; only A-Z a-z 0-9 _ - are allowed", name, r)
		}
	}
	return nil
}

type funcTool[In any] struct {
	spec Spec
	run  Func[In]
}

var _ Tool = (*funcTool[struct{}])(nil)

// Spec implements [Tool].
func (t *funcTool[In]) Spec() Spec { return t.spec }

// Run implements [Tool].
func (t *funcTool[In]) Run(ctx context.Context, call *Call) (*Result, error) {
	in, err := decode[In](t.spec.schema, call.Args)
	if err != nil {
		return Error(err.Error()), nil
	}
	return t.run(ctx, call, in)
}

func decode[In any](s *Schema, args json.RawMessage) (in In, err error) {
	args, v, err := s.checked(args)
	if err != nil {
		return in, err
	}
	if reflect.TypeFor[In]().Kind() == reflect.Struct {
		args = s.prepare(v).raw
	}
	err = json.Unmarshal(args, &in)
	if bad := (*json.UnmarshalTypeError)(nil); errors.As(err, &bad) {
		return in, argumentError("%q cannot hold the %s; its type is %s", bad.Field, bad.Value, bad.Type)
	}
	if err != nil {
		return in, argumentError("they cannot be decoded: %w", err)
	}
	return in, nil
}

// prepare returns v as encoding/json should see it: absent properties with a default have it, and names that differ
// from a property in nothing but case are gone, which would else slip past the schema into that property's field.
func (s *Schema) prepare(v *value) *value {
	if s.target != nil {
		v = s.target.prepare(v)
	}
	switch {
	case v.kind == isArray && s.items != nil:
		return s.prepareItems(v)
	case v.kind == isObject:
		return s.prepareFields(v)
	}
	return v
}

func (s *Schema) prepareItems(v *value) *value {
	changed := false
	items := make([]value, len(v.items))
	for i := range v.items {
		item := &v.items[i]
		if i >= s.itemsFrom {
			item = s.items.prepare(item)
		}
		changed = changed || item != &v.items[i]
		items[i] = *item
	}
	if !changed {
		return v
	}
	out := arrayValue(items)
	return &out
}

func (s *Schema) prepareFields(v *value) *value {
	var fields []field // nil as long as nothing differs
	differs := func(from int) {
		if fields == nil {
			fields = append(make([]field, 0, len(v.fields)+len(s.names)), v.fields[:from]...)
		}
	}
	for i := range v.fields {
		f := &v.fields[i]
		if s.properties[f.name] == nil && s.resembles(f.name) {
			differs(i)
			continue
		}
		val := &f.val
		if sub := s.property(f.name); sub != nil {
			val = sub.prepare(val)
		}
		if val != &f.val {
			differs(i)
		}
		if fields != nil {
			fields = append(fields, field{f.name, *val})
		}
	}
	for _, name := range s.names {
		if preset := s.properties[name].preset; preset != nil && v.find(name) < 0 {
			differs(len(v.fields))
			fields = append(fields, field{name, *preset})
		}
	}
	if fields == nil {
		return v
	}
	out := objectValue(fields)
	return &out
}

// resembles reports whether name is a property but for its case.
func (s *Schema) resembles(name string) bool {
	for _, known := range s.names {
		if strings.EqualFold(known, name) {
			return true
		}
	}
	return false
}

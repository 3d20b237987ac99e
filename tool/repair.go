package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Check returns the arguments in a form that fits the schema, or an [ArgumentError] whose text the model should see.
// Arguments that fit are returned as they are, byte for byte. Empty input and null stand for {}.
//
// Where the schema leaves one meaning only, what a model wrote in the wrong type is put right: "5" or 5.0 for an
// integer, "true" for a boolean, 5 for a string, a list or object written as a string, one value where a list of
// scalars is wanted; null for an optional property drops the property. Cut JSON is never completed, no name is
// guessed and nothing that is required is made up. Properties that the schema does not know are kept, unless
// additionalProperties forbids them.
//
// Arguments may have 8 MiB, nest 100 deep and hold a million values.
func (s *Schema) Check(args json.RawMessage) (json.RawMessage, error) {
	args, _, err := s.checked(args)
	return args, err
}

// checked is Check, with the value of the arguments that it returns.
func (s *Schema) checked(args json.RawMessage) (json.RawMessage, *value, error) {
	if trimmed := bytes.TrimSpace(args); len(trimmed) == 0 || string(trimmed) == "null" {
		args = json.RawMessage("{}")
	}
	v, err := parseArgs(args)
	if err != nil {
		return nil, nil, err
	}
	c := checker{}
	if c.check(&v, s, rootPath) && !c.loose && v.kind == isObject {
		return args, &v, nil
	}
	fixed, err := s.repair(&v, &c)
	switch {
	case err != nil:
		return nil, nil, err
	case bytes.Equal(fixed.raw, bytes.TrimSpace(args)):
		return args, fixed, nil
	}
	return fixed.raw, fixed, nil
}

func parseArgs(args json.RawMessage) (value, error) {
	if len(args) > maxArgsBytes {
		return value{}, argumentError("they have %d bytes, more than %d; send less at once", len(args), maxArgsBytes)
	}
	v, err := parseValue(args, maxArgsDepth)
	switch {
	case errors.Is(err, errTooDeep):
		return v, argumentError("they are nested more than %d deep", maxArgsDepth)
	case errors.Is(err, errTooMany):
		return v, argumentError("they hold %w; send less at once", err)
	case err != nil:
		return v, argumentError("they are not valid JSON (%w); send one complete JSON object", err)
	}
	return v, nil
}

func argumentError(format string, a ...any) *ArgumentError {
	return &ArgumentError{Problems: []string{fmt.Errorf(format, a...).Error()}}
}

// maxPasses bounds how often a repair is looked at again: one may make another certain.
const maxPasses = 4

func (s *Schema) repair(v *value, c *checker) (*value, error) {
	if v.kind == isString {
		v = unstring(v, isObject, 0)
	}
	if v.kind != isObject {
		return nil, argumentError("they must be a JSON object, got %s", found(v))
	}
	for range maxPasses {
		fixed := c.repair(v, s, 0)
		if fixed == v {
			break
		}
		v = fixed
	}
	if err := s.verdict(v, c); err != nil {
		return nil, err
	}
	if len(v.raw) > maxArgsBytes {
		return nil, argumentError("they have %d bytes, more than %d; send less at once", len(v.raw), maxArgsBytes)
	}
	return v, nil
}

// repair returns v, or a value that fits s better and means the same. depth counts the containers around it.
func (c *checker) repair(v *value, s *Schema, depth int) *value {
	if !c.spend(1) {
		return v
	}
	v = c.convert(v, s, depth)
	if !s.fit.has(v.kind) {
		return v
	}
	if s.target != nil {
		v = c.repair(v, s.target, depth)
	}
	for _, sub := range s.allOf {
		v = c.repair(v, sub, depth)
	}
	switch v.kind {
	case isArray:
		v = c.repairItems(v, s, depth+1)
	case isObject:
		v = c.repairFields(v, s, depth+1)
	}
	v = c.repairChoice(v, s.anyOf, depth)
	return c.repairChoice(v, s.oneOf, depth)
}

// repairChoice repairs v for the schema that it fits, or for the only one that it fits after the repair.
func (c *checker) repairChoice(v *value, choice []*Schema, depth int) *value {
	if choice == nil {
		return v
	}
	if sub := c.choose(v, choice); sub != nil {
		return c.repair(v, sub, depth)
	}
	var only *value
	for _, sub := range choice {
		if !sub.fit.has(v.kind) {
			continue
		}
		fixed := c.repair(v, sub, depth)
		if !c.fits(fixed, sub) {
			continue
		}
		if only != nil && !bytes.Equal(only.raw, fixed.raw) {
			return v
		}
		only = fixed
	}
	if only == nil {
		return v
	}
	return only
}

func (c *checker) repairItems(v *value, s *Schema, depth int) *value {
	if s.items == nil {
		return v
	}
	var items []value
	for i := s.itemsFrom; i < len(v.items); i++ {
		old := &v.items[i]
		fixed := c.repair(old, s.items, depth)
		if fixed == old {
			continue
		}
		if items == nil {
			items = slices.Clone(v.items)
		}
		items[i] = *fixed
	}
	if items == nil || !c.spend(len(v.raw)/16) {
		return v
	}
	out := arrayValue(items)
	return &out
}

func (c *checker) repairFields(v *value, s *Schema, depth int) *value {
	var fields []field // once something changed, those up to here
	for i := range v.fields {
		f := &v.fields[i]
		fixed, keep := &f.val, true
		if sub := s.property(f.name); sub != nil {
			fixed = c.repair(&f.val, sub, depth)
			keep = fixed.kind != isNull || sub.fit.has(isNull) || !c.optional(f.name, s)
		}
		if fields == nil && (fixed != &f.val || !keep) {
			fields = append(make([]field, 0, len(v.fields)), v.fields[:i]...)
		}
		if fields != nil && keep {
			fields = append(fields, field{f.name, *fixed})
		}
	}
	if fields == nil || !c.spend(len(v.raw)/16) {
		return v
	}
	out := objectValue(fields)
	return &out
}

// optional reports whether s declares the property and does not require it.
func (c *checker) optional(name string, s *Schema) bool {
	return s.properties[name] != nil && c.spend(len(s.required)) && !slices.Contains(s.required, name)
}

// convert returns v in the type that s wants, if v has another and there is one way to read it.
func (c *checker) convert(v *value, s *Schema, depth int) *value {
	if s.fit.has(v.kind) {
		return integer(v, s.fit)
	}
	want := s.fit &^ isNull
	if want == isString && v.kind.has(numbers|isBool) {
		return &value{kind: isString, raw: quote(string(v.raw))}
	}
	if v.kind == isString && c.spend(len(v.raw)/16) {
		if fixed := parseScalar(v, want); fixed.kind != isString {
			return integer(fixed, s.fit)
		}
		if fixed := unstring(v, want&(isArray|isObject), depth); fixed.kind != isString {
			return fixed
		}
	}
	if want == isArray && s.scalarItems && depth < maxArgsDepth {
		return c.wrap(v, s, depth)
	}
	return v
}

// integer writes 5.0 as 5 where only an integer will do.
func integer(v *value, want kinds) *value {
	if v.kind != isInteger || want.has(isNumber) || isPlain(v.raw) {
		return v
	}
	text, ok := plainInteger(v.number())
	if !ok {
		return v
	}
	fixed := scalarValue(isInteger, text)
	return &fixed
}

// parseScalar reads a number or a boolean that was written as a string.
func parseScalar(v *value, want kinds) *value {
	if !want.has(numbers|isBool) || len(v.raw) > 2*maxShown {
		return v
	}
	fixed, err := parseValue([]byte(strings.TrimSpace(v.str())), 0)
	if err != nil || !want.has(fixed.kind&(numbers|isBool)) {
		return v
	}
	return &fixed
}

// unstring reads a list or an object that was written as a string. depth counts the containers around it.
func unstring(v *value, want kinds, depth int) *value {
	if want == noKind {
		return v
	}
	text := strings.TrimSpace(v.str())
	if !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "{") {
		return v
	}
	fixed, err := parseValue([]byte(text), maxArgsDepth-depth)
	if err != nil || !want.has(fixed.kind) {
		return v
	}
	return &fixed
}

// wrap makes a list of one scalar. A blank string may mean an empty list, and one that begins like a list was meant
// as one; those are left for the model to say again.
func (c *checker) wrap(v *value, s *Schema, depth int) *value {
	if !v.kind.has(scalars) {
		return v
	}
	if v.kind == isString {
		text := strings.TrimSpace(v.str())
		if text == "" || text[0] == '[' || text[0] == '{' {
			return v
		}
	}
	one := arrayValue([]value{*v})
	fixed := c.repair(&one, s, depth)
	if !c.fits(fixed, s) {
		return v
	}
	return fixed
}

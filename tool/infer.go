package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// schemas remembers what schemaOf has found: tools are made anew for each run, of few types that never change.
var schemas sync.Map // reflect.Type -> *Schema

// schemaOf is the schema of a struct type.
func schemaOf(t reflect.Type) (*Schema, error) {
	if known, ok := schemas.Load(t); ok {
		return known.(*Schema), nil //nolint:forcetypeassert // it holds nothing else
	}
	raw, err := inferSchema(t)
	if err != nil {
		return nil, err
	}
	s, err := ParseSchema(raw)
	if err == nil {
		schemas.Store(t, s)
	}
	return s, err
}

// inferSchema writes the JSON Schema of a struct type. Its output depends on nothing but the type.
func inferSchema(t reflect.Type) (json.RawMessage, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("infer schema of %s: arguments must be a struct; or set Spec.Parameters", t)
	}
	w := schemaWriter{}
	if err := w.object(t, ""); err != nil {
		return nil, fmt.Errorf("infer schema of %s: %w", t, err)
	}
	return w.b, nil
}

// schemaWriter appends the schema of types, each with a tail of keywords that its field adds.
type schemaWriter struct {
	b    []byte
	open []reflect.Type // the structs that we are in
}

var (
	rawType         = reflect.TypeFor[json.RawMessage]()
	unmarshalerType = reflect.TypeFor[json.Unmarshaler]()
)

// textType is what encoding/json reads from a string.
type textType interface{ UnmarshalText(text []byte) error }

func (w *schemaWriter) write(t reflect.Type, tail string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == rawType || t.Kind() == reflect.Interface && t.NumMethod() == 0 {
		w.simple("", tail)
		return nil
	}
	custom := reflect.PointerTo(t)
	if custom.Implements(unmarshalerType) || custom.Implements(reflect.TypeFor[textType]()) {
		return unsupported(t)
	}
	switch k := t.Kind(); {
	case t.PkgPath() == "time":
		return unsupported(t)
	case k == reflect.String:
		w.simple("string", tail)
	case k == reflect.Bool:
		w.simple("boolean", tail)
	case isInt(k), isUint(k):
		w.simple("integer", tail)
	case isFloat(k):
		w.simple("number", tail)
	case k == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return w.nested("array", "items", t.Elem(), tail)
	case k == reflect.Map && t.Key().Kind() == reflect.String:
		return w.nested("object", "additionalProperties", t.Elem(), tail)
	case k == reflect.Struct:
		return w.object(t, tail)
	default:
		return unsupported(t)
	}
	return nil
}

func unsupported(t reflect.Type) error {
	return fmt.Errorf(
		"type %s is not supported; use a string, number, bool, slice, map[string]T, struct or json.RawMessage",
		t,
	)
}

func isInt(k reflect.Kind) bool   { return reflect.Int <= k && k <= reflect.Int64 }
func isUint(k reflect.Kind) bool  { return reflect.Uint <= k && k <= reflect.Uint64 }
func isFloat(k reflect.Kind) bool { return k == reflect.Float32 || k == reflect.Float64 }

// simple writes a schema of a type and the tail, either of which may be empty.
func (w *schemaWriter) simple(name, tail string) {
	if name != "" {
		name = `"type":"` + name + `"`
		if tail != "" {
			name += ","
		}
	}
	w.b = append(w.b, "{"+name+tail+"}"...)
}

func (w *schemaWriter) nested(name, keyword string, elem reflect.Type, tail string) error {
	w.b = append(w.b, `{"type":"`+name+`",`...)
	if tail != "" {
		w.b = append(w.b, tail+","...)
	}
	w.b = append(w.b, `"`+keyword+`":`...)
	if err := w.write(elem, itemTail(elem, "")); err != nil {
		return err
	}
	w.b = append(w.b, '}')
	return nil
}

func (w *schemaWriter) object(t reflect.Type, tail string) error {
	if slices.Contains(w.open, t) {
		return fmt.Errorf("type %s contains itself; set Spec.Parameters instead", t)
	}
	w.open = append(w.open, t)
	params, err := parameters(t)
	if err != nil {
		return err
	}
	w.b = append(w.b, `{"type":"object",`...)
	if tail != "" {
		w.b = append(w.b, tail+","...)
	}
	w.b = append(w.b, `"properties":{`...)
	var required []string
	for i, p := range params {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = append(append(w.b, quote(p.name)...), ':')
		if err := w.property(p); err != nil {
			return fmt.Errorf("field %s: %w", p.field.Name, err)
		}
		if !p.optional {
			required = append(required, string(quote(p.name)))
		}
	}
	w.b = append(w.b, '}')
	if len(required) > 0 {
		w.b = append(w.b, `,"required":[`+strings.Join(required, ",")+`]`...)
	}
	w.b = append(w.b, '}')
	w.open = w.open[:len(w.open)-1]
	return nil
}

// parameter is a field of a struct as a property.
type parameter struct {
	name     string
	optional bool
	field    reflect.StructField
}

// parameters lists the properties of a struct in the order of its fields, required ones first.
func parameters(t reflect.Type) ([]parameter, error) {
	all, err := fieldsOf(t)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(all))
	for _, p := range all {
		if seen[p.name] {
			return nil, fmt.Errorf("two fields are named %q", p.name)
		}
		seen[p.name] = true
	}
	slices.SortStableFunc(all, func(a, b parameter) int {
		switch {
		case a.optional == b.optional:
			return 0
		case b.optional:
			return -1
		}
		return 1
	})
	return all, nil
}

func fieldsOf(t reflect.Type) ([]parameter, error) {
	var all []parameter
	for f := range t.Fields() {
		tag, tagged := f.Tag.Lookup("json")
		if tag == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if f.Anonymous && name == "" {
			if f.Type.Kind() != reflect.Struct || tagged {
				return nil, fmt.Errorf("field %s: only a struct without a json tag can be embedded", f.Name)
			}
			more, err := fieldsOf(f.Type)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
			continue
		}
		p, err := parameterOf(f, name, options)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		all = append(all, p)
	}
	return all, nil
}

func parameterOf(f reflect.StructField, name, options string) (parameter, error) {
	if name == "" {
		name = f.Name
	}
	_, hasDefault := f.Tag.Lookup("default")
	p := parameter{name: name, field: f, optional: hasDefault || f.Type.Kind() == reflect.Pointer}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "":
		case "omitempty", "omitzero":
			p.optional = true
		default:
			return p, fmt.Errorf("json option %q is not supported", option)
		}
	}
	return p, nil
}

// property writes the schema of a field and its tags.
func (w *schemaWriter) property(p parameter) error {
	tag, t := p.field.Tag, p.field.Type
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var tail []string
	if doc := tag.Get("doc"); doc != "" {
		tail = append(tail, `"description":`+string(quote(doc)))
	}
	if enum := tag.Get("enum"); enum != "" {
		words := strings.Split(enum, ",")
		for i, word := range words {
			words[i] = literal(t, word)
		}
		tail = append(tail, `"enum":[`+strings.Join(words, ",")+`]`)
	}
	bounds, err := boundsOf(t, tag)
	if err != nil {
		return err
	}
	if text := itemTail(t, bounds); text != "" {
		tail = append(tail, text)
	}
	if preset, ok := tag.Lookup("default"); ok {
		tail = append(tail, `"default":`+literal(t, preset))
	}
	start := len(w.b)
	err = w.write(t, strings.Join(tail, ","))
	if err != nil || !bounded(tag) { // nothing that could be wrong
		return err
	}
	return checkTags(w.b[start:])
}

// bounded reports whether a tag says which values a field takes.
func bounded(tag reflect.StructTag) bool {
	return slices.ContainsFunc([]string{"enum", "min", "max", "default"}, func(key string) bool {
		_, ok := tag.Lookup(key)
		return ok
	})
}

// checkTags reports a tag whose value does not fit its field.
func checkTags(schema []byte) error {
	s, err := ParseSchema(schema)
	if err != nil {
		return fmt.Errorf("bad enum, min, max or default tag: %w", err)
	}
	for i := range s.enum {
		if s.types&s.enum[i].kind == noKind {
			return fmt.Errorf("enum tag: %s does not fit the type", show(&s.enum[i]))
		}
	}
	if s.preset == nil {
		return nil
	}
	if err := s.verdict(s.preset, &checker{}); err != nil {
		return fmt.Errorf("default tag %s does not fit the field", show(s.preset))
	}
	return nil
}

// literal writes the text of a tag as JSON: a string as it is, anything else is JSON already.
func literal(t reflect.Type, text string) string {
	if t.Kind() == reflect.String {
		return string(quote(text))
	}
	return text
}

// boundsOf writes the tags min and max: of a number its value, of a string its length, of a slice its items.
func boundsOf(t reflect.Type, tag reflect.StructTag) (string, error) {
	low, high := "minimum", "maximum"
	switch t.Kind() {
	case reflect.String:
		low, high = "minLength", "maxLength"
	case reflect.Slice:
		low, high = "minItems", "maxItems"
	}
	var parts []string
	for _, b := range [][2]string{{low, tag.Get("min")}, {high, tag.Get("max")}} {
		if b[1] == "" {
			continue
		}
		if _, err := strconv.ParseFloat(b[1], 64); err != nil {
			return "", fmt.Errorf("bound %q is not a number", b[1])
		}
		parts = append(parts, `"`+b[0]+`":`+b[1])
	}
	return strings.Join(parts, ","), nil
}

// itemTail adds to the bounds of a type what the type itself demands: that an unsigned number is not negative.
func itemTail(t reflect.Type, bounds string) string {
	if !isUint(t.Kind()) || strings.Contains(bounds, `"minimum"`) {
		return bounds
	}
	return strings.TrimSuffix(`"minimum":0,`+bounds, ",")
}

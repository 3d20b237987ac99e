package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
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
	var w schemaWriter
	raw, err := w.schema(nil, t, "")
	if err != nil {
		return nil, fmt.Errorf("infer schema of %s: %w", t, err)
	}
	return raw, nil
}

// schemaWriter writes schemas; open are the structs that it is in.
type schemaWriter struct{ open []reflect.Type }

// textType is what encoding/json reads from a string.
type textType interface{ UnmarshalText(text []byte) error }

// schema appends the schema of a type, with what the tag of its field says of it.
func (w *schemaWriter) schema(b []byte, t reflect.Type, tag reflect.StructTag) ([]byte, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name, err := jsonType(t)
	if err != nil {
		return nil, err
	}
	o := rawjson.Begin(b)
	o.OmitEmpty("type", name)
	if err := addTag(&o, t, tag); err != nil {
		return nil, err
	}
	switch t.Kind() {
	case reflect.Slice:
		if name != "" {
			err = w.elements(&o, "items", t.Elem())
		}
	case reflect.Map:
		err = w.elements(&o, "additionalProperties", t.Elem())
	case reflect.Struct:
		err = w.properties(&o, t)
	}
	if err != nil {
		return nil, err
	}
	return o.End()
}

// jsonType is the schema's name for what encoding/json reads into a type; empty for any value.
func jsonType(t reflect.Type) (string, error) {
	p := reflect.PointerTo(t)
	custom := p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[textType]())
	switch k := t.Kind(); {
	case t == reflect.TypeFor[json.RawMessage](), k == reflect.Interface && t.NumMethod() == 0:
		return "", nil
	case custom, t.PkgPath() == "time":
	case k == reflect.String:
		return "string", nil
	case k == reflect.Bool:
		return "boolean", nil
	case reflect.Int <= k && k <= reflect.Int64, isUint(k):
		return "integer", nil
	case k == reflect.Float32, k == reflect.Float64:
		return "number", nil
	case k == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return "array", nil
	case k == reflect.Map && t.Key().Kind() == reflect.String, k == reflect.Struct:
		return "object", nil
	}
	const want = "use a string, number, bool, slice, map[string]T, struct or json.RawMessage"
	return "", fmt.Errorf("type %s is not supported; %s", t, want)
}

func isUint(k reflect.Kind) bool { return reflect.Uint <= k && k <= reflect.Uint64 }

func (w *schemaWriter) elements(o *rawjson.Object, keyword string, elem reflect.Type) (err error) {
	o.Key(keyword)
	o.Buf, err = w.schema(o.Buf, elem, "")
	return err
}

func (w *schemaWriter) properties(o *rawjson.Object, t reflect.Type) error {
	if slices.Contains(w.open, t) {
		return fmt.Errorf("type %s contains itself; set Spec.Parameters instead", t)
	}
	w.open = append(w.open, t)
	params, err := parameters(t)
	if err != nil {
		return err
	}
	o.Key("properties")
	in := rawjson.Begin(o.Buf)
	var required []string
	for _, p := range params {
		in.Key(p.name)
		start := len(in.Buf)
		if in.Buf, err = w.schema(in.Buf, p.field.Type, p.field.Tag); err == nil && bounded(p.field.Tag) {
			err = checkTags(in.Buf[start:])
		}
		if err != nil {
			return fmt.Errorf("field %s: %w", p.field.Name, err)
		}
		if !p.optional {
			required = append(required, string(quote(p.name)))
		}
	}
	if o.Buf, err = in.End(); err == nil && len(required) > 0 {
		o.Raw("required", json.RawMessage("["+strings.Join(required, ",")+"]"))
	}
	w.open = w.open[:len(w.open)-1]
	return err
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
	required := slices.DeleteFunc(slices.Clone(all), func(p parameter) bool { return p.optional })
	optional := slices.DeleteFunc(all, func(p parameter) bool { return !p.optional })
	return append(required, optional...), nil
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

// addTag writes what the tag of a field says of its values, and that an unsigned number is not negative. A value
// that is no JSON is found by checkTags.
func addTag(o *rawjson.Object, t reflect.Type, tag reflect.StructTag) error {
	add := func(name, value string) { o.Key(name); o.Buf = append(o.Buf, value...) }
	o.OmitEmpty("description", tag.Get("doc"))
	if enum := tag.Get("enum"); enum != "" {
		words := strings.Split(enum, ",")
		for i, word := range words {
			words[i] = literal(t, word)
		}
		add("enum", "["+strings.Join(words, ",")+"]")
	}
	low, high := boundsOf(t.Kind())
	least := tag.Get("min")
	if least == "" && isUint(t.Kind()) {
		least = "0"
	}
	for _, b := range [][2]string{{low, least}, {high, tag.Get("max")}} {
		if b[1] == "" {
			continue
		}
		if _, err := strconv.ParseFloat(b[1], 64); err != nil {
			return fmt.Errorf("bound %q is not a number", b[1])
		}
		add(b[0], b[1])
	}
	if preset, ok := tag.Lookup("default"); ok {
		add("default", literal(t, preset))
	}
	return nil
}

// boundsOf are the keywords of the tags min and max: of a number its value, of a string its length, of a slice its
// items.
func boundsOf(k reflect.Kind) (low, high string) {
	switch k {
	case reflect.String:
		return "minLength", "maxLength"
	case reflect.Slice:
		return "minItems", "maxItems"
	}
	return "minimum", "maximum"
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

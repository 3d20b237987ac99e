package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

const maxProblems = 20

// decoder fills Go values from a tree. It goes on after a problem, so that one run of the program shows all of them.
//
// The field tags are the schema: key:"name,alias" (the first is the name; "*" collects keys without a field, "@line"
// takes the line, "@said" the first names of the keys that were given), required:"true", allow:"[1,20]" (a range of
// numbers) or allow:"a|b" (words), unit:"s" or "ms" for a duration, unset:"empty" where a variable may be missing,
// later:"a,b" for keys that load without an effect yet, and known:"a,b" for keys that the "*" field takes silently.
type decoder struct {
	file     string
	env      Env
	problems []error
	warnings []Warning
	later    []string       // keys that load but do nothing yet, with their lines
	sections map[string]any // of the program that embeds this one
	// unset takes an unset variable: the entry being decoded becomes unusable. Nil makes it a problem of the file.
	unset func(error)
}

// custom is a type that reads itself.
type custom interface {
	decode(d *decoder, t *tree, at string)
}

// fallible is an entry that becomes unusable by itself, instead of breaking the file, when a variable is not set.
type fallible interface {
	disable(err error)
}

func (d *decoder) failf(line int, at, format string, args ...any) {
	d.problems = append(d.problems, &Error{File: d.file, Line: line, Key: at, Text: fmt.Sprintf(format, args...)})
}

func (d *decoder) warnf(line int, at, format string, args ...any) {
	d.warnings = append(d.warnings, Warning{File: d.file, Line: line, Key: at, Text: fmt.Sprintf(format, args...)})
}

func (d *decoder) err() error {
	if len(d.problems) > maxProblems {
		more := fmt.Errorf("and %d more", len(d.problems)-maxProblems)
		return errors.Join(append(d.problems[:maxProblems:maxProblems], more)...)
	}
	return errors.Join(d.problems...)
}

// value decodes t into v. Null leaves v as it is, which means the default.
func (d *decoder) value(t *tree, at string, v reflect.Value, tag reflect.StructTag) {
	if t.null() {
		return
	}
	if c, ok := reflect.TypeAssert[custom](v.Addr()); ok {
		c.decode(d, t, at)
		return
	}
	switch v.Interface().(type) {
	case json.RawMessage:
		v.SetBytes(d.raw(t, at))
		return
	case time.Duration:
		d.duration(t, at, v, tag)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.table(t, at, v)
	case reflect.Slice:
		d.list(t, at, v, tag)
	case reflect.Map:
		d.dict(t, at, v, tag)
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		d.value(t, at, p.Elem(), tag)
		v.Set(p)
	case reflect.String:
		d.word(t, at, v, tag)
	case reflect.Bool:
		d.boolean(t, at, v)
	case reflect.Int, reflect.Int64:
		d.integer(t, at, v, tag)
	case reflect.Float64:
		d.float(t, at, v, tag)
	}
}

func (d *decoder) table(t *tree, at string, v reflect.Value) {
	if t.kind != yaml.MappingNode {
		d.failf(t.line, at, "must be a table of keys, got %s", t.what())
		return
	}
	if f, ok := reflect.TypeAssert[fallible](v.Addr()); ok {
		outer := d.unset
		d.unset = f.disable
		defer func() { d.unset = outer }()
	}
	s := schemaOf(v.Type())
	if i, ok := s.fields["@line"]; ok {
		v.Field(i).SetInt(int64(t.line))
	}
	given := map[int]string{}
	for _, f := range t.fields {
		d.field(f, join(at, f.name), s, v, given)
	}
	if i, ok := s.fields["@said"]; ok {
		v.Field(i).Set(reflect.ValueOf(saidKeys(v.Type(), given)))
	}
	for i, name := range s.required {
		if given[i] == "" {
			d.failf(t.line, at, "needs the key %q", name)
		}
	}
}

// saidKeys are the first names of the keys that were given, in the order of the fields.
func saidKeys(t reflect.Type, given map[int]string) []string {
	var said []string
	for _, i := range slices.Sorted(maps.Keys(given)) {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("key"), ",")
		said = append(said, name)
	}
	return said
}

func (d *decoder) field(f field, at string, s schema, v reflect.Value, given map[int]string) {
	i, ok := s.fields[f.name]
	if !ok || f.name == "*" || strings.HasPrefix(f.name, "@") {
		d.unknown(f, at, s, v)
		return
	}
	if f.value.null() {
		return
	}
	if other := given[i]; other != "" {
		d.warnf(f.line, at, "has no effect beside %q", other)
		return
	}
	given[i] = f.name
	d.value(f.value, at, v.Field(i), v.Type().Field(i).Tag)
}

// unknown takes a key without a field: an error, unless the table lets its readers have keys of their own.
func (d *decoder) unknown(f field, at string, s schema, v reflect.Value) {
	rest, open := s.fields["*"]
	if !open {
		d.failf(f.line, at, "unknown key%s", suggest(f.name, s.names))
		return
	}
	switch {
	case slices.Contains(s.later, f.name):
		if !f.value.null() {
			d.later = append(d.later, fmt.Sprintf("%s (line %d)", at, f.line))
		}
	case !slices.Contains(s.known, f.name):
		d.warnf(f.line, at, "unknown key, left as it is%s", suggest(f.name, s.names))
	}
	extra := v.Field(rest)
	if extra.IsNil() {
		extra.Set(reflect.MakeMap(extra.Type()))
	}
	extra.SetMapIndex(reflect.ValueOf(f.name), reflect.ValueOf(d.raw(f.value, at)))
}

func (d *decoder) list(t *tree, at string, v reflect.Value, tag reflect.StructTag) {
	if t.kind != yaml.SequenceNode {
		d.failf(t.line, at, "must be a list, got %s", t.what())
		return
	}
	out := reflect.MakeSlice(v.Type(), len(t.items), len(t.items))
	for i, item := range t.items {
		where := fmt.Sprintf("%s[%d]", at, i)
		if item.null() {
			d.failf(item.line, where, "is empty: write a value or remove the dash")
			continue
		}
		d.value(item, where, out.Index(i), tag)
	}
	v.Set(out)
}

func (d *decoder) dict(t *tree, at string, v reflect.Value, tag reflect.StructTag) {
	if t.kind != yaml.MappingNode {
		d.failf(t.line, at, "must be a table of keys, got %s", t.what())
		return
	}
	out := reflect.MakeMap(v.Type())
	for _, f := range t.fields {
		e := reflect.New(v.Type().Elem()).Elem()
		d.value(f.value, join(at, f.name), e, tag)
		out.SetMapIndex(reflect.ValueOf(f.name), e)
	}
	v.Set(out)
}

func (d *decoder) raw(t *tree, at string) json.RawMessage {
	data, err := t.json(func(s *tree) string { return d.expand(s, at, "") })
	if err != nil {
		d.failf(t.line, at, "%v", err)
		return json.RawMessage("null")
	}
	return data
}

func (d *decoder) word(t *tree, at string, v reflect.Value, tag reflect.StructTag) {
	s, ok := d.scalar(t, at, "text", tag)
	if !ok {
		return
	}
	if words := tag.Get("allow"); words != "" && !slices.Contains(strings.Split(words, "|"), s) {
		known := strings.Split(words, "|")
		d.failf(t.line, at, "%q is not allowed: one of %s%s", s, strings.Join(known, ", "), suggest(s, known))
		return
	}
	v.SetString(s)
}

func (d *decoder) boolean(t *tree, at string, v reflect.Value) {
	s, ok := d.scalar(t, at, "true or false", "")
	if !ok {
		return
	}
	switch strings.ToLower(s) {
	case "true", "yes", "on":
		v.SetBool(true)
	case "false", "no", "off":
		v.SetBool(false)
	default:
		d.failf(t.line, at, "must be true or false, got %s", t.what())
	}
}

func (d *decoder) integer(t *tree, at string, v reflect.Value, tag reflect.StructTag) {
	s, ok := d.scalar(t, at, "a whole number", tag)
	if !ok {
		return
	}
	i, err := strconv.ParseInt(s, 0, 64)
	if err != nil { // 600.0 and 1e3 are whole numbers too
		f, ferr := strconv.ParseFloat(s, 64)
		if ferr != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			d.failf(t.line, at, "must be a whole number, got %s", t.what())
			return
		}
		i = int64(f)
	}
	if d.inRange(t, at, float64(i), tag) {
		v.SetInt(i)
	}
}

func (d *decoder) float(t *tree, at string, v reflect.Value, tag reflect.StructTag) {
	if f, ok := d.number(t, at, "a number", tag); ok {
		v.SetFloat(f)
	}
}

func (d *decoder) duration(t *tree, at string, v reflect.Value, tag reflect.StructTag) {
	unit, name := time.Second, "a number of seconds"
	if tag.Get("unit") == "ms" {
		unit, name = time.Millisecond, "a number of milliseconds"
	}
	f, ok := d.number(t, at, name, tag)
	if !ok {
		return
	}
	if f *= float64(unit); f > float64(10*365*24*time.Hour) {
		d.failf(t.line, at, "must be %s below ten years, got %s", name, t.what())
		return
	}
	v.SetInt(max(int64(f), 1))
}

func (d *decoder) number(t *tree, at, want string, tag reflect.StructTag) (float64, bool) {
	s, ok := d.scalar(t, at, want, tag)
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		d.failf(t.line, at, "must be %s, got %s", want, t.what())
		return 0, false
	}
	return f, d.inRange(t, at, f, tag)
}

func (d *decoder) inRange(t *tree, at string, f float64, tag reflect.StructTag) bool {
	r := tag.Get("allow")
	if r == "" || within(r, f) {
		return true
	}
	d.failf(t.line, at, "must be %s, got %s", describeRange(r), t.what())
	return false
}

// scalar returns the text of a scalar with its variable replaced.
func (d *decoder) scalar(t *tree, at, want string, tag reflect.StructTag) (string, bool) {
	if t.kind != yaml.ScalarNode {
		d.failf(t.line, at, "must be %s, got %s", want, t.what())
		return "", false
	}
	before := len(d.problems)
	s := d.expand(t, at, tag.Get("unset"))
	unresolved := s == "" && t.text != "" && want != "text"
	return s, !unresolved && len(d.problems) == before
}

// expand replaces a text that is $NAME or ${NAME} as a whole by the variable's value.
func (d *decoder) expand(t *tree, at, unset string) string {
	name, ok := variable(t.text)
	if !ok {
		return t.text
	}
	if v, set := d.env.Lookup(name); set {
		return v
	}
	if unset == "empty" {
		return ""
	}
	err := &Error{File: d.file, Line: t.line, Key: at,
		Text: fmt.Sprintf("the variable %s is not set: export it, or put %s=... into a .env file beside the "+
			"configuration", name, name)}
	if d.unset != nil {
		d.unset(err)
	} else {
		d.problems = append(d.problems, err)
	}
	return ""
}

func variable(s string) (string, bool) {
	name, ok := strings.CutPrefix(s, "$")
	if strings.HasPrefix(name, "{") && strings.HasSuffix(name, "}") {
		name = name[1 : len(name)-1]
	}
	return name, ok && envName.MatchString(name)
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// schema is what the tags of a struct say.
type schema struct {
	fields       map[string]int // key or alias -> field
	required     map[int]string
	names        []string
	known, later []string
}

func schemaOf(t reflect.Type) schema {
	s := schema{fields: map[string]int{}, required: map[int]string{}}
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		keys := tag.Get("key")
		if keys == "" {
			continue
		}
		for k := range strings.SplitSeq(keys, ",") {
			s.fields[k] = i
		}
		if tag.Get("required") == "true" {
			s.required[i], _, _ = strings.Cut(keys, ",")
		}
		if keys == "*" {
			s.known = strings.Split(tag.Get("known"), ",")
			s.later = strings.Split(tag.Get("later"), ",")
		}
	}
	for k := range maps.Keys(s.fields) {
		if k != "*" && !strings.HasPrefix(k, "@") {
			s.names = append(s.names, k)
		}
	}
	return s
}

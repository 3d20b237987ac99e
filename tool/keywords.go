package tool

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// keywordReader fills one schema from the keywords of its JSON object. The first error sticks.
type keywordReader struct {
	b     *schemaBuilder
	s     *Schema
	v     *value
	at    string
	depth int
	err   error
}

func (r *keywordReader) readAll() {
	s := r.s
	r.types()
	s.enum = r.values("enum")
	s.constant = r.v.get("const")
	s.preset = r.v.get("default")
	s.ref = r.str("$ref")

	s.properties, s.names = r.schemas("properties")
	r.schemas("$defs")
	r.schemas("definitions")
	s.required = r.names("required")
	if r.v.get("patternProperties") == nil { // else we cannot tell which properties are additional
		s.additional = r.schema("additionalProperties")
	}
	r.arrayItems()
	s.allOf, s.anyOf, s.oneOf = r.list("allOf"), r.list("anyOf"), r.list("oneOf")

	s.minimum, s.maximum = r.number("minimum"), r.number("maximum")
	s.above, s.below = r.number("exclusiveMinimum"), r.number("exclusiveMaximum")
	s.minLength, s.maxLength = r.count("minLength"), r.count("maxLength")
	s.minItems, s.maxItems = r.count("minItems"), r.count("maxItems")
	if p := r.str("pattern"); p != "" {
		s.pattern, _ = regexp.Compile(p)
	}
}

func (r *keywordReader) fail(keyword, want string, got *value) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %q must be %s, not %s", r.at, keyword, want, found(got))
	}
}

var typeNames = map[string]kinds{
	"null": isNull, "boolean": isBool, "integer": isInteger, "number": numbers,
	"string": isString, "array": isArray, "object": isObject,
}

func (r *keywordReader) types() {
	v := r.v.get("type")
	if v == nil {
		return
	}
	list := []value{*v}
	if v.kind == isArray {
		list = v.items
	}
	r.s.types = noKind
	for i := range list {
		if list[i].kind != isString || typeNames[list[i].str()] == noKind {
			r.fail("type", "the name of a JSON type or a list of them", &list[i])
			return
		}
		r.s.types |= typeNames[list[i].str()]
	}
}

// get is the value of a keyword, if it is there and of a kind that it may have.
func (r *keywordReader) get(keyword string, allowed kinds, want string) *value {
	v := r.v.get(keyword)
	if v != nil && !allowed.has(v.kind) {
		r.fail(keyword, want, v)
		return nil
	}
	return v
}

func (r *keywordReader) values(keyword string) []value {
	v := r.get(keyword, isArray, "a list")
	if v == nil {
		return nil
	}
	return append([]value{}, v.items...)
}

func (r *keywordReader) str(keyword string) string {
	v := r.get(keyword, isString, "a string")
	if v == nil {
		return ""
	}
	return v.str()
}

// names reads a list of strings. A boolean, a property's own mark in draft 3, is ignored.
func (r *keywordReader) names(keyword string) []string {
	const want = "a list of strings"
	v := r.get(keyword, isArray|isBool, want)
	if v == nil || v.kind == isBool {
		return nil
	}
	if kindsOf(v.items)&^isString != 0 {
		r.fail(keyword, want, v)
		return nil
	}
	names := make([]string, len(v.items))
	for i := range v.items {
		names[i] = v.items[i].str()
	}
	return names
}

// number reads a bound. A boolean exclusive bound, as older drafts had it, is ignored.
func (r *keywordReader) number(keyword string) *big.Float {
	v := r.get(keyword, numbers|isBool, "a number")
	if v == nil || v.kind == isBool {
		return nil
	}
	return v.number()
}

func (r *keywordReader) count(keyword string) *int {
	const want = "an integer"
	v := r.get(keyword, isInteger, want)
	if v == nil {
		return nil
	}
	text, _ := plainInteger(v.number())
	n, err := strconv.Atoi(text)
	if err != nil {
		r.fail(keyword, want, v)
		return nil
	}
	return &n
}

// pointerEscaper writes a name as a part of a JSON pointer.
var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

func (r *keywordReader) sub(v *value, at string) *Schema {
	s, err := r.b.build(v, at, r.depth+1)
	if r.err == nil {
		r.err = err
	}
	return s
}

func (r *keywordReader) schema(keyword string) *Schema {
	v := r.v.get(keyword)
	if v == nil {
		return nil
	}
	return r.sub(v, r.at+"/"+keyword)
}

func (r *keywordReader) schemas(keyword string) (map[string]*Schema, []string) {
	v := r.get(keyword, isObject, "an object of schemas")
	if v == nil {
		return nil, nil
	}
	subs := make(map[string]*Schema, len(v.fields))
	names := make([]string, len(v.fields))
	for i, f := range v.fields {
		names[i] = f.name
		subs[f.name] = r.sub(&v.fields[i].val, r.at+"/"+keyword+"/"+pointerEscaper.Replace(f.name))
	}
	return subs, names
}

func (r *keywordReader) list(keyword string) []*Schema {
	const want = "a list of schemas that is not empty"
	v := r.get(keyword, isArray, want)
	if v == nil {
		return nil
	}
	if len(v.items) == 0 {
		r.fail(keyword, want, v)
		return nil
	}
	subs := make([]*Schema, len(v.items))
	for i := range v.items {
		subs[i] = r.sub(&v.items[i], fmt.Sprintf("%s/%s/%d", r.at, keyword, i))
	}
	return subs
}

// arrayItems reads items. A list of schemas, as older drafts had it, and prefixItems say nothing that we check.
func (r *keywordReader) arrayItems() {
	if v := r.v.get("items"); v != nil && v.kind != isArray {
		r.s.items = r.schema("items")
	}
	if v := r.v.get("prefixItems"); v != nil {
		r.s.itemsFrom = len(v.items)
	}
}

package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// kinds is a set of JSON types. A number that has no fraction is an integer, any other a number: a schema that wants
// numbers has both bits.
type kinds uint8

const (
	isNull kinds = 1 << iota
	isBool
	isInteger
	isNumber
	isString
	isArray
	isObject

	noKind   kinds = 0
	numbers        = isInteger | isNumber
	scalars        = isBool | numbers | isString
	anyKinds       = isNull | scalars | isArray | isObject
)

func (k kinds) has(other kinds) bool { return k&other != 0 }

// value is a JSON value that remembers how it was written, so that what nobody repairs keeps its bytes, its numbers
// their digits and its objects their order. Values are not changed once they are parsed; a repair makes a new one.
type value struct {
	kind   kinds // one bit
	raw    []byte
	items  []value
	fields []field
	index  map[string]int // of large objects
}

type field struct {
	name string
	val  value
}

// Bounds of the arguments and schemas that are read.
const (
	maxArgsBytes = 8 << 20
	maxArgsDepth = 100
	maxValues    = 1 << 20
)

var (
	errTooDeep = errors.New("nested too deeply")
	errTooMany = fmt.Errorf("more than %d values", maxValues)
)

// parseValue reads one JSON value whose containers nest no deeper than depth.
func parseValue(raw []byte, depth int) (value, error) {
	if !json.Valid(raw) {
		return value{}, syntaxError(raw)
	}
	p := parser{b: raw, left: maxValues}
	return p.value(depth)
}

// syntaxError asks encoding/json what is wrong with raw.
func syntaxError(raw []byte) error {
	var whole json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil {
		return err
	}
	return errTooDeep // unreachable while Valid and Unmarshal agree
}

// parser walks over bytes that are known to be valid JSON.
type parser struct {
	b    []byte
	i    int
	left int // values that may still come
}

func (p *parser) value(depth int) (value, error) {
	if p.left--; p.left < 0 {
		return value{}, errTooMany
	}
	p.space()
	start := p.i
	v, err := p.content(depth)
	v.raw = p.b[start:p.i:p.i]
	if v.kind == isNumber && isIntegral(v.raw) {
		v.kind = isInteger
	}
	return v, err
}

func (p *parser) content(depth int) (value, error) {
	switch p.b[p.i] {
	case '{':
		return p.object(depth - 1)
	case '[':
		return p.array(depth - 1)
	case '"':
		p.str()
		return value{kind: isString}, nil
	}
	kind := isNumber
	switch p.b[p.i] {
	case 't', 'f':
		kind = isBool
	case 'n':
		kind = isNull
	}
	for p.i < len(p.b) && !endsScalar(p.b[p.i]) {
		p.i++
	}
	return value{kind: kind}, nil
}

func endsScalar(b byte) bool {
	switch b {
	case ',', ']', '}', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

func (p *parser) array(depth int) (value, error) {
	v := value{kind: isArray}
	if depth < 0 {
		return v, errTooDeep
	}
	for p.i++; !p.closed(']'); {
		item, err := p.value(depth)
		if err != nil {
			return v, err
		}
		v.items = append(v.items, item)
	}
	return v, nil
}

func (p *parser) object(depth int) (value, error) {
	if depth < 0 {
		return value{}, errTooDeep
	}
	var o objectBuilder
	for p.i++; !p.closed('}'); {
		start := p.i
		p.str()
		name := unquote(p.b[start:p.i])
		p.space()
		p.i++ // the colon
		val, err := p.value(depth)
		if err != nil {
			return value{}, err
		}
		o.set(name, val)
	}
	return o.value(), nil
}

// closed skips space and a comma, and reports whether the container ends here, which it then steps over.
func (p *parser) closed(end byte) bool {
	p.space()
	if p.b[p.i] == ',' {
		p.i++
		p.space()
	}
	if p.b[p.i] != end {
		return false
	}
	p.i++
	return true
}

func (p *parser) space() {
	for p.i < len(p.b) && (p.b[p.i] == ' ' || p.b[p.i] == '\n' || p.b[p.i] == '\t' || p.b[p.i] == '\r') {
		p.i++
	}
}

// str steps over a string.
func (p *parser) str() {
	for p.i++; p.b[p.i] != '"'; p.i++ {
		if p.b[p.i] == '\\' {
			p.i++
		}
	}
	p.i++
}

// objectBuilder collects fields; the last value of a name wins, as in encoding/json.
type objectBuilder struct {
	fields []field
	index  map[string]int
}

const (
	// usualFields is how many fields most objects have at most.
	usualFields = 4
	// indexFrom is the number of fields from which on a map finds them faster than a look at each.
	indexFrom = 16
)

func (o *objectBuilder) set(name string, val value) {
	v := value{fields: o.fields, index: o.index}
	if i := v.find(name); i >= 0 {
		o.fields[i].val = val
		return
	}
	if o.fields == nil {
		o.fields = make([]field, 0, usualFields)
	}
	o.fields = append(o.fields, field{name, val})
	switch {
	case o.index != nil:
		o.index[name] = len(o.fields) - 1
	case len(o.fields) == indexFrom:
		o.index = make(map[string]int, 2*indexFrom)
		for i, f := range o.fields {
			o.index[f.name] = i
		}
	}
}

func (o *objectBuilder) value() value {
	return value{kind: isObject, fields: o.fields, index: o.index}
}

// find returns the position of an object's field, or -1.
func (v *value) find(name string) int {
	if v.index != nil {
		if i, ok := v.index[name]; ok {
			return i
		}
		return -1
	}
	for i := range v.fields {
		if v.fields[i].name == name {
			return i
		}
	}
	return -1
}

// get returns an object's field, or nil.
func (v *value) get(name string) *value {
	if i := v.find(name); i >= 0 {
		return &v.fields[i].val
	}
	return nil
}

// str returns the text of a string value.
func (v *value) str() string { return unquote(v.raw) }

// unquote decodes a JSON string.
func unquote(raw []byte) string {
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var s string
	_ = json.Unmarshal(raw, &s) // raw is valid JSON
	return s
}

// equal compares as JSON Schema does: numbers by value, objects without regard to order.
func (v *value) equal(w *value) bool {
	if v.kind != w.kind || len(v.items) != len(w.items) || len(v.fields) != len(w.fields) {
		return false
	}
	switch v.kind {
	case isInteger, isNumber:
		return v.number() == w.number()
	case isString:
		return v.str() == w.str()
	case isBool:
		return bytes.Equal(v.raw, w.raw)
	}
	for i := range v.items {
		if !v.items[i].equal(&w.items[i]) {
			return false
		}
	}
	for i := range v.fields {
		other := w.get(v.fields[i].name)
		if other == nil || !v.fields[i].val.equal(other) {
			return false
		}
	}
	return true
}

func (v *value) number() decimal { return parseDecimal(string(v.raw)) }

// isIntegral reports whether a number has no fraction.
func isIntegral(raw []byte) bool {
	return isPlain(raw) || parseDecimal(string(raw)).integral()
}

// isPlain reports whether a number is written as integer types read it: without point and exponent, and not "-0".
func isPlain(raw []byte) bool {
	if len(raw) > 1 && raw[0] == '-' && raw[1] == '0' {
		return false
	}
	for _, b := range raw {
		if b == '.' || b == 'e' || b == 'E' {
			return false
		}
	}
	return true
}

// scalarValue makes a value of the text of a JSON scalar.
func scalarValue(kind kinds, raw string) value { return value{kind: kind, raw: []byte(raw)} }

// arrayValue makes an array of values that have their bytes.
func arrayValue(items []value) value {
	b := []byte{'['}
	for i := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, items[i].raw...)
	}
	return value{kind: isArray, items: items, raw: append(b, ']')}
}

// objectValue makes an object of fields that have their bytes.
func objectValue(fields []field) value {
	var o objectBuilder
	b := []byte{'{'}
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, quote(f.name)...), ':')
		b = append(b, f.val.raw...)
		o.set(f.name, f.val)
	}
	v := o.value()
	v.raw = append(b, '}')
	return v
}

// quote writes a JSON string, leaving <, > and & alone.
func quote(s string) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always can be
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

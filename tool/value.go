package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
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
	p := parser{scan: rawjson.Scan(raw), left: maxValues}
	v := p.value(depth)
	switch {
	case p.err != nil && json.Valid(raw):
		return value{}, p.err
	case p.err != nil || !p.scan.End():
		return value{}, syntaxError(raw)
	}
	return v, nil
}

// syntaxError asks encoding/json what is wrong with raw.
func syntaxError(raw []byte) error {
	var whole json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil {
		return err
	}
	return errTooDeep // unreachable while the scanner and Unmarshal agree
}

// parser makes values of what the scanner finds. What is beyond its bounds sets err.
type parser struct {
	scan rawjson.Scanner
	left int // values that may still come
	err  error
}

func (p *parser) fail(err error) value {
	p.err = err
	p.scan.Fail()
	return value{}
}

func (p *parser) value(depth int) (v value) {
	if p.left--; p.left < 0 {
		return p.fail(errTooMany)
	}
	first, start := p.scan.Peek(), p.scan.At()
	if depth == 0 && (first == '{' || first == '[') {
		return p.fail(errTooDeep)
	}
	switch first {
	case '{':
		v.kind = isObject
		for name := p.scan.Object(); name != nil; name = p.scan.Next() {
			v.set(unquote(name), p.value(depth-1))
		}
	case '[':
		v.kind = isArray
		for more := p.scan.List(); more; more = p.scan.More() {
			v.items = append(v.items, p.value(depth-1))
		}
	default:
		v.raw = p.scan.Value()
		v.kind = scalarKind(v.raw)
		return v
	}
	v.raw = p.scan.Since(start)
	return v
}

func scalarKind(raw []byte) kinds {
	switch {
	case len(raw) == 0 || raw[0] == 'n':
		return isNull
	case raw[0] == '"':
		return isString
	case raw[0] == 't' || raw[0] == 'f':
		return isBool
	case isIntegral(raw):
		return isInteger
	}
	return isNumber
}

const (
	// usualFields is how many fields most objects have at most.
	usualFields = 4
	// indexFrom is the number of fields from which on a map finds them faster than a look at each.
	indexFrom = 16
)

// set adds a field to an object that is being made; the last value of a name wins, as in encoding/json.
func (v *value) set(name string, val value) {
	if i := v.find(name); i >= 0 {
		v.fields[i].val = val
		return
	}
	if v.fields == nil {
		v.fields = make([]field, 0, usualFields)
	}
	v.fields = append(v.fields, field{name, val})
	switch {
	case v.index != nil:
		v.index[name] = len(v.fields) - 1
	case len(v.fields) == indexFrom:
		v.index = make(map[string]int, 2*indexFrom)
		for i, f := range v.fields {
			v.index[f.name] = i
		}
	}
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
func (v *value) str() string { return unquote(v.raw[1 : len(v.raw)-1]) }

// unquote decodes what stands between the quotes of a JSON string.
func unquote(inner []byte) string {
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	s, _ := rawjson.String(append(append([]byte{'"'}, inner...), '"'))
	return s
}

// equal compares as JSON Schema does: numbers by value, objects without regard to order.
func (v *value) equal(w *value) bool {
	if v.kind != w.kind || len(v.items) != len(w.items) || len(v.fields) != len(w.fields) {
		return false
	}
	switch v.kind {
	case isInteger, isNumber:
		return v.number().Cmp(w.number()) == 0
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

func (v *value) number() *big.Float { return parseNumber(string(v.raw)) }

// isIntegral reports whether a number has no fraction.
func isIntegral(raw []byte) bool {
	return isPlain(raw) || parseNumber(string(raw)).IsInt()
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
	v := value{kind: isObject}
	b := []byte{'{'}
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, quote(f.name)...), ':')
		b = append(b, f.val.raw...)
		v.set(f.name, f.val)
	}
	v.raw = append(b, '}')
	return v
}

// quote writes a JSON string, leaving <, > and & alone.
func quote(s string) []byte { return rawjson.AppendString(nil, s) }

package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Schema is a parsed JSON Schema: the part of draft 2020-12 that tools use to describe their arguments. It knows
// type, properties, required, additionalProperties, items, enum, const, anyOf, oneOf, allOf, $ref within the schema,
// the bounds of numbers, lengths and counts, and pattern in Go's syntax. Any other keyword, and a pattern that Go
// cannot compile, constrains nothing. A Schema is immutable and may be used by many goroutines. Make one with
// [ParseSchema].
type Schema struct {
	raw   json.RawMessage // of the root
	never bool            // the schema false

	types    kinds
	enum     []value // nil: any value
	constant *value

	properties map[string]*Schema
	names      []string // of the properties, as written
	required   []string
	additional *Schema

	items     *Schema
	itemsFrom int // the items before it are another keyword's

	ref                 string
	target              *Schema // what ref means
	allOf, anyOf, oneOf []*Schema

	minimum, maximum, above, below           *big.Float
	minLength, maxLength, minItems, maxItems *int
	pattern                                  *regexp.Regexp

	preset *value // the default

	// Worked out from this schema and those that apply to the same value.
	fit         kinds // no value of another type can fit
	scalarItems bool  // the items of an array are scalars
}

// noParameters is the schema of a tool without arguments.
const noParameters = `{"type":"object","properties":{}}`

// Bounds of a schema.
const (
	maxSchemaBytes = 1 << 20
	maxSchemaDepth = 64
)

// ParseSchema reads a JSON Schema. Empty input means an object without properties. The error names the place of what
// cannot be used: JSON that is broken, larger than 1 MiB or nested more than 64 schemas deep, a keyword whose value
// has the wrong type, a $ref that points outside the schema, nowhere, or back to itself.
func ParseSchema(raw json.RawMessage) (*Schema, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage(noParameters)
	}
	if len(raw) > maxSchemaBytes {
		return nil, fmt.Errorf("parse schema: it has %d bytes, more than %d", len(raw), maxSchemaBytes)
	}
	raw = bytes.Clone(raw) // the values point into it
	root, err := parseValue(raw, 4*maxSchemaDepth)
	if err != nil {
		return nil, fmt.Errorf("parse schema: %w", err)
	}
	b := schemaBuilder{places: make(map[string]*Schema)}
	s, err := b.build(&root, "#", 0)
	if err == nil {
		err = b.link()
	}
	if err != nil {
		return nil, fmt.Errorf("parse schema: %w", err)
	}
	s.raw = raw
	return s, nil
}

// JSON returns the schema as it was written, unknown keywords included. The caller must not change it.
func (s *Schema) JSON() json.RawMessage { return s.raw }

// schemaBuilder turns JSON into schemas and remembers where each of them stands.
type schemaBuilder struct {
	places map[string]*Schema // by JSON pointer, such as #/properties/path
	order  []*Schema
}

func (b *schemaBuilder) build(v *value, at string, depth int) (*Schema, error) {
	s := &Schema{types: anyKinds}
	b.places[at] = s
	b.order = append(b.order, s)
	if v.kind == isBool {
		s.never = v.raw[0] == 'f'
		return s, nil
	}
	if v.kind != isObject {
		return nil, fmt.Errorf("%s: a schema must be an object, true or false, not %s", at, found(v))
	}
	if depth >= maxSchemaDepth {
		return nil, fmt.Errorf("%s: %w", at, errTooDeep)
	}
	r := keywordReader{b: b, s: s, v: v, at: at, depth: depth}
	r.readAll()
	return s, r.err
}

// link resolves every $ref and works out what depends on it.
func (b *schemaBuilder) link() error {
	for _, s := range b.order {
		if s.ref == "" {
			continue
		}
		if s.target = b.lookUp(s.ref); s.target == nil {
			return fmt.Errorf(
				"$ref %q leads nowhere; only places within the schema, such as #/$defs/name, can be used",
				s.ref,
			)
		}
	}
	w := schemaWalk{state: make(map[*Schema]bool, len(b.order))}
	for _, s := range b.order {
		if err := w.visit(s); err != nil {
			return err
		}
	}
	for _, s := range w.done { // items may be any schema, so only now is all known
		s.scalarItems = s.items != nil && s.items.fit != noKind && s.items.fit&^scalars == 0 ||
			slices.ContainsFunc(s.inPlace(), func(sub *Schema) bool { return sub.scalarItems })
	}
	return nil
}

func (b *schemaBuilder) lookUp(ref string) *Schema {
	if plain, err := url.PathUnescape(ref); err == nil {
		ref = plain
	}
	return b.places[strings.TrimSuffix(ref, "/")]
}

// schemaWalk visits schemas after those that apply to the same value. Its state has an entry for each schema that it
// came to, which is true once that is done.
type schemaWalk struct {
	state map[*Schema]bool
	done  []*Schema
}

func (w *schemaWalk) visit(s *Schema) error {
	if done, seen := w.state[s]; seen {
		if !done {
			return fmt.Errorf("$ref %q leads back to itself", s.ref)
		}
		return nil
	}
	w.state[s] = false
	for _, sub := range s.inPlace() {
		if err := w.visit(sub); err != nil {
			return err
		}
	}
	s.fit = s.possibleKinds()
	w.state[s] = true
	w.done = append(w.done, s)
	return nil
}

// inPlace returns the schemas that apply to the same value as s.
func (s *Schema) inPlace() []*Schema {
	var subs []*Schema
	if s.target != nil {
		subs = append(subs, s.target)
	}
	return append(append(append(subs, s.allOf...), s.anyOf...), s.oneOf...)
}

// possibleKinds returns the types that a value must have to fit, as far as they are known without looking at it.
func (s *Schema) possibleKinds() kinds {
	if s.never {
		return noKind
	}
	fit := s.types
	if s.enum != nil {
		fit &= kindsOf(s.enum)
	}
	if s.constant != nil {
		fit &= s.constant.kind
	}
	if s.target != nil {
		fit &= s.target.fit
	}
	for _, sub := range s.allOf {
		fit &= sub.fit
	}
	for _, choice := range [][]*Schema{s.anyOf, s.oneOf} {
		if choice == nil {
			continue
		}
		var some kinds
		for _, sub := range choice {
			some |= sub.fit
		}
		fit &= some
	}
	return fit
}

func kindsOf(values []value) kinds {
	var k kinds
	for i := range values {
		k |= values[i].kind
	}
	return k
}

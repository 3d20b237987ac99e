package database

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// maxWanted bounds the members that a filter asks for.
const maxWanted = 64

// member is a member that a filter wants a JSON object to have.
type member struct {
	name  string
	value json.RawMessage
}

// Wanted are the members that a filter wants; an object without one of them does not match. JSON is compared here, not
// by the database: each has its own idea of equal numbers, of strings with a NUL, and of names with odd characters.
type Wanted []member

// NewWanted checks the members of a filter. Only scalars are allowed unless deep is true.
func NewWanted(m map[string]json.RawMessage, deep bool) (Wanted, error) {
	if len(m) > maxWanted {
		return nil, fmt.Errorf("filter has %d members, more than %d", len(m), maxWanted)
	}
	var w Wanted
	for _, name := range slices.Sorted(maps.Keys(m)) {
		raw := bytes.TrimSpace([]byte(Plain(string(m[name]))))
		if !json.Valid(raw) {
			return nil, fmt.Errorf("filter: %.40q is not JSON: %.40s", name, raw)
		}
		if !deep && (raw[0] == '{' || raw[0] == '[') {
			return nil, fmt.Errorf("filter: %.40q is %s; use a string, a number, a boolean or null", name,
				rawjson.Kind(raw))
		}
		w = append(w, member{Plain(name), raw})
	}
	return w, nil
}

// Matches reports whether a JSON object has every member.
func (w Wanted) Matches(object []byte) bool {
	if len(w) == 0 {
		return true
	}
	members, _ := rawjson.Members(object)
	for _, m := range w {
		if raw, ok := members[m.name]; !ok || !sameJSON(raw, m.value) {
			return false
		}
	}
	return true
}

// Signature are the bits that the signature of every object that matches has set.
func (w Wanted) Signature() (bits int64) {
	for _, m := range w {
		bits |= m.signature()
	}
	return bits
}

// Signature has a few bits set for each member of an object that is a scalar.
func Signature(object []byte) (bits int64) {
	members, _ := rawjson.Members(object)
	for name, value := range members {
		bits |= member{name, value}.signature()
	}
	return bits
}

// signature is the same for equal members. What is stored was made by it: it cannot be changed. The sign is never set.
func (m member) signature() (bits int64) {
	raw := bytes.TrimSpace(m.value)
	var value string
	switch s, isText := rawjson.String(raw); {
	case len(raw) == 0 || raw[0] == '{' || raw[0] == '[':
		return 0
	case isText:
		value = `"` + s
	case raw[0] == 't' || raw[0] == 'f' || raw[0] == 'n':
		value = string(raw)
	default:
		value = fmt.Sprint(decimalOf(raw))
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s%s", len(m.name), m.name, value)
	for sum, n := h.Sum64(), 0; n < 3; n++ {
		bits |= 1 << (sum % 63)
		sum /= 63
	}
	return bits
}

// sameJSON reports whether two JSON values are equal: of the same type, numbers by their value, objects whatever the
// order of their members.
func sameJSON(a, b []byte) bool {
	a, b = bytes.TrimSpace(a), bytes.TrimSpace(b)
	if bytes.Equal(a, b) {
		return true
	}
	if len(a) == 0 || len(b) == 0 || rawjson.Kind(a) != rawjson.Kind(b) {
		return false
	}
	switch a[0] {
	case '"':
		s, _ := rawjson.String(a)
		t, _ := rawjson.String(b)
		return s == t
	case '[':
		x, _ := rawjson.Elements(a)
		y, _ := rawjson.Elements(b)
		return slices.EqualFunc(x, y, func(a, b json.RawMessage) bool { return sameJSON(a, b) })
	case '{':
		x, _ := rawjson.Members(a)
		y, _ := rawjson.Members(b)
		return maps.EqualFunc(x, y, func(a, b json.RawMessage) bool { return sameJSON(a, b) })
	case 't', 'f', 'n':
		return false
	}
	return decimalOf(a) == decimalOf(b)
}

// decimal is a number as its digits, without zeros at either end, times ten to the power of exp. Zero has no digits.
type decimal struct {
	negative bool
	digits   string
	exp      int64
}

// decimalOf reads a JSON number exactly, however large.
func decimalOf(raw []byte) (d decimal) {
	rest, negative := strings.CutPrefix(string(raw), "-")
	mantissa, power, _ := strings.Cut(strings.ToLower(rest), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exp, err := strconv.ParseInt(strings.TrimPrefix(power, "+"), 10, 32)
	if err != nil && power != "" {
		return decimal{digits: string(raw)} // beyond every use; equal only to itself
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return decimal{}
	}
	return decimal{negative, short, exp - int64(len(fraction)) + int64(len(digits)-len(short))}
}

package message

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// checked returns raw once it is known to be valid JSON in valid UTF-8; the rest of the decoder relies on it.
func checked(raw []byte) ([]byte, error) {
	if !rawjson.Valid(raw) {
		var v json.RawMessage
		return nil, json.Unmarshal(raw, &v) // says where and why
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	return bytes.TrimLeft(raw, " \t\r\n"), nil
}

// reader takes the members of an object one by one; what is left at the end is unknown. After the first failure it
// goes on with zero values, and err names the member.
type reader struct {
	members Fields
	err     error
}

func read(raw []byte) (reader, error) {
	members, ok := rawjson.Members(raw)
	if !ok {
		return reader{}, wanted("an object", raw)
	}
	return reader{members: members}, nil
}

func wanted(what string, raw []byte) error {
	return fmt.Errorf("must be %s, not %s", what, rawjson.Kind(raw))
}

func (r *reader) fail(name string, err error) {
	if r.err == nil && err != nil {
		r.err = fmt.Errorf("%s: %w", name, err)
	}
}

// take removes and returns a member; nil if it is missing or null.
func (r *reader) take(name string) json.RawMessage {
	raw := r.members[name]
	delete(r.members, name)
	if len(raw) == 0 || raw[0] == 'n' {
		return nil
	}
	return raw
}

// string takes a string that may be missing or null.
func (r *reader) string(name string) string {
	raw := r.take(name)
	if raw == nil {
		return ""
	}
	s, ok := rawjson.String(raw)
	if !ok {
		r.fail(name, wanted("a string", raw))
	}
	return s
}

var errMissing = errors.New("is missing")

// must takes a string that has to be there, though it may be empty.
func (r *reader) must(name string) string {
	if _, ok := r.members[name]; !ok {
		r.fail(name, errMissing)
	}
	return r.string(name)
}

func (r *reader) int(name string) int {
	raw := r.take(name)
	if raw == nil {
		return 0
	}
	n, err := strconv.Atoi(string(raw))
	if err != nil {
		r.fail(name, fmt.Errorf("must be an integer, not %.40s", raw))
	}
	return n
}

// object takes an object to be read further; nil if it is missing, null or none.
func (r *reader) object(name string) *reader {
	raw := r.take(name)
	if raw == nil {
		return nil
	}
	in, err := read(raw)
	if err != nil {
		r.fail(name, err)
		return nil
	}
	return &in
}

// fields takes an object that is carried as it is; nil if it has no members.
func (r *reader) fields(name string) Fields {
	in := r.object(name)
	if in == nil {
		return nil
	}
	return in.rest()
}

// list takes a list that may be missing or null.
func (r *reader) list(name string) []json.RawMessage {
	raw := r.take(name)
	if raw == nil {
		return nil
	}
	list, ok := rawjson.Elements(raw)
	switch {
	case !ok:
		r.fail(name, wanted("a list", raw))
	case len(list) > maxParts:
		r.fail(name, errTooMany)
		return nil
	}
	return list
}

// rest returns a copy of the members that nobody took; nil if there are none.
func (r *reader) rest() Fields {
	if len(r.members) == 0 {
		return nil
	}
	for name, raw := range r.members {
		r.members[name] = clone(raw)
	}
	return r.members
}

// clone copies a value out of the decoder's input, which belongs to the caller.
func clone(raw json.RawMessage) json.RawMessage { return bytes.Clone(raw) }

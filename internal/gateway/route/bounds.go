package route

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// What requests of several groups bring, each thing within its bounds: texts, pages, metadata, and filters on it.

// Bounds of what a client says about a thing, and of what it searches for.
const (
	MaxMetadata = 64 << 10 // bytes
	MaxFilter   = 64       // members that a filter asks for
)

// Text is a string of at most so many bytes. It has no NUL: no database keeps one.
func (in *Input) Text(name string, most int) string {
	s := in.Str(name)
	switch {
	case len(s) > most:
		in.Add("string_too_long", fmt.Sprintf("String should have at most %d bytes", most), Quoted(in.Raw(name)),
			in.Loc(name)...).
			Ctx = map[string]any{"max_length": most}
	case strings.ContainsRune(s, 0):
		in.Add("value_error", "Value error, String should not contain NUL", Quoted(in.Raw(name)), in.Loc(name)...)
	}
	return s
}

// Bounded is an object of at most so many bytes; nil if it is missing.
func (in *Input) Bounded(name string, most int) json.RawMessage {
	raw := in.RawObject(name)
	if len(raw) > most {
		in.Add("too_long", fmt.Sprintf("Dictionary should have at most %d bytes of JSON", most), nil, in.Loc(name)...).
			Ctx = map[string]any{"max_length": most}
		return nil
	}
	return raw
}

// Metadata is what a client says about a thing, without the members that are not the client's to set: who owns it, and
// a secret that nobody may keep. nil if it is missing.
func (in *Input) Metadata(name string) json.RawMessage {
	raw := in.Bounded(name, MaxMetadata)
	members, ok := rawjson.Members(raw)
	if !ok {
		return nil
	}
	for _, reserved := range []string{"user_id", "owner_id", "auth_token"} {
		delete(members, reserved)
	}
	return Object(members)
}

// Object makes a JSON object of members that are JSON.
func Object(members map[string]json.RawMessage) json.RawMessage {
	o := rawjson.Begin(nil)
	o.Members(members)
	out, _ := o.End() // they were checked to be JSON
	return out
}

var filterKey = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// Filter are the members that the metadata of what is searched must have: scalars, each equal in type and value.
func (in *Input) Filter(name string) map[string]json.RawMessage {
	members := in.MembersOf(name)
	var wrong []string
	for _, key := range slices.Sorted(maps.Keys(members)) {
		switch {
		case !filterKey.MatchString(key):
			wrong = append(wrong, fmt.Sprintf("'%s' (unsafe key)", Clip(key)))
		case members[key][0] == '[':
			wrong = append(wrong, fmt.Sprintf("'%s' (unsupported value type list)", key))
		case members[key][0] == '{':
			wrong = append(wrong, fmt.Sprintf("'%s' (unsupported value type dict)", key))
		}
	}
	if len(members) > MaxFilter {
		wrong = []string{fmt.Sprintf("more than %d", MaxFilter)}
	}
	if wrong != nil {
		in.Add("value_error", "Value error, Invalid metadata filter entries: "+strings.Join(wrong, ", "),
			Quoted(in.Raw(name)), in.Loc(name)...).
			Ctx = map[string]any{"error": struct{}{}}
		return nil
	}
	return members
}

// MembersOf are the members of a member that is an object.
func (in *Input) MembersOf(name string) map[string]json.RawMessage { return in.Object(name).Members }

// Inputs are the objects of a list, for reading.
func (in *Input) Inputs(name string, most int) []*Input {
	v := in.Raw(name)
	if v == nil {
		return nil
	}
	list, ok := rawjson.Elements(v)
	switch {
	case !ok:
		in.Add("list_type", "Input should be a valid list", Quoted(v), in.Loc(name)...)
		return nil
	case len(list) > most:
		in.Add("too_long", fmt.Sprintf("List should have at most %d items", most), nil, in.Loc(name)...)
		return nil
	}
	out := make([]*Input, len(list))
	for i, raw := range list {
		out[i] = &Input{At: append(in.Loc(name), i), request: in.request}
		if members, ok := rawjson.Members(raw); ok {
			out[i].Members = members
			continue
		}
		in.Add("dict_type", "Input should be a valid dictionary", Quoted(raw), out[i].At...)
	}
	return out
}

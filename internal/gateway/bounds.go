package gateway

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// What requests of several groups bring, each thing within its bounds: texts, pages, metadata, and filters on it.

const (
	maxOffset   = 1 << 30
	maxMetadata = 64 << 10 // bytes
	maxFilter   = 64       // members that a filter asks for
	maxSelect   = 64       // members that an answer shall have
)

// text is a string of at most so many bytes. It has no NUL: no database keeps one.
func (in *input) text(name string, most int) string {
	s := in.str(name)
	switch {
	case len(s) > most:
		in.add("string_too_long", fmt.Sprintf("String should have at most %d bytes", most), quoted(in.raw(name)), in.loc(name)...).
			Ctx = map[string]any{"max_length": most}
	case strings.ContainsRune(s, 0):
		in.add("value_error", "Value error, String should not contain NUL", quoted(in.raw(name)), in.loc(name)...)
	}
	return s
}

// bounded is an object of at most so many bytes; nil if it is missing.
func (in *input) bounded(name string, most int) json.RawMessage {
	raw := in.rawObject(name)
	if len(raw) > most {
		in.add("too_long", fmt.Sprintf("Dictionary should have at most %d bytes of JSON", most), nil, in.loc(name)...).
			Ctx = map[string]any{"max_length": most}
		return nil
	}
	return raw
}

// metadata is what a client says about a thing, without the members that are not the client's to set: who owns it, and
// a secret that nobody may keep. nil if it is missing.
func (in *input) metadata(name string) json.RawMessage {
	raw := in.bounded(name, maxMetadata)
	members, ok := rawjson.Members(raw)
	if !ok {
		return nil
	}
	for _, reserved := range []string{"user_id", "owner_id", "auth_token"} {
		delete(members, reserved)
	}
	return object(members)
}

// object makes a JSON object of members that are JSON.
func object(members map[string]json.RawMessage) json.RawMessage {
	o := rawjson.Begin(nil)
	o.Members(members)
	out, _ := o.End() // they were checked to be JSON
	return out
}

var filterKey = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// filter are the members that the metadata of what is searched must have: scalars, each equal in type and value.
func (in *input) filter(name string) map[string]json.RawMessage {
	members := in.membersOf(name)
	var wrong []string
	for _, key := range slices.Sorted(maps.Keys(members)) {
		switch {
		case !filterKey.MatchString(key):
			wrong = append(wrong, fmt.Sprintf("'%s' (unsafe key)", clip(key)))
		case members[key][0] == '[':
			wrong = append(wrong, fmt.Sprintf("'%s' (unsupported value type list)", key))
		case members[key][0] == '{':
			wrong = append(wrong, fmt.Sprintf("'%s' (unsupported value type dict)", key))
		}
	}
	if len(members) > maxFilter {
		wrong = []string{fmt.Sprintf("more than %d", maxFilter)}
	}
	if wrong != nil {
		in.add("value_error", "Value error, Invalid metadata filter entries: "+strings.Join(wrong, ", "), quoted(in.raw(name)), in.loc(name)...).
			Ctx = map[string]any{"error": struct{}{}}
		return nil
	}
	return members
}

// membersOf are the members of a member that is an object.
func (in *input) membersOf(name string) map[string]json.RawMessage {
	sub := in.object(name)
	in.faults = append(in.faults, sub.faults...)
	return sub.members
}

// page is the part of a list that a client wants to see.
type page struct{ limit, offset int }

func (in *input) page(limit int) page {
	return page{in.integer("limit", limit, 1, 1000), in.integer("offset", 0, 0, maxOffset)}
}

// cut tells the client where its page stands, of which one entry more was read if there is one, and returns how many
// entries the page has. The total is what is known: what was seen so far, and one more if there is more.
func (p page) cut(w http.ResponseWriter, n int) int {
	w.Header().Set("X-Pagination-Total", strconv.Itoa(p.offset+n))
	if n > p.limit {
		w.Header().Set("X-Pagination-Next", strconv.Itoa(p.offset+p.limit))
	}
	return min(n, p.limit)
}

// replyList answers with a list, of each entry the selected members, or all without a selection.
func replyList[T any](w http.ResponseWriter, list []T, selected []string) error {
	if selected == nil {
		return reply(w, http.StatusOK, list)
	}
	out := make([]map[string]json.RawMessage, len(list))
	for i, entry := range list {
		raw, err := json.Marshal(entry)
		if err == nil {
			err = json.Unmarshal(raw, &out[i])
		}
		if err != nil {
			return fmt.Errorf("encode answer: %w", err)
		}
		maps.DeleteFunc(out[i], func(name string, _ json.RawMessage) bool { return !slices.Contains(selected, name) })
	}
	return reply(w, http.StatusOK, out)
}

// inputs are the objects of a list, for reading.
func (in *input) inputs(name string, most int) []*input {
	v := in.raw(name)
	if v == nil {
		return nil
	}
	list, ok := rawjson.Elements(v)
	switch {
	case !ok:
		in.add("list_type", "Input should be a valid list", quoted(v), in.loc(name)...)
		return nil
	case len(list) > most:
		in.add("too_long", fmt.Sprintf("List should have at most %d items", most), nil, in.loc(name)...)
		return nil
	}
	out := make([]*input, len(list))
	for i, raw := range list {
		out[i] = &input{at: append(in.loc(name), i)}
		if members, ok := rawjson.Members(raw); ok {
			out[i].members = members
			continue
		}
		in.add("dict_type", "Input should be a valid dictionary", quoted(raw), out[i].at...)
	}
	return out
}

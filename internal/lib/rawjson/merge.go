package rawjson

import (
	"encoding/json"
	"maps"
	"slices"
)

// Merge lays the fields of over on those of base, neither of which is changed: where both have an object, member by
// member at any depth, and anything else in place of what was there. null takes a field away. What is taken over stays
// as it is written, byte for byte, an object and the nulls in it too where there was none before; merged objects have
// their members in the order of their names, so that they are the same each time.
func Merge(base, over map[string]json.RawMessage) map[string]json.RawMessage {
	return merge(base, over, false)
}

// Stack makes one overlay of two in the way of [Merge], but null stays, as what it takes away is in the base that comes
// later.
func Stack(under, over map[string]json.RawMessage) map[string]json.RawMessage {
	return merge(under, over, true)
}

func merge(base, over map[string]json.RawMessage, keepNull bool) map[string]json.RawMessage {
	out := maps.Clone(base)
	if out == nil {
		out = make(map[string]json.RawMessage, len(over))
	}
	for name, value := range over {
		if string(value) == "null" && !keepNull {
			delete(out, name)
			continue
		}
		out[name] = mergeValue(out[name], value, keepNull)
	}
	return out
}

func mergeValue(base, over json.RawMessage, keepNull bool) json.RawMessage {
	members, ok := Members(over)
	if !ok {
		return over
	}
	below, ok := Members(base)
	if !ok {
		return over
	}
	return FromMembers(merge(below, members, keepNull))
}

// MergeValue is what [Merge] makes of one field of both sides.
func MergeValue(base, over json.RawMessage) json.RawMessage { return mergeValue(base, over, false) }

// FromMembers writes an object of members, in the order of their names. The values, which must be valid JSON, stay byte
// for byte; empty ones are left out.
func FromMembers(m map[string]json.RawMessage) json.RawMessage {
	room := 2
	names := make([]string, 0, len(m))
	for name, value := range m {
		names = append(names, name)
		room += len(name) + len(value) + len(`"":,`)
	}
	slices.Sort(names)
	b := append(make([]byte, 0, room), '{')
	for _, name := range names {
		if len(m[name]) == 0 {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(AppendString(b, name), ':'), m[name]...)
	}
	return append(b, '}')
}

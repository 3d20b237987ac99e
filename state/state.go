// Package state holds a thread's state: an open set of typed channels. A channel is declared once, next to the
// feature that owns it; hooks and tools read it with Get and return an [Update] that [State.Apply] merges.
//
//	var Title = state.LastValue[string]("title")
//	title := Title.Get(s)
//	return agent.Command{Update: Title.Put("Sales 2026")}, nil
//
// There are three kinds of channel: [LastValue], [Reduced] (a pure reducer merges updates) and [Log] (a list of
// identified items that changes by operations). State is an immutable value: Apply returns the next one. Updates and
// values have a JSON form, which is what the store keeps and what clients see; a value is encoded once and decoded
// on first use, and a channel that nobody declared passes through untouched. [Schema.LoadSnapshot] and [State.Replay]
// read a state back from what is stored.
package state

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// State is the value of all channels at one moment. The zero value is the empty state. States are immutable and may
// be shared between goroutines.
type State struct {
	cells map[string]cell
	chans map[string]AnyChannel
	// mixed: some value was written by another channel than chans has, or before that was declared. Read back from its
	// stored form by one schema, it may be another value.
	mixed bool
}

// Apply returns the state after the update and the names of the channels that it wrote, in order of first write.
// On error s is unchanged and no part of the update took effect.
func (s State) Apply(u Update) (next State, changed []string, err error) {
	if len(u) == 0 {
		return s, nil, nil
	}
	next = State{cells: maps.Clone(s.cells), chans: s.chans, mixed: s.mixed}
	if next.cells == nil {
		next.cells = make(map[string]cell, len(u))
	}
	for _, w := range u {
		name := w.ch.Name()
		if w, err = next.typed(w); err != nil {
			return s, nil, err
		}
		next.mixed = next.mixed || next.mixes(w.ch)
		c, err := w.ch.apply(next.cells[name], w)
		if err != nil {
			return s, nil, err
		}
		if c == nil {
			delete(next.cells, name)
		} else {
			next.cells[name] = c
		}
		next.declare(s.chans, w.ch)
		if !slices.Contains(changed, name) {
			changed = append(changed, name)
		}
	}
	return next, changed, nil
}

// typed reads a write of an undeclared channel with the channel that the state knows by its name.
func (s *State) typed(w write) (write, error) {
	ch := s.chans[w.ch.Name()]
	if _, undeclared := w.ch.(passthrough); !undeclared || ch == nil {
		return w, nil
	}
	raw, err := w.enc.bytes()
	if err != nil {
		return write{}, err
	}
	return ch.decodeWrite(w.op, raw)
}

// mixes reports whether a write by ch makes s mixed.
func (s State) mixes(ch AnyChannel) bool {
	if _, undeclared := ch.(passthrough); undeclared {
		return false
	}
	known := s.chans[ch.Name()]
	return known != ch && (known != nil || s.Has(ch.Name()))
}

// declare remembers a declared channel, copying the shared map when it is new.
func (s *State) declare(shared map[string]AnyChannel, ch AnyChannel) {
	if _, undeclared := ch.(passthrough); undeclared || s.chans[ch.Name()] != nil {
		return
	}
	if len(s.chans) == len(shared) { // still the shared map
		s.chans = maps.Clone(shared)
	}
	if s.chans == nil {
		s.chans = make(map[string]AnyChannel)
	}
	s.chans[ch.Name()] = ch
}

// ReadBy reports whether s is what the schema reads back from the stored form of s, channel by channel: then it can
// take the place of a state that was loaded. It returns s with exactly the channels that the schema declares.
func (s State) ReadBy(schema Schema) (State, bool) {
	if s.mixed {
		return State{}, false
	}
	for name := range s.cells {
		if s.chans[name] != schema[name] {
			return State{}, false
		}
	}
	return State{cells: s.cells, chans: maps.Clone(schema)}, true
}

// Has reports whether the channel has a value.
func (s State) Has(name string) bool { return s.cells[name] != nil }

// Check decodes every loaded value and returns the first failure, naming the channel.
// After a nil result no Get of a channel that the schema declared can miss a value.
func (s State) Check() error {
	for _, name := range sortedNames(s.cells) {
		if err := s.cells[name].check(); err != nil {
			return fmt.Errorf("state channel %q: %w", name, err)
		}
	}
	return nil
}

// Values returns the JSON form of all channels that are not private, by name. The caller must not change the bytes.
func (s State) Values() (map[string]json.RawMessage, error) {
	list, err := s.Encoded()
	if err != nil {
		return nil, err
	}
	out := make(map[string]json.RawMessage, len(list))
	for _, v := range list {
		out[v.Channel] = encoded{raw: v.Raw, items: v.Items}.json()
	}
	return out, nil
}

// Encoded is the JSON form of one channel: one value, or the items of a list that is kept as such.
type Encoded struct {
	Channel string
	Raw     json.RawMessage
	Items   [][]byte // not nil: the value is the array of these
}

// Encoded returns what [State.Values] does, sorted by name and without joining lists: the bytes of an item are the same
// ones, at the same address, as long as nothing replaces it. The caller must not change them.
func (s State) Encoded() ([]Encoded, error) {
	out := make([]Encoded, 0, len(s.cells))
	for _, name := range sortedNames(s.cells) {
		if ch := s.chans[name]; ch != nil && ch.Private() {
			continue
		}
		enc, err := s.cells[name].encode()
		if err != nil {
			return nil, fmt.Errorf("encode channel %q: %w", name, err)
		}
		out = append(out, Encoded{Channel: name, Raw: enc.raw, Items: enc.items})
	}
	return out, nil
}

// sortedNames are the keys of a map by channel, in order.
func sortedNames[T any](m map[string]T) []string {
	names := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(names)
	return names
}

func (e encoded) json() json.RawMessage {
	if e.items == nil {
		return e.raw
	}
	return e.appendJSON(nil)
}

// appendJSON appends the array of the items.
func (e encoded) appendJSON(b []byte) []byte {
	room := len(`[]`) + len(e.items)
	for _, it := range e.items {
		room += len(it)
	}
	b = append(slices.Grow(b, room), '[')
	for i, it := range e.items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, it...)
	}
	return append(b, ']')
}

// split returns the items of a list; null has none.
func (e encoded) split() ([][]byte, error) {
	if e.items != nil {
		return e.items, nil
	}
	var check json.RawMessage
	if err := json.Unmarshal(e.raw, &check); err != nil {
		return nil, err
	}
	list, ok := rawjson.Elements(e.raw)
	if !ok && string(check) != "null" {
		return nil, fmt.Errorf("a list is wanted, not %s", rawjson.Kind(check))
	}
	items := make([][]byte, len(list))
	for i, it := range list {
		items[i] = it
	}
	return items, nil
}

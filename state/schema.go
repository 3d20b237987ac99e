package state

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Schema is the set of declared channels by name: what turns stored bytes back into typed state.
type Schema map[string]AnyChannel

// NewSchema collects channels. The same channel may come twice; two channels of one name are an error.
func NewSchema(channels ...AnyChannel) (Schema, error) {
	s := make(Schema, len(channels))
	for _, c := range channels {
		if old, ok := s[c.Name()]; ok && old != c {
			return nil, fmt.Errorf("state channel %q is declared twice; share one declaration", c.Name())
		}
		s[c.Name()] = c
	}
	return s, nil
}

func (s Schema) channel(name string) AnyChannel {
	if c, ok := s[name]; ok {
		return c
	}
	return passthrough(name)
}

// Load makes a state of the JSON form of its channels. Values are decoded on first use; call [State.Check] to find
// out now whether all of them can be. The state keeps the bytes, which must not change any more.
func (s Schema) Load(values map[string]json.RawMessage) (State, error) {
	return s.load(func(yield func(string, encoded) error) error {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if len(values[name]) == 0 {
				return fmt.Errorf("load state: channel %q has no value", name)
			}
			if err := yield(name, encoded{raw: values[name]}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s Schema) load(each func(func(string, encoded) error) error) (State, error) {
	st := State{cells: make(map[string]cell), chans: maps.Clone(s)}
	err := each(func(name string, enc encoded) error {
		if st.cells[name] != nil {
			return fmt.Errorf("load state: channel %q comes twice", name)
		}
		c, err := s.channel(name).load(enc)
		if err != nil {
			return fmt.Errorf("load state: %w", err)
		}
		st.cells[name] = c
		return nil
	})
	if err != nil {
		return State{}, err
	}
	return st, nil
}

// Writes returns the writes of an update in its stored form, without decoding or checking their values. The values
// share the memory of raw, which must not change any more.
func (s Schema) Writes(raw []byte) ([]Write, error) {
	stored, err := decodeWrites(raw)
	if err != nil {
		return nil, err
	}
	out := make([]Write, len(stored))
	for i, w := range stored {
		out[i] = Write{Channel: w.channel, Op: w.op, Value: w.raw, Private: s.channel(w.channel).Private()}
	}
	return out, nil
}

// Visible returns the writes of an update to channels that are not private, and whether the update is what the schema
// reads from its stored form, which it is not if another channel of the same name made it. u itself is not changed.
func (s Schema) Visible(u Update) (Update, bool) {
	for _, w := range u {
		if s[w.ch.Name()] != w.ch {
			return nil, false
		}
	}
	private := func(w write) bool { return w.ch.Private() }
	if slices.ContainsFunc(u, private) {
		u = slices.DeleteFunc(slices.Clone(u), private)
	}
	return u, true
}

// DecodeUpdate reads the stored form of an update. Every value of a declared channel is decoded and checked.
func (s Schema) DecodeUpdate(raw []byte) (Update, error) {
	writes, err := decodeWrites(raw)
	if err != nil {
		return nil, err
	}
	u := make(Update, len(writes))
	for i, w := range writes {
		if u[i], err = s.channel(w.channel).decodeWrite(w.op, w.raw); err != nil {
			return nil, fmt.Errorf("decode update: write %d: %w", i, err)
		}
	}
	return u, nil
}

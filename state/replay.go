package state

import (
	"encoding/json"
	"fmt"
	"maps"
)

// storedWrite is a write whose value is not decoded. raw is never empty.
type storedWrite struct {
	channel string
	op      Op
	raw     json.RawMessage
}

// Replay returns the state after stored updates, oldest first: what Apply makes of them when the schema that s was
// loaded with has decoded them. The items of logs, and values whose last write wins, are decoded on first use;
// [State.Check] finds out now whether all of them can be. A fault in what a later write makes void is not found. The
// state keeps the bytes, which must not change any more.
func (s State) Replay(updates ...[]byte) (State, error) {
	if len(updates) == 0 {
		return s, nil
	}
	writes := make(map[string][]storedWrite)
	for i, raw := range updates {
		stored, err := decodeWrites(raw)
		if err != nil {
			return s, fmt.Errorf("replay update %d: %w", i, err)
		}
		for _, w := range stored {
			writes[w.channel] = append(writes[w.channel], w)
		}
	}
	next := State{cells: maps.Clone(s.cells), chans: s.chans, mixed: s.mixed}
	if next.cells == nil {
		next.cells = make(map[string]cell, len(writes))
	}
	for _, name := range sortedNames(writes) {
		c, err := Schema(s.chans).channel(name).replay(s.cells[name], writes[name])
		if err != nil {
			return s, err
		}
		if c == nil {
			delete(next.cells, name)
		} else {
			next.cells[name] = c
		}
	}
	return next, nil
}

// decodeWrites takes an update apart without looking into its values.
func decodeWrites(raw []byte) ([]storedWrite, error) {
	var writes []struct {
		C  string          `json:"c"`
		Op Op              `json:"op"`
		V  json.RawMessage `json:"v"`
	}
	if err := json.Unmarshal(raw, &writes); err != nil {
		return nil, fmt.Errorf("decode update: %w", err)
	}
	out := make([]storedWrite, len(writes))
	for i, w := range writes {
		if w.C == "" || len(w.V) == 0 {
			return nil, fmt.Errorf("decode update: write %d has no channel or no value", i)
		}
		out[i] = storedWrite{channel: w.C, op: w.Op, raw: w.V}
	}
	return out, nil
}

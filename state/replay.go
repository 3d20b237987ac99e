package state

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
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

// decodeWrites takes an update apart without looking into its values, which share raw's memory or are copies.
func decodeWrites(raw []byte) ([]storedWrite, error) {
	out, ok := scanWrites(raw)
	if !ok { // written by another hand, or damaged
		var writes []struct {
			C  string          `json:"c"`
			Op Op              `json:"op"`
			V  json.RawMessage `json:"v"`
		}
		if err := json.Unmarshal(raw, &writes); err != nil {
			return nil, fmt.Errorf("decode update: %w", err)
		}
		out = nil
		for _, w := range writes {
			out = append(out, storedWrite{channel: w.C, op: w.Op, raw: w.V})
		}
	}
	for i, w := range out {
		if w.channel == "" || len(w.raw) == 0 {
			return nil, fmt.Errorf("decode update: write %d has no channel or no value", i)
		}
	}
	return out, nil
}

// scanWrites takes apart what [Update.AppendJSON] writes, several times as fast as encoding/json; false means that it is something else.
func scanWrites(raw []byte) (out []storedWrite, ok bool) {
	s := rawjson.Scan(raw)
	for more := s.List(); more; more = s.More() {
		var w storedWrite
		for name := s.Object(); name != nil; name = s.Next() {
			switch string(name) {
			case "c":
				w.channel = s.Text()
			case "op":
				w.op = Op(s.Text())
			case "v":
				w.raw = s.Value()
			default:
				s.Fail()
			}
		}
		out = append(out, w)
	}
	return out, s.End()
}

package state

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// passthrough is a channel that nobody declared: its last write wins and its bytes are never looked into. Of the
// operations of a log it can do those that need no item's identity.
type passthrough string

var nullJSON = json.RawMessage("null")

func (p passthrough) Name() string  { return string(p) }
func (p passthrough) Private() bool { return false }

func (p passthrough) load(enc encoded) (cell, error) { return &rawCell{enc: enc}, nil }

func (p passthrough) apply(old cell, w write) (cell, error) {
	raw, err := w.enc.bytes()
	if err != nil {
		return nil, err
	}
	switch w.op {
	case OpDelete:
		return nil, nil
	case OpAppend:
		return p.join(old, raw)
	case OpReplace, OpRemove:
		return nil, fmt.Errorf(
			"channel %q: %s needs the channel to be declared; switch on the feature that owns it",
			p,
			w.op,
		)
	}
	return p.load(encoded{raw: raw})
}

// join puts the items behind those of old.
func (p passthrough) join(old cell, raw []byte) (cell, error) {
	before := [][]byte{} // not nil: no items are a list too
	if old != nil {
		enc, err := old.encode()
		if err == nil {
			before, err = enc.split()
		}
		if err != nil {
			return nil, fmt.Errorf("channel %q: %w", p, err)
		}
	}
	items, err := encoded{raw: raw}.split()
	if err != nil {
		return nil, fmt.Errorf("channel %q: %w", p, err)
	}
	return p.load(encoded{items: append(slices.Clip(before), items...)})
}

// replay joins the lists of appends that follow each other at once: one by one, each would copy all that was before.
func (p passthrough) replay(old cell, writes []storedWrite) (cell, error) {
	for len(writes) > 0 {
		n := 1
		raw := writes[0].raw
		if writes[0].op == OpAppend {
			raw, n = joinAppends(writes)
		}
		next, err := replayNow(p, old, []storedWrite{{op: writes[0].op, raw: raw}})
		if err != nil {
			return nil, err
		}
		old, writes = next, writes[n:]
	}
	return old, nil
}

// joinAppends makes one list of the appends that writes begins with, and returns how many they are.
func joinAppends(writes []storedWrite) (list json.RawMessage, n int) {
	items := [][]byte{} // not nil: no items are a list too
	for n < len(writes) && writes[n].op == OpAppend {
		raws, ok := rawjson.Elements(writes[n].raw)
		if !ok { // the caller is to refuse it
			break
		}
		for _, raw := range raws {
			items = append(items, raw)
		}
		n++
	}
	if n < 2 {
		return writes[0].raw, 1
	}
	return encoded{items: items}.json(), n
}

func (p passthrough) decodeWrite(op Op, raw json.RawMessage) (write, error) {
	switch op {
	case OpPut, OpOverwrite, OpDelete:
	case OpAppend, OpReplace, OpRemove, OpReset:
		if raw[0] != '[' {
			return write{}, errNoList(p, raw)
		}
	default:
		return write{}, errNoOp(p, op)
	}
	return write{ch: p, op: op, val: raw, enc: rawOf(raw)}, nil
}

func errNoList(ch AnyChannel, raw []byte) error {
	return fmt.Errorf("channel %q: a list is wanted, not %s", ch.Name(), rawjson.Kind(raw))
}

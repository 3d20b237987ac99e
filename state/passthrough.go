package state

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/internal/rawjson"
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
		return nil, fmt.Errorf("channel %q: %s needs the channel to be declared; switch on the feature that owns it", p, w.op)
	}
	return p.load(encoded{raw: raw})
}

// join puts the items behind those of old.
func (p passthrough) join(old cell, raw []byte) (cell, error) {
	var before [][]byte
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
	return p.load(encoded{items: slices.Concat(before, items)})
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

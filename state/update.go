package state

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// Op is the operation of a write.
type Op string

// The operations. Channels know put, overwrite and delete; logs know append, replace, remove and reset.
const (
	OpPut       Op = "put"
	OpOverwrite Op = "overwrite"
	OpDelete    Op = "delete"
	OpAppend    Op = "append"
	OpReplace   Op = "replace"
	OpRemove    Op = "remove"
	OpReset     Op = "reset"
)

// Update is an ordered list of writes. The zero value changes nothing.
type Update []write

type write struct {
	ch  AnyChannel
	op  Op
	val any
	enc *lazy
}

func newWrite(ch AnyChannel, op Op, val any) write {
	return write{ch: ch, op: op, val: val, enc: lazyOf(val)}
}

// With returns u followed by the other updates. u itself is not changed.
func (u Update) With(more ...Update) Update {
	out := slices.Clip(u)
	for _, m := range more {
		out = append(out, m...)
	}
	return out
}

// Write is the readable form of one write of an update.
type Write struct {
	Channel string
	Op      Op
	Value   json.RawMessage
	Private bool
}

// Writes returns the writes in order. The caller must not change the values.
func (u Update) Writes() ([]Write, error) {
	out := make([]Write, len(u))
	for i, w := range u {
		raw, err := w.enc.bytes()
		if err != nil {
			return nil, fmt.Errorf("encode channel %q: %w", w.ch.Name(), err)
		}
		out[i] = Write{Channel: w.ch.Name(), Op: w.op, Value: raw, Private: w.ch.Private()}
	}
	return out, nil
}

// AppendJSON appends the stored form: an array of {"c": channel, "op": operation, "v": value}. Values are written byte
// for byte as they were encoded and may contain line breaks.
func (u Update) AppendJSON(b []byte) ([]byte, error) {
	writes, err := u.Writes()
	if err != nil {
		return nil, err
	}
	room := len(`[]`)
	for _, w := range writes {
		room += len(`{"c":"","op":"","v":},`) + len(w.Channel) + len(w.Op) + len(w.Value)
	}
	b = append(slices.Grow(b, room), '[')
	for i, w := range writes {
		if i > 0 {
			b = append(b, ',')
		}
		b = rawjson.AppendString(append(b, `{"c":`...), w.Channel)
		b = append(b, `,"op":"`...)
		b = append(b, w.Op...)
		b = append(b, `","v":`...)
		b = append(b, w.Value...)
		b = append(b, '}')
	}
	return append(b, ']'), nil
}

// MarshalJSON implements [json.Marshaler]. json.Marshal compacts its result. Read it back with [Schema.DecodeUpdate].
func (u Update) MarshalJSON() ([]byte, error) { return u.AppendJSON(nil) }

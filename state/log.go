package state

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// ErrNoItem is returned, wrapped, by an update that replaces or removes an item that the log does not have.
var ErrNoItem = errors.New("no such item")

// LogChannel is a channel that holds a list of identified items and changes by operations, which are what is stored
// and sent: a step that adds one message to a thousand costs one message.
type LogChannel[T any] struct {
	name string
	id   func(T) string
}

// Log declares a log channel. id returns an item's identity, which must not be empty in an update.
func Log[T any](name string, id func(T) string) *LogChannel[T] {
	return &LogChannel[T]{name: name, id: id}
}

// Name implements [AnyChannel].
func (c *LogChannel[T]) Name() string { return c.name }

// Private implements [AnyChannel]: a log is always visible.
func (c *LogChannel[T]) Private() bool { return false }

// Get returns the items in s, oldest first. The caller must not change them.
// A loaded log that cannot be decoded reads as empty; [State.Check] reports it.
func (c *LogChannel[T]) Get(s State) []T {
	l, err := c.cell(s.cells[c.name])
	if err != nil {
		return nil
	}
	items, _ := l.get()
	return items
}

// Encoded returns the JSON form of item i of [LogChannel.Get]; nil if s does not have that item. The caller must not
// change it.
func (c *LogChannel[T]) Encoded(s State, i int) ([]byte, error) {
	l, err := c.cell(s.cells[c.name])
	if err == nil {
		_, err = l.get()
	}
	if err != nil || i < 0 || i >= len(l.entries) {
		return nil, err
	}
	return l.entries[i].enc.bytes()
}

// Append returns the update that adds items at the end. An item whose id the log has takes the place of the old one.
func (c *LogChannel[T]) Append(items ...T) Update { return c.write(OpAppend, items) }

// Replace returns the update that puts each item in the place of the one with its id; [ErrNoItem] if there is none.
func (c *LogChannel[T]) Replace(items ...T) Update { return c.write(OpReplace, items) }

// Reset returns the update that makes items the whole log.
func (c *LogChannel[T]) Reset(items ...T) Update { return c.write(OpReset, items) }

// Remove returns the update that drops the items with the ids; [ErrNoItem] if one is not there.
func (c *LogChannel[T]) Remove(ids ...string) Update {
	return Update{newWrite(c, OpRemove, append([]string{}, ids...))}
}

// Appended returns the items that an update of this process adds at the end. One whose id the log has is among them.
func (c *LogChannel[T]) Appended(u Update) (items []T) {
	for _, w := range u {
		if list, ok := w.val.(entryList[T]); ok && w.op == OpAppend && w.ch.Name() == c.name {
			for _, e := range list {
				items = append(items, e.val)
			}
		}
	}
	return items
}

func (c *LogChannel[T]) write(op Op, items []T) Update {
	entries := make([]*entry[T], len(items))
	for i, it := range items {
		entries[i] = &entry[T]{id: c.id(it), val: it, enc: lazyOf(it)}
	}
	return Update{newWrite(c, op, entryList[T](entries))}
}

// entry is one item: its value, and its bytes once they were wanted.
type entry[T any] struct {
	id  string
	val T
	enc *lazy
}

// entryList writes the items' own bytes as a JSON array.
type entryList[T any] []*entry[T]

// AppendJSON implements appender.
func (l entryList[T]) AppendJSON(b []byte) ([]byte, error) {
	items := make([][]byte, len(l))
	for i, e := range l {
		var err error
		if items[i], err = e.enc.bytes(); err != nil {
			return nil, err
		}
	}
	return encoded{items: items}.appendJSON(b), nil
}

func (c *LogChannel[T]) cell(old cell) (*logCell[T], error) {
	if old == nil {
		return &logCell[T]{}, nil
	}
	held, err := view(old, c)
	if err != nil {
		return nil, err
	}
	l, ok := held.(*logCell[T])
	if !ok {
		return nil, fmt.Errorf("channel %q is a log but holds a %T; was it declared twice?", c.name, old)
	}
	return l, nil
}

func (c *LogChannel[T]) load(enc encoded) (cell, error) {
	items, err := enc.split()
	if err != nil {
		return nil, fmt.Errorf("channel %q: %w", c.name, err)
	}
	return &logCell[T]{lazy: &lazyLog[T]{ch: c, items: items}}, nil
}

func (c *LogChannel[T]) replay(old cell, writes []storedWrite) (cell, error) {
	from := 0
	for i, w := range writes {
		switch w.op {
		case OpReset: // needs nothing of what was before
			from, old = i, nil
		case OpAppend, OpReplace, OpRemove:
		default:
			return nil, errNoOp(c, w.op)
		}
		if w.raw[0] != '[' {
			return nil, errNoList(c, w.raw)
		}
	}
	base, err := c.cell(old)
	if err != nil {
		return nil, err
	}
	return &logCell[T]{lazy: &lazyLog[T]{ch: c, base: base, writes: writes[from:]}}, nil
}

func (c *LogChannel[T]) decodeWrite(op Op, raw json.RawMessage) (write, error) {
	switch op {
	case OpAppend, OpReplace, OpRemove, OpReset:
	default:
		return write{}, errNoOp(c, op)
	}
	raws, ok := rawjson.Elements(raw)
	if !ok {
		return write{}, errNoList(c, raw)
	}
	w := write{ch: c, op: op, enc: rawOf(raw)}
	if op == OpRemove {
		var ids []string
		err := json.Unmarshal(raw, &ids)
		if err != nil {
			return write{}, fmt.Errorf("channel %q: %w", c.name, err)
		}
		w.val = ids
		return w, nil
	}
	entries, err := decodeEntries(raws, c.id)
	if err == nil {
		err = checkIDs(entries)
	}
	if err != nil {
		return write{}, fmt.Errorf("channel %q: %w", c.name, err)
	}
	w.val = entryList[T](entries)
	return w, nil
}

func checkIDs[T any](items []*entry[T]) error {
	for i, e := range items {
		if e.id == "" {
			return fmt.Errorf("item %d of the update has no id", i)
		}
	}
	return nil
}

func decodeEntries[T any, R ~[]byte](raws []R, id func(T) string) ([]*entry[T], error) {
	entries := make([]*entry[T], len(raws))
	for i, r := range raws {
		e := &entry[T]{enc: rawOf(r)}
		if err := unmarshal(r, &e.val); err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		e.id = id(e.val)
		entries[i] = e
	}
	return entries, nil
}

// unmarshal is json.Unmarshal without its detour: that reads a value that decodes itself three times.
func unmarshal(raw []byte, into any) error {
	if u, ok := into.(json.Unmarshaler); ok && rawjson.Valid(raw) {
		return u.UnmarshalJSON(raw)
	}
	return json.Unmarshal(raw, into)
}

func (c *LogChannel[T]) apply(old cell, w write) (cell, error) {
	if w.op == OpReset { // needs nothing of the old value, which may be unreadable
		old = nil
	}
	l, err := c.cell(old)
	if err != nil {
		return nil, err
	}
	if _, err = l.get(); err != nil {
		return nil, fmt.Errorf("channel %q: %w", c.name, err)
	}
	if w.op == OpRemove {
		ids, _ := w.val.([]string)
		return l.remove(c.name, ids)
	}
	items, ok := w.val.(entryList[T])
	if !ok {
		return nil, fmt.Errorf("channel %q: update is a %T", c.name, w.val)
	}
	if err := checkIDs(items); err != nil {
		return nil, fmt.Errorf("channel %q: %w", c.name, err)
	}
	return l.merge(c.name, items, w.op != OpReplace)
}

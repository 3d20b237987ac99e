package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
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

// Append returns the update that adds items at the end. An item whose id the log has takes the place of the old one.
func (c *LogChannel[T]) Append(items ...T) Update { return c.write(OpAppend, items) }

// Replace returns the update that puts each item in the place of the one with its id; [ErrNoItem] if there is none.
func (c *LogChannel[T]) Replace(items ...T) Update { return c.write(OpReplace, items) }

// Reset returns the update that makes items the whole log.
func (c *LogChannel[T]) Reset(items ...T) Update { return c.write(OpReset, items) }

// Remove returns the update that drops the items with the ids; [ErrNoItem] if one is not there.
func (c *LogChannel[T]) Remove(ids ...string) Update {
	return Update{newWrite(c, OpRemove, slices.Clone(ids))}
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
	b = append(b, '[')
	for i, e := range l {
		if i > 0 {
			b = append(b, ',')
		}
		raw, err := e.enc.bytes()
		if err != nil {
			return nil, err
		}
		b = append(b, raw...)
	}
	return append(b, ']'), nil
}

func (c *LogChannel[T]) cell(old cell) (*logCell[T], error) {
	if old == nil {
		return &logCell[T]{}, nil
	}
	l, ok := old.(*logCell[T])
	if !ok {
		return nil, fmt.Errorf("channel %q is a log but holds a %T; was it declared twice?", c.name, old)
	}
	return l, nil
}

func (c *LogChannel[T]) load(enc encoded) (cell, error) {
	if enc.items == nil {
		var raws []json.RawMessage
		if err := json.Unmarshal(enc.raw, &raws); err != nil {
			return nil, fmt.Errorf("channel %q: %w", c.name, err)
		}
		enc.items = make([][]byte, len(raws))
		for i, r := range raws {
			enc.items[i] = r
		}
	}
	return &logCell[T]{loaded: enc.items, id: c.id}, nil
}

func (c *LogChannel[T]) decodeWrite(op Op, raw json.RawMessage) (write, error) {
	switch op {
	case OpRemove:
		var ids []string
		if err := json.Unmarshal(raw, &ids); err != nil {
			return write{}, fmt.Errorf("channel %q: %w", c.name, err)
		}
		return write{ch: c, op: op, val: ids, enc: rawOf(raw)}, nil
	case OpAppend, OpReplace, OpReset:
	default:
		return write{}, fmt.Errorf("channel %q has no operation %q", c.name, op)
	}
	var raws []json.RawMessage
	if err := json.Unmarshal(raw, &raws); err != nil {
		return write{}, fmt.Errorf("channel %q: %w", c.name, err)
	}
	if raws == nil {
		return write{}, fmt.Errorf("channel %q: a list is wanted, not null", c.name)
	}
	entries, err := decodeEntries(raws, c.id)
	if err != nil {
		return write{}, fmt.Errorf("channel %q: %w", c.name, err)
	}
	return write{ch: c, op: op, val: entryList[T](entries), enc: rawOf(raw)}, nil
}

func decodeEntries[T any, R ~[]byte](raws []R, id func(T) string) ([]*entry[T], error) {
	entries := make([]*entry[T], len(raws))
	for i, r := range raws {
		e := &entry[T]{enc: rawOf(r)}
		if err := json.Unmarshal(r, &e.val); err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		e.id = id(e.val)
		entries[i] = e
	}
	return entries, nil
}

func (c *LogChannel[T]) apply(old cell, w write) (cell, error) {
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
	for i, e := range items {
		if e.id == "" {
			return nil, fmt.Errorf("channel %q: item %d of the update has no id", c.name, i)
		}
	}
	switch w.op {
	case OpAppend:
		return l.merge(c.name, items, true)
	case OpReplace:
		return l.merge(c.name, items, false)
	case OpReset:
		return (&logCell[T]{}).merge(c.name, items, true)
	}
	return nil, fmt.Errorf("channel %q has no operation %q", c.name, w.op)
}

// logCell is the cell of a LogChannel. entries and vals run in parallel. Cells that follow from each other by
// appending share their arrays: tail tells how much of them is taken, so that only one successor grows in place.
type logCell[T any] struct {
	entries []*entry[T]
	vals    []T
	tail    *tail

	loaded [][]byte // not yet decoded
	id     func(T) string
	once   sync.Once
	err    error
}

type tail struct {
	mu sync.Mutex
	n  int
}

func (l *logCell[T]) get() ([]T, error) {
	l.once.Do(func() {
		if l.loaded == nil {
			return
		}
		if l.entries, l.err = decodeEntries(l.loaded, l.id); l.err != nil {
			return
		}
		l.vals = make([]T, len(l.entries))
		for i, e := range l.entries {
			l.vals[i] = e.val
		}
	})
	return l.vals, l.err
}

func (l *logCell[T]) check() error {
	_, err := l.get()
	return err
}

func (l *logCell[T]) encode() (encoded, error) {
	if l.loaded != nil {
		return encoded{items: l.loaded}, nil
	}
	items := make([][]byte, len(l.entries))
	for i, e := range l.entries {
		raw, err := e.enc.bytes()
		if err != nil {
			return encoded{}, err
		}
		items[i] = raw
	}
	return encoded{items: items}, nil
}

// merge adds the items, or puts each in the place of the one with its id.
func (l *logCell[T]) merge(name string, items entryList[T], mayAdd bool) (cell, error) {
	fresh := make(entryList[T], 0, len(items))
	next := &logCell[T]{entries: l.entries, vals: l.vals, tail: l.tail}
	for _, e := range items {
		if i := next.index(e.id); i >= 0 {
			next.set(l, i, e)
		} else if i := slices.IndexFunc(fresh, func(f *entry[T]) bool { return f.id == e.id }); i >= 0 {
			fresh[i] = e
		} else if mayAdd {
			fresh = append(fresh, e)
		} else {
			return nil, fmt.Errorf("channel %q: replace %q: %w", name, e.id, ErrNoItem)
		}
	}
	next.grow(fresh)
	return next, nil
}

// index finds an item from the end, where updates nearly always point.
func (l *logCell[T]) index(id string) int {
	for i := len(l.entries) - 1; i >= 0; i-- {
		if l.entries[i].id == id {
			return i
		}
	}
	return -1
}

// set replaces item i, copying the arrays first if they are still those of from.
func (l *logCell[T]) set(from *logCell[T], i int, e *entry[T]) {
	if len(from.entries) > 0 && &l.entries[0] == &from.entries[0] {
		l.entries, l.vals, l.tail = slices.Clone(l.entries), slices.Clone(l.vals), nil
	}
	l.entries[i], l.vals[i] = e, e.val
}

// grow appends, in place when no other successor has taken the room behind the last item.
func (l *logCell[T]) grow(items entryList[T]) {
	if len(items) == 0 {
		return
	}
	n := len(l.entries)
	if l.tail == nil || !l.tail.take(n, n+len(items)) {
		l.entries, l.vals = slices.Clip(l.entries), slices.Clip(l.vals)
		l.tail = &tail{n: n + len(items)}
	}
	for _, e := range items {
		l.entries = append(l.entries, e)
		l.vals = append(l.vals, e.val)
	}
}

// take claims the room from n to end; false if another successor has it.
func (t *tail) take(n, end int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n != n {
		return false
	}
	t.n = end
	return true
}

func (l *logCell[T]) remove(name string, ids []string) (cell, error) {
	next := &logCell[T]{entries: slices.Clone(l.entries), vals: slices.Clone(l.vals)}
	for _, id := range ids {
		i := next.index(id)
		if i < 0 {
			return nil, fmt.Errorf("channel %q: remove %q: %w", name, id, ErrNoItem)
		}
		next.entries = slices.Delete(next.entries, i, i+1)
		next.vals = slices.Delete(next.vals, i, i+1)
	}
	return next, nil
}

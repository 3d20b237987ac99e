package state

import (
	"encoding/json"
	"fmt"
)

// AnyChannel is a channel whatever its type: a name, a way to merge updates, and a codec. Only this package's
// LastValue, Reduced and Log implement it.
type AnyChannel interface {
	// Name is the key of the channel in the state's JSON form.
	Name() string
	// Private reports whether the channel is kept from clients (counters and hints of middlewares).
	Private() bool

	// load makes a cell of an encoded value, to be decoded on first use.
	load(enc encoded) (cell, error)
	// apply returns the cell after the write. old is nil when the channel has no value yet.
	apply(old cell, w write) (cell, error)
	// decodeWrite reads the value of a stored write.
	decodeWrite(op Op, raw json.RawMessage) (write, error)
	// replay returns the cell after stored writes, one at least. It makes what decodeWrite and apply make of them, but
	// decodes as little as it can now; the rest, and its errors, come on first use.
	replay(old cell, writes []storedWrite) (cell, error)
}

// Channel is a channel of one value of type T. T must survive encoding/json.
type Channel[T any] struct {
	name    string
	reduce  func(old, upd T) (T, error) // nil: the last write wins
	private bool
}

// LastValue declares a channel whose last write wins.
func LastValue[T any](name string) *Channel[T] {
	return &Channel[T]{name: name}
}

// Reduced declares a channel whose updates are merged by reduce, a pure function that changes neither argument. The
// first update is merged with T's zero value. An error refuses the whole update.
func Reduced[T any](name string, reduce func(old, upd T) (T, error)) *Channel[T] {
	return &Channel[T]{name: name, reduce: reduce}
}

// AsPrivate marks the channel as one that clients do not see, and returns it.
func (c *Channel[T]) AsPrivate() *Channel[T] { c.private = true; return c }

// Name implements [AnyChannel].
func (c *Channel[T]) Name() string { return c.name }

// Private implements [AnyChannel].
func (c *Channel[T]) Private() bool { return c.private }

// Get returns the channel's value in s, or T's zero value when it has none. The caller must not change it.
// A loaded value that cannot be decoded reads as zero; [State.Check] reports it.
func (c *Channel[T]) Get(s State) T {
	v, _ := c.value(s.cells[c.name])
	return v
}

// Put returns the update that merges v into the channel.
func (c *Channel[T]) Put(v T) Update { return Update{newWrite(c, OpPut, v)} }

// Overwrite returns the update that sets the channel to v, bypassing its reducer.
func (c *Channel[T]) Overwrite(v T) Update { return Update{newWrite(c, OpOverwrite, v)} }

// Delete returns the update that removes the channel's value.
func (c *Channel[T]) Delete() Update { return Update{write{ch: c, op: OpDelete, enc: rawOf(nullJSON)}} }

func (c *Channel[T]) value(held cell) (T, error) {
	held, err := view(held, c)
	if err != nil {
		var zero T
		return zero, err
	}
	return decodeCell[T](held)
}

func (c *Channel[T]) load(enc encoded) (cell, error) {
	return &value[T]{lazy: rawOf(enc.json())}, nil
}

func (c *Channel[T]) apply(old cell, w write) (cell, error) {
	if w.op == OpDelete {
		return nil, nil
	}
	upd, ok := w.val.(T)
	if !ok && w.val != nil { // nil is the zero value of an interface type
		return nil, fmt.Errorf("channel %q: update is a %T", c.name, w.val)
	}
	if w.op == OpOverwrite || c.reduce == nil {
		return &value[T]{lazy: w.enc, val: upd, decoded: true}, nil
	}
	prev, err := c.value(old)
	if err != nil {
		return nil, fmt.Errorf("channel %q: %w", c.name, err)
	}
	next, err := c.reduce(prev, upd)
	if err != nil {
		return nil, fmt.Errorf("channel %q: %w", c.name, err)
	}
	return &value[T]{lazy: lazyOf(next), val: next, decoded: true}, nil
}

func (c *Channel[T]) decodeWrite(op Op, raw json.RawMessage) (write, error) {
	if op == OpDelete {
		return c.Delete()[0], nil
	}
	if op != OpPut && op != OpOverwrite {
		return write{}, errNoOp(c, op)
	}
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return write{}, fmt.Errorf("channel %q: %w", c.name, err)
	}
	return write{ch: c, op: op, val: v, enc: rawOf(raw)}, nil
}

func (c *Channel[T]) replay(old cell, writes []storedWrite) (cell, error) {
	from := 0 // the last write that needs nothing of what was before
	for i, w := range writes {
		switch w.op {
		case OpPut:
			if c.reduce != nil {
				continue
			}
		case OpOverwrite, OpDelete:
		default:
			return nil, errNoOp(c, w.op)
		}
		from, old = i+1, nil
		if w.op != OpDelete {
			old = &value[T]{lazy: rawOf(w.raw)}
		}
	}
	return replayNow(c, old, writes[from:])
}

// replayNow decodes and applies the writes one by one.
func replayNow(c AnyChannel, old cell, writes []storedWrite) (cell, error) {
	for _, s := range writes {
		w, err := c.decodeWrite(s.op, s.raw)
		if err == nil {
			old, err = c.apply(old, w)
		}
		if err != nil {
			return nil, fmt.Errorf("replay %s: %w", s.op, err)
		}
	}
	return old, nil
}

func errNoOp(ch AnyChannel, op Op) error {
	return fmt.Errorf("channel %q has no operation %q", ch.Name(), op)
}

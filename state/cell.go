package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// cell is one channel's value inside a State. It is immutable but for its caches.
type cell interface {
	// check decodes the value and reports why it cannot be.
	check() error
	// encode returns the value's encoded form.
	encode() (encoded, error)
}

// encoded is a value in stored form: one JSON value, or the items of a log.
type encoded struct {
	raw   []byte
	items [][]byte // not nil for a log
}

// lazy encodes a value when its bytes are first wanted, once.
type lazy struct {
	once sync.Once
	val  any
	raw  []byte
	err  error
}

func rawOf(raw []byte) *lazy { return &lazy{raw: raw} }
func lazyOf(v any) *lazy     { return &lazy{val: v} }

func (l *lazy) bytes() ([]byte, error) {
	l.once.Do(func() {
		if l.raw == nil {
			l.raw, l.err = encodeJSON(l.val)
			l.val = nil
		}
	})
	return l.raw, l.err
}

// appender is a value that writes its own JSON. Unlike a json.Marshaler's output, its bytes are kept exactly:
// encoding/json would compact them.
type appender interface {
	AppendJSON(b []byte) ([]byte, error)
}

func encodeJSON(v any) ([]byte, error) {
	a, ok := v.(appender)
	if !ok {
		return json.Marshal(v)
	}
	raw, err := a.AppendJSON(nil)
	if err == nil && len(raw) == 0 {
		err = fmt.Errorf("%T wrote no JSON", v)
	}
	return raw, err
}

// value is the cell of a Channel[T].
type value[T any] struct {
	lazy    *lazy
	once    sync.Once
	val     T
	decoded bool // val was there from the start
	err     error
}

func (c *value[T]) get() (T, error) {
	if c.decoded {
		return c.val, nil
	}
	c.once.Do(func() {
		raw, err := c.lazy.bytes()
		if err == nil {
			err = json.Unmarshal(raw, &c.val)
		}
		if err != nil {
			var zero T
			c.val, c.err = zero, fmt.Errorf("decode value: %w", err)
		}
	})
	return c.val, c.err
}

func (c *value[T]) check() error {
	_, err := c.get()
	return err
}

func (c *value[T]) encode() (encoded, error) {
	raw, err := c.lazy.bytes()
	return encoded{raw: raw}, err
}

// rawCell is the cell of a channel that nobody declared when the state was loaded. A channel that is declared later,
// or only where the state is read, sees its bytes decoded.
type rawCell struct {
	enc encoded

	mu    sync.Mutex
	ch    AnyChannel // who read it last
	typed cell
	err   error
}

func (r *rawCell) encode() (encoded, error) { return r.enc, nil }

func (r *rawCell) check() error {
	if !json.Valid(r.enc.json()) {
		return errors.New("the value is not JSON")
	}
	return nil
}

// as returns the cell that ch makes of the bytes. It is kept, so that they are decoded once.
func (r *rawCell) as(ch AnyChannel) (cell, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ch != ch {
		r.ch = ch
		r.typed, r.err = ch.load(r.enc)
	}
	return r.typed, r.err
}

// view returns the cell as ch sees it.
func view(c cell, ch AnyChannel) (cell, error) {
	if r, ok := c.(*rawCell); ok {
		return r.as(ch)
	}
	return c, nil
}

// decodeCell returns the value of a Channel[T]'s cell; nil is the zero value.
func decodeCell[T any](c cell) (T, error) {
	var zero T
	if c == nil {
		return zero, nil
	}
	v, ok := c.(*value[T])
	if !ok {
		return zero, fmt.Errorf("channel holds another type than %T; was it declared twice?", zero)
	}
	return v.get()
}

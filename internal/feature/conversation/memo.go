package conversation

import (
	"reflect"
	"slices"
	"sync"

	"github.com/pudu-ai/pudu/message"
)

// Memo remembers what a conversation was turned into, so that one that has grown costs only what is new. It is a cache
// of a pure function: what it returns depends on nothing but the messages. The zero value is empty and may be used by
// many goroutines.
type Memo struct {
	mu      sync.Mutex
	in, out []message.Message
}

// Map returns what add makes of the messages, one after the other: it appends to its first argument what becomes of its
// second. It must be the same function at each call. The result must not be changed.
func (c *Memo) Map(msgs []message.Message,
	add func([]message.Message, *message.Message) []message.Message) []message.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.grown(msgs) {
		c.in, c.out = nil, make([]message.Message, 0, len(msgs)+8)
	}
	for i := len(c.in); i < len(msgs); i++ {
		c.out = add(c.out, &msgs[i])
	}
	c.in = msgs
	return slices.Clip(c.out) // who appends to it gets an array of his own
}

// grown reports whether the messages begin with those of the last time.
func (c *Memo) grown(msgs []message.Message) bool {
	if len(msgs) < len(c.in) {
		return false
	}
	if len(c.in) > 0 && &c.in[0] == &msgs[0] { // messages of a state never change in their places
		return true
	}
	for i := range c.in {
		if !Same(&c.in[i], &msgs[i]) {
			return false
		}
	}
	return true
}

// Same reports whether two messages are one: their parts and fields are the same memory, not only equal.
func Same(a, b *message.Message) bool {
	return a.ID == b.ID && a.Role == b.Role && a.Name == b.Name &&
		sameMemory(a.Content, b.Content) && sameMemory(a.ToolCalls, b.ToolCalls) &&
		reflect.ValueOf(a.Kwargs).UnsafePointer() == reflect.ValueOf(b.Kwargs).UnsafePointer()
}

func sameMemory[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// Checked remembers how much of a conversation a check has passed, so that one that has grown is checked from there. It
// knows a conversation by its place in memory, where messages never change. The zero value has passed nothing, and may
// be used by many goroutines.
type Checked struct {
	mu    sync.Mutex
	first *message.Message
	n     int
}

// From is how many of the messages have passed.
func (c *Checked) From(msgs []message.Message) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(msgs) == 0 || c.first != &msgs[0] || c.n > len(msgs) {
		return 0
	}
	return c.n
}

// Pass says that all of the messages have passed.
func (c *Checked) Pass(msgs []message.Message) {
	if len(msgs) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.first, c.n = &msgs[0], len(msgs)
}

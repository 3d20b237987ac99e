package model

import (
	"errors"
	"fmt"

	"github.com/pudu-ai/pudu/message"
)

// Bounds of one answer. They are far above what a model writes that works: the longest answers have 128,000 tokens,
// which are half a million bytes.
const (
	// MaxAnswer bounds the bytes of an answer: its text, reasoning, signatures and the arguments of its calls.
	MaxAnswer = 2 << 20
	// MaxArguments bounds the bytes of the arguments of all calls of an answer, MaxCalls how many calls there are.
	MaxArguments = 1 << 20
	MaxCalls     = 256
	// MaxPieces bounds the pieces in which an answer comes.
	MaxPieces = 512 << 10
)

// ErrTooLarge says that an answer is beyond one of the bounds. The call fails then, with [ClassTooLarge].
var ErrTooLarge = errors.New("the answer is too large")

// Meter measures an answer while it comes. The zero value is ready.
type Meter struct {
	bytes, arguments, pieces int
	calls                    map[int]struct{}
}

// Add counts a chunk; [ErrTooLarge] if that is beyond a bound.
func (m *Meter) Add(c *message.Chunk) error {
	if m.pieces++; m.pieces > MaxPieces {
		return fmt.Errorf("%w: more than %d pieces", ErrTooLarge, MaxPieces)
	}
	for i := range c.ToolCalls {
		if err := m.addCall(&c.ToolCalls[i]); err != nil {
			return err
		}
	}
	return m.Keep(
		len(c.Text) + len(c.Reasoning) + len(c.Signature) + len(c.Redacted) + sizeOf(c.Metadata) + sizeOf(c.Kwargs),
	)
}

func (m *Meter) addCall(c *message.ToolCallChunk) error {
	if _, known := m.calls[c.Index]; !known {
		if m.calls == nil {
			m.calls = make(map[int]struct{})
		}
		m.calls[c.Index] = struct{}{}
		if len(m.calls) > MaxCalls {
			return fmt.Errorf("%w: more than %d tool calls", ErrTooLarge, MaxCalls)
		}
	}
	if m.arguments += len(c.Args); m.arguments > MaxArguments {
		return fmt.Errorf("%w: more than %d bytes of arguments", ErrTooLarge, MaxArguments)
	}
	return m.Keep(len(c.ID) + len(c.Name) + len(c.Args) + sizeOf(c.Extra))
}

// Keep counts bytes that are held in memory for the answer and come out of it later, or never.
func (m *Meter) Keep(n int) error {
	if m.bytes += n; m.bytes > MaxAnswer {
		return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, MaxAnswer)
	}
	return nil
}

func sizeOf(f message.Fields) (n int) {
	for name, raw := range f {
		n += len(name) + len(raw)
	}
	return n
}

package model

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/message"
)

// TestMeter: an answer as large as the bounds is counted without a word, one that is larger by a byte, a call or a
// piece is too large, whatever holds the bytes.
func TestMeter(t *testing.T) {
	big := func(less int) string { return strings.Repeat("x", MaxAnswer-less) }
	raw := func(less int) message.Fields { return message.Fields{"k": json.RawMessage(big(less + 1))} }
	call := func(i int, c message.ToolCallChunk) message.Chunk {
		c.Index = i
		return message.Chunk{ToolCalls: []message.ToolCallChunk{c}}
	}
	for name, c := range map[string]struct {
		full func(m *Meter) error
		more message.Chunk
	}{
		"text": {func(m *Meter) error { return m.Add(&message.Chunk{Text: big(0)}) }, message.Chunk{Text: "x"}},
		"reasoning": {func(m *Meter) error { return m.Add(&message.Chunk{Reasoning: big(0)}) },
			message.Chunk{Reasoning: "x"}},
		"signature": {func(m *Meter) error { return m.Add(&message.Chunk{Signature: big(0)}) },
			message.Chunk{Signature: "x"}},
		"redacted": {func(m *Meter) error { return m.Add(&message.Chunk{Redacted: big(0)}) },
			message.Chunk{Redacted: "x"}},
		"metadata": {func(m *Meter) error { return m.Add(&message.Chunk{Metadata: raw(0)}) },
			message.Chunk{Text: "x"}},
		"kwargs": {func(m *Meter) error { return m.Add(&message.Chunk{Kwargs: raw(0)}) }, message.Chunk{Text: "x"}},
		"id": {func(m *Meter) error { c := call(0, message.ToolCallChunk{ID: big(0)}); return m.Add(&c) },
			message.Chunk{Text: "x"}},
		"name": {func(m *Meter) error { c := call(0, message.ToolCallChunk{Name: big(0)}); return m.Add(&c) },
			message.Chunk{Text: "x"}},
		"extra": {func(m *Meter) error { c := call(0, message.ToolCallChunk{Extra: raw(0)}); return m.Add(&c) },
			message.Chunk{Text: "x"}},
		"kept": {func(m *Meter) error { return m.Keep(MaxAnswer) }, message.Chunk{Text: "x"}},
		"arguments": {func(m *Meter) error {
			c := call(0, message.ToolCallChunk{Args: strings.Repeat("x", MaxArguments)})
			return m.Add(&c)
		}, call(1, message.ToolCallChunk{Args: "x"})},
		"calls": {func(m *Meter) error {
			var err error
			for range 2 { // a known call is no further one
				for i := range MaxCalls {
					c := call(i, message.ToolCallChunk{})
					err = errors.Join(err, m.Add(&c))
				}
			}
			return err
		}, call(MaxCalls, message.ToolCallChunk{})},
		"pieces": {func(m *Meter) error {
			var err error
			for range MaxPieces {
				err = errors.Join(err, m.Add(&message.Chunk{}))
			}
			return err
		}, message.Chunk{}},
	} {
		var m Meter
		if err := c.full(&m); err != nil {
			t.Errorf("%s: an answer within the bounds: %v", name, err)
		}
		if err := m.Add(&c.more); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: an answer beyond the bounds: %v", name, err)
		}
	}
}

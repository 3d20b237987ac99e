package anthropic

import (
	"io"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/pudu-ai/pudu/internal/rawjson"
	"github.com/pudu-ai/pudu/internal/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// stream turns the events of one answer into chunks.
type stream struct {
	origin  *wire.Origin
	begun   bool
	reason  bool // a stop reason came
	stopped bool // the message is complete
	usage   message.Usage
	fresh   int // input tokens beside the cached ones
	open    map[int64]*block
	calls   int
}

// block is a content block that is being streamed.
type block struct {
	call      int // number of the tool call, or -1
	input     string
	signature string
}

// event returns the chunk of an event, if it has one.
func (s *stream) event(ev *sdk.MessageStreamEventUnion) (message.Chunk, bool) {
	switch ev.Type {
	case "message_start":
		return s.start(ev), true
	case "content_block_start":
		return s.openBlock(ev)
	case "content_block_delta":
		return s.delta(ev)
	case "content_block_stop":
		return s.closeBlock(ev.Index)
	case "message_delta":
		return s.messageDelta(ev), true
	case "message_stop":
		s.stopped = s.reason
	}
	return message.Chunk{}, false
}

// end is the error of a stream that ended before its message did.
func (s *stream) end(err error) error {
	switch {
	case err == nil && !s.begun:
		return s.origin.Error(model.ClassTransient, nil, "the stream was empty")
	case err == nil:
		return s.origin.Error(model.ClassTransient, io.ErrUnexpectedEOF, "the stream ended in the middle of the message")
	}
	return err
}

func (s *stream) start(ev *sdk.MessageStreamEventUnion) message.Chunk {
	s.begun = true
	u := &ev.Message.Usage
	s.count(u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens)
	usage := s.usage
	return message.Chunk{Usage: &usage, Metadata: message.Fields{
		"id":             rawjson.AppendString(nil, ev.Message.ID),
		"model_name":     rawjson.AppendString(nil, ev.Message.Model),
		"model_provider": rawjson.AppendString(nil, s.origin.Provider)}}
}

// count takes over the counters that an event has; they are totals so far. The API counts cached input beside
// input_tokens.
func (s *stream) count(in, out, read, written int64) {
	set := func(old *int, n int64) {
		if n > 0 {
			*old = int(n)
		}
	}
	set(&s.fresh, in)
	set(&s.usage.OutputTokens, out)
	set(&s.usage.CacheRead, read)
	set(&s.usage.CacheCreation, written)
	s.usage.InputTokens = s.fresh + s.usage.CacheRead + s.usage.CacheCreation
	s.usage.TotalTokens = s.usage.InputTokens + s.usage.OutputTokens
}

func (s *stream) openBlock(ev *sdk.MessageStreamEventUnion) (message.Chunk, bool) {
	b := &block{call: -1}
	if s.open == nil {
		s.open = map[int64]*block{}
	}
	s.open[ev.Index] = b
	c := &ev.ContentBlock
	switch c.Type {
	case "text":
		return message.Chunk{Text: c.Text}, c.Text != ""
	case "thinking":
		b.signature = c.Signature
		return message.Chunk{Reasoning: c.Thinking}, c.Thinking != ""
	case "redacted_thinking":
		return message.Chunk{Redacted: c.Data}, true
	case "tool_use":
		b.call, b.input = s.calls, c.JSON.Input.Raw()
		s.calls++
		return message.Chunk{ToolCalls: []message.ToolCallChunk{{Index: b.call, ID: c.ID, Name: c.Name}}}, true
	}
	return message.Chunk{}, false // a block of a server tool, which nobody asked for
}

func (s *stream) delta(ev *sdk.MessageStreamEventUnion) (message.Chunk, bool) {
	b := s.open[ev.Index]
	if b == nil {
		return message.Chunk{}, false
	}
	switch d := &ev.Delta; d.Type {
	case "text_delta":
		return message.Chunk{Text: d.Text}, d.Text != ""
	case "thinking_delta":
		return message.Chunk{Reasoning: d.Thinking}, d.Thinking != ""
	case "signature_delta":
		b.signature += d.Signature
	case "input_json_delta":
		if b.call < 0 || d.PartialJSON == "" {
			break
		}
		b.input = "" // the input of the start was a placeholder
		return message.Chunk{ToolCalls: []message.ToolCallChunk{{Index: b.call, Args: d.PartialJSON}}}, true
	}
	return message.Chunk{}, false
}

// closeBlock sends what is known only now: the signature, and the input of a call that came with its start.
func (s *stream) closeBlock(index int64) (message.Chunk, bool) {
	b := s.open[index]
	delete(s.open, index)
	switch {
	case b == nil:
	case b.signature != "":
		return message.Chunk{Signature: b.signature}, true
	case b.call >= 0 && b.input != "":
		return message.Chunk{ToolCalls: []message.ToolCallChunk{{Index: b.call, Args: b.input}}}, true
	}
	return message.Chunk{}, false
}

func (s *stream) messageDelta(ev *sdk.MessageStreamEventUnion) message.Chunk {
	u := &ev.Usage
	s.count(u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens)
	if n := u.OutputTokensDetails.ThinkingTokens; n > 0 {
		s.usage.Reasoning = int(n)
	}
	usage := s.usage
	c := message.Chunk{Usage: &usage}
	if reason := string(ev.Delta.StopReason); reason != "" && !s.reason {
		s.reason, c.FinishReason = true, reason
	}
	return c
}

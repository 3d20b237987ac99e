package anthropic

import (
	"encoding/json"
	"io"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
)

// stream turns the events of one answer into chunks.
type stream struct {
	origin *wire.Origin

	finished bool // a stop reason came
	usage    usage
	open     map[int]*block
	calls    int
	layout   layout
}

var _ wire.Decoder = (*stream)(nil)

// block is a content block that is being streamed.
type block struct {
	call      int // number of the tool call, or -1
	input     json.RawMessage
	signature []byte
	signed    bool // the signature came in pieces
}

// Whole reads an answer that is not streamed: a message with its blocks.
func (s *stream) Whole(data []byte, out *wire.Chunks) error {
	var m whole
	if err := rawjson.Unmarshal(data, &m); err != nil {
		return s.origin.NoJSON(data, err)
	}
	if m.Type == "error" || !rawjson.IsNull(m.Error) {
		return s.origin.StreamError(data)
	}
	s.put(s.start(m.ID, m.Model, &m.Usage), out)
	for i := range m.Content {
		s.put(s.openBlock(i, &m.Content[i]), out)
		s.put(s.closeBlock(i), out)
	}
	s.put(s.end(&m.Usage, m.StopReason, m.StopDetails), out)
	return nil
}

// Event reads one event.
func (s *stream) Event(in wire.Event, out *wire.Chunks) error {
	ev := &event{}
	if err := rawjson.Unmarshal(in.Data, ev); err != nil {
		return s.origin.NoJSON(in.Data, err)
	}
	if in.Name == "error" || ev.Type == "error" || !rawjson.IsNull(ev.Error) {
		return s.origin.StreamError(in.Data)
	}
	if ev.Type == "message_stop" {
		return io.EOF
	}
	if ev.Type == "content_block_start" || ev.Delta.Type == "signature_delta" { // is kept until the block ends
		out.Keep(len(in.Data))
	}
	s.put(s.chunk(ev), out)
	return nil
}

// put notes where the calls stand before the chunk is joined with others.
func (s *stream) put(c message.Chunk, out *wire.Chunks) {
	s.layout.add(&c)
	if c.FinishReason != "" {
		c.Kwargs = s.layout.kwargs()
	}
	out.Put(c)
}

// chunk is what an event says. That may be nothing: a ping, or what the API may add.
func (s *stream) chunk(ev *event) message.Chunk {
	switch ev.Type {
	case "message_start":
		return s.start(ev.Message.ID, ev.Message.Model, &ev.Message.Usage)
	case "content_block_start":
		return s.openBlock(ev.Index, &ev.ContentBlock)
	case "content_block_delta":
		return s.delta(ev)
	case "content_block_stop":
		return s.closeBlock(ev.Index)
	case "message_delta":
		return s.end(&ev.Usage, ev.Delta.StopReason, ev.Delta.StopDetails)
	}
	return message.Chunk{}
}

func (s *stream) start(id, name string, u *usage) message.Chunk {
	s.usage.add(u)
	return message.Chunk{Usage: s.usage.counts(), Metadata: s.origin.Answers(id, name)}
}

func (s *stream) openBlock(index int, c *contentBlock) message.Chunk {
	b := &block{call: -1}
	if s.open == nil {
		s.open = map[int]*block{}
	}
	s.open[index] = b
	switch c.Type {
	case "text":
		return message.Chunk{Text: c.Text}
	case "thinking":
		b.signature = []byte(c.Signature)
		return message.Chunk{Reasoning: c.Thinking}
	case "redacted_thinking":
		return message.Chunk{Redacted: c.Data}
	case "tool_use":
		b.call, b.input = s.calls, c.Input
		s.calls++
		return callChunk(message.ToolCallChunk{Index: b.call, ID: c.ID, Name: c.Name})
	}
	return message.Chunk{} // a block of a server tool, which nobody asked for
}

func callChunk(c message.ToolCallChunk) message.Chunk {
	return message.Chunk{ToolCalls: []message.ToolCallChunk{c}}
}

func (s *stream) delta(ev *event) message.Chunk {
	b := s.open[ev.Index]
	if b == nil {
		return message.Chunk{}
	}
	switch d := &ev.Delta; d.Type {
	case "text_delta":
		return message.Chunk{Text: d.Text}
	case "thinking_delta":
		return message.Chunk{Reasoning: d.Thinking}
	case "signature_delta":
		if !b.signed { // the signature of the start was a placeholder
			b.signed, b.signature = true, nil
		}
		b.signature = append(b.signature, d.Signature...)
	case "input_json_delta":
		if b.call < 0 || d.PartialJSON == "" {
			break
		}
		b.input = nil // the input of the start was a placeholder
		return callChunk(message.ToolCallChunk{Index: b.call, Args: d.PartialJSON})
	}
	return message.Chunk{}
}

// closeBlock sends what is known only now: the signature, and the input of a call that came with its start.
func (s *stream) closeBlock(index int) message.Chunk {
	b := s.open[index]
	delete(s.open, index)
	switch {
	case b == nil:
	case len(b.signature) > 0:
		return message.Chunk{Signature: string(b.signature)}
	case b.call >= 0 && !rawjson.IsNull(b.input):
		return callChunk(message.ToolCallChunk{Index: b.call, Args: string(b.input)})
	}
	return message.Chunk{}
}

// end is the end of the message, or usage in its middle. Why a model refused comes in the details.
func (s *stream) end(u *usage, reason string, details json.RawMessage) message.Chunk {
	s.usage.add(u)
	c := message.Chunk{Usage: s.usage.counts()}
	if reason != "" && !s.finished {
		s.finished, c.FinishReason = true, reason
		if !rawjson.IsNull(details) {
			c.Metadata = message.Fields{"stop_details": details}
		}
	}
	return c
}

package anthropic

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"

	"github.com/pudu-ai/pudu/internal/rawjson"
	"github.com/pudu-ai/pudu/internal/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// errStopped says that the consumer wants no more.
var errStopped = errors.New("stream stopped by its consumer")

// stream turns the events of one answer into chunks.
type stream struct {
	origin *wire.Origin

	decoded  event // reused from event to event
	begun    bool
	finished bool // a stop reason came
	usage    usage
	open     map[int]*block
	calls    int
	layout   layout
	next     message.Chunk // has been read and not been shown
}

// block is a content block that is being streamed.
type block struct {
	call      int // number of the tool call, or -1
	input     json.RawMessage
	signature string
}

type yieldFunc = func(message.Chunk, error) bool

// read reads the answer to its end. It returns nil only for a complete answer.
func (s *stream) read(body io.Reader, yield yieldFunc) error {
	err := s.answer(body, yield)
	if err == errStopped {
		return err
	}
	return cmp.Or(err, s.show(yield))
}

func (s *stream) answer(body io.Reader, yield yieldFunc) error {
	r := wire.NewEventReader(body)
	for {
		in, err := r.Next()
		if err != nil {
			return s.end(err)
		}
		if len(in.Data) == 0 {
			continue
		}
		c, err := s.event(in)
		if err == io.EOF {
			return s.end(err)
		}
		if err == nil {
			err = s.take(c, yield)
		}
		if err == nil && !r.Ready() { // what has come together is shown together
			err = s.show(yield)
		}
		if err != nil {
			return err
		}
	}
}

// take joins a chunk with what has not been shown yet.
func (s *stream) take(c message.Chunk, yield yieldFunc) error {
	if !carries(&c) || s.next.Join(c) {
		return nil
	}
	err := s.show(yield)
	s.next = c
	return err
}

// show hands over what has been read.
func (s *stream) show(yield yieldFunc) error {
	c := s.next
	s.next = message.Chunk{}
	if carries(&c) && !yield(c, nil) {
		return errStopped
	}
	return nil
}

// carries reports whether a chunk says anything.
func carries(c *message.Chunk) bool {
	return c.Text != "" || c.Reasoning != "" || c.Signature != "" || c.Redacted != "" || len(c.ToolCalls) > 0 ||
		c.Usage != nil || c.FinishReason != "" || len(c.Metadata) > 0 || len(c.Kwargs) > 0
}

// end judges how the stream ended. An answer without a stop reason is cut; with one it is complete, whatever is missing,
// since the stop reason comes behind the last block.
func (s *stream) end(err error) error {
	switch {
	case s.finished:
		return nil
	case err == wire.ErrEventTooLong:
		return s.origin.Error(model.ClassBadRequest, err, "the answer has an event larger than 64 MiB")
	case err != io.EOF:
		return err
	case !s.begun:
		return s.origin.Error(model.ClassTransient, nil, "the stream was empty")
	}
	return s.origin.Error(model.ClassTransient, io.ErrUnexpectedEOF, "the stream ended without a stop reason")
}

// event returns the chunk of an event, which may be empty; io.EOF is the end of the message.
func (s *stream) event(in wire.Event) (message.Chunk, error) {
	ev := &s.decoded
	if err := ev.decode(in.Data); err != nil {
		return message.Chunk{}, s.origin.Error(model.ClassTransient, err, "the stream holds an event that is no JSON: %.200s", in.Data)
	}
	if in.Name == "error" || ev.Type == "error" || !isNull(ev.Error) {
		return message.Chunk{}, s.origin.StreamError(in.Data)
	}
	c, err := s.chunk(ev)
	s.layout.add(&c)
	if c.FinishReason != "" {
		c.Kwargs = s.layout.kwargs()
	}
	return c, err
}

func (s *stream) chunk(ev *event) (message.Chunk, error) {
	switch ev.Type {
	case "message_start":
		return s.start(ev), nil
	case "content_block_start":
		return s.openBlock(ev), nil
	case "content_block_delta":
		return s.delta(ev), nil
	case "content_block_stop":
		return s.closeBlock(ev.Index), nil
	case "message_delta":
		return s.messageDelta(ev), nil
	case "message_stop":
		return message.Chunk{}, io.EOF
	}
	return message.Chunk{}, nil // a ping, or what the API may add
}

func (s *stream) start(ev *event) message.Chunk {
	s.begun = true
	s.usage.add(&ev.Message.Usage)
	return message.Chunk{Usage: s.usage.counts(), Metadata: message.Fields{
		"id":             rawjson.AppendString(nil, ev.Message.ID),
		"model_name":     rawjson.AppendString(nil, cmp.Or(ev.Message.Model, s.origin.Model)),
		"model_provider": rawjson.AppendString(nil, s.origin.Provider)}}
}

func (s *stream) openBlock(ev *event) message.Chunk {
	b := &block{call: -1}
	if s.open == nil {
		s.open = map[int]*block{}
	}
	s.open[ev.Index] = b
	switch c := &ev.ContentBlock; c.Type {
	case "text":
		return message.Chunk{Text: c.Text}
	case "thinking":
		b.signature = c.Signature
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
		b.signature += d.Signature
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
	case b.signature != "":
		return message.Chunk{Signature: b.signature}
	case b.call >= 0 && !isNull(b.input):
		return callChunk(message.ToolCallChunk{Index: b.call, Args: string(b.input)})
	}
	return message.Chunk{}
}

// messageDelta is the end of the message, or usage in its middle. Why a model refused comes in stop_details.
func (s *stream) messageDelta(ev *event) message.Chunk {
	s.usage.add(&ev.Usage)
	c := message.Chunk{Usage: s.usage.counts()}
	if ev.Delta.StopReason != "" && !s.finished {
		s.finished, c.FinishReason = true, ev.Delta.StopReason
		if !isNull(ev.Delta.StopDetails) {
			c.Metadata = message.Fields{"stop_details": ev.Delta.StopDetails}
		}
	}
	return c
}

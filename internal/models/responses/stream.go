package responses

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"

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
	events   int
	head     bool          // metadata has been sent
	finished bool          // the answer is complete
	next     message.Chunk // has been read and not been shown
	items    items
}

type yieldFunc = func(message.Chunk, error) bool

// read reads the answer to its end. It returns nil only for a complete answer.
func (s *stream) read(body io.Reader, yield yieldFunc) error {
	err := s.answer(bufio.NewReaderSize(body, 32<<10), yield)
	if err == errStopped {
		return err
	}
	return cmp.Or(err, s.show(yield))
}

func (s *stream) answer(src *bufio.Reader, yield yieldFunc) error {
	switch first, err := firstByte(src); {
	case err != nil:
		return s.ended(err)
	case first == '<':
		return s.origin.WebPage(200)
	case first == '{':
		return s.whole(src, yield)
	}
	r := wire.NewEventReader(src)
	for !s.finished {
		ev, err := r.Next()
		if err == nil && string(ev.Data) == "[DONE]" { // OpenAI sends none, gateways do
			err = io.EOF
		}
		if err != nil {
			return s.ended(err)
		}
		if len(ev.Data) == 0 {
			continue
		}
		err = s.event(ev, yield)
		if err == nil && !r.Ready() { // what has come together is shown together
			err = s.show(yield)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// firstByte looks at the first byte that is no space.
func firstByte(src *bufio.Reader) (byte, error) {
	for {
		b, err := src.ReadByte()
		if err != nil {
			return 0, err
		}
		if b != ' ' && b != '\n' && b != '\r' && b != '\t' {
			return b, src.UnreadByte()
		}
	}
}

// ended is the error of a stream that ended before its answer did.
func (s *stream) ended(err error) error {
	switch {
	case err != io.EOF:
		return err
	case s.events == 0:
		return s.origin.Error(model.ClassTransient, nil, "the stream was empty")
	}
	return s.origin.Error(model.ClassTransient, io.ErrUnexpectedEOF, "the stream ended before the answer was complete")
}

// whole reads an answer that is not streamed.
func (s *stream) whole(body io.Reader, yield yieldFunc) error {
	data, err := io.ReadAll(io.LimitReader(body, wire.MaxEvent+1))
	if err != nil {
		return err
	}
	if len(data) > wire.MaxEvent {
		return s.origin.Error(model.ClassBadRequest, wire.ErrEventTooLong, "the answer is larger than 64 MiB")
	}
	var r response
	if err := unmarshal(data, &r); err != nil {
		return s.origin.Error(model.ClassTransient, err, "the answer is no JSON: %.200s", data)
	}
	s.events++
	if !isNull(r.Error) {
		return s.failed(r.Error)
	}
	switch r.Status {
	case "completed", "incomplete":
		return s.complete(&r, yield)
	case "failed", "cancelled":
		return s.failed(r.Error)
	}
	return s.ended(io.EOF)
}

func (s *stream) event(in wire.Event, yield yieldFunc) error {
	ev := &s.decoded
	if err := ev.decode(in.Data); err != nil {
		return s.origin.Error(model.ClassTransient, err, "the stream holds an event that is no JSON: %.200s", in.Data)
	}
	s.events++
	ev.Type = cmp.Or(ev.Type, in.Name)
	if ev.Type == "error" || !isNull(ev.Error) {
		return s.failed(in.Data)
	}
	switch ev.Type {
	case "response.completed", "response.incomplete":
		if ev.Response == nil {
			ev.Response = &response{Status: strings.TrimPrefix(ev.Type, "response.")}
		}
		return s.complete(ev.Response, yield)
	case "response.failed", "response.cancelled":
		if ev.Response == nil {
			return s.failed(nil)
		}
		return s.failed(ev.Response.Error)
	}
	c, err := s.chunk(ev)
	if err != nil {
		return err
	}
	return s.push(c, yield)
}

// push puts a chunk behind those that were read.
func (s *stream) push(c message.Chunk, yield yieldFunc) error {
	if !carries(&c) || s.next.Join(c) {
		return nil
	}
	err := s.show(yield)
	s.next = c
	return err
}

// chunk is what the event says. Events of other types say nothing that counts.
func (s *stream) chunk(ev *event) (c message.Chunk, err error) {
	at := place{item: ev.OutputIndex, segment: ev.ContentIndex}
	switch ev.Type {
	case "response.created", "response.in_progress":
		s.metadata(ev.Response, &c)
	case "response.output_item.added":
		err = s.item(ev, false, &c)
	case "response.output_item.done":
		err = s.item(ev, true, &c)
	case "response.output_text.delta":
		s.items.said(at, ev.Delta, false, &c)
	case "response.output_text.done":
		s.items.saidAll(at, ev.Text, false, &c)
	case "response.refusal.delta":
		s.items.said(at, ev.Delta, true, &c)
	case "response.refusal.done":
		s.items.saidAll(at, ev.Refusal, true, &c)
	case "response.reasoning_summary_part.added", "response.reasoning_summary_text.delta":
		s.items.summarized(place{item: ev.OutputIndex, segment: ev.SummaryIndex}, ev.Delta, &c)
	case "response.reasoning_text.delta":
		s.items.thought(at, ev.Delta, &c)
	case "response.function_call_arguments.delta":
		s.items.argued(ev.OutputIndex, ev.Delta, &c)
	case "response.function_call_arguments.done":
		s.items.arguedAll(ev.OutputIndex, ev.Arguments, &c)
	}
	return c, err
}

// item reads an item that begins, of which only its names are sure, or one that is complete.
func (s *stream) item(ev *event, done bool, c *message.Chunk) error {
	var o output
	if err := unmarshal(ev.Item, &o); len(ev.Item) > 0 && err != nil {
		return s.origin.Error(model.ClassTransient, err, "the stream holds an item of an unknown shape: %.200s", ev.Item)
	}
	s.items.begun(ev.OutputIndex, &o, c)
	if done {
		s.items.done(ev.OutputIndex, &o, ev.Item, c)
	}
	return nil
}

// complete ends the message. Items are taken from the whole answer as far as the events before did not tell them.
func (s *stream) complete(r *response, yield yieldFunc) error {
	for i, raw := range r.Output {
		var c message.Chunk
		if err := s.item(&event{OutputIndex: i, Item: raw}, true, &c); err != nil {
			return err
		}
		if err := s.push(c, yield); err != nil {
			return err
		}
	}
	c := message.Chunk{Usage: r.Usage.counts(), FinishReason: s.finishReason(r)}
	s.metadata(r, &c)
	if layout := s.items.layout(); len(layout) > 0 {
		c.Kwargs = message.Fields{keyItems: layout}
	}
	s.finished = true
	return s.push(c, yield)
}

// finishReason gives the end of an answer the word that it has in chat completions, which the rest of the house knows.
func (s *stream) finishReason(r *response) string {
	switch reason := r.Incomplete.Reason; {
	case reason == "max_output_tokens":
		return "length"
	case reason != "": // content_filter is called the same
		return reason
	case r.Status == "incomplete":
		return r.Status
	case s.items.calls > 0:
		return "tool_calls"
	}
	return "stop"
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
	return c.Text != "" || c.Reasoning != "" || c.Signature != "" || len(c.ToolCalls) > 0 || c.Usage != nil || c.FinishReason != "" ||
		len(c.Metadata) > 0 || len(c.Kwargs) > 0
}

// metadata names who answers, once.
func (s *stream) metadata(r *response, c *message.Chunk) {
	if s.head || r == nil {
		return
	}
	s.head = true
	c.Metadata = message.Fields{}
	for key, value := range map[string]string{"id": r.ID, "model_name": cmp.Or(r.Model, s.origin.Model),
		"model_provider": s.origin.Provider, "service_tier": r.Tier} {
		if value != "" {
			c.Metadata[key] = rawjson.AppendString(nil, value)
		}
	}
}

// failed is the error of an answer that failed. Several of the API's codes say that the request itself is the reason, so
// that another try would fail as well.
func (s *stream) failed(object json.RawMessage) error {
	e := s.origin.StreamError(object)
	switch e.Code {
	case "invalid_prompt", "data_residency_mismatch", "bio_policy", "misalignment_policy_violation", "invalid_image",
		"invalid_image_format", "invalid_base64_image", "invalid_image_url", "image_too_large", "image_too_small",
		"image_parse_error", "image_content_policy_violation", "invalid_image_mode", "image_file_too_large",
		"unsupported_image_media_type", "empty_image_file", "failed_to_download_image", "image_file_not_found",
		"invalid_encrypted_content":
		e.Class = model.ClassBadRequest
	}
	return e
}

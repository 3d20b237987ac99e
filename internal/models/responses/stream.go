package responses

import (
	"cmp"
	"encoding/json"
	"io"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// stream turns the events of one answer into chunks.
type stream struct {
	origin *wire.Origin

	head  bool // metadata has been sent
	items items
}

var _ wire.Decoder = (*stream)(nil)

// Whole reads an answer that is not streamed, which is a response.
func (s *stream) Whole(data []byte, out *wire.Chunks) error {
	var r response
	if err := rawjson.Unmarshal(data, &r); err != nil {
		return s.origin.NoJSON(data, err)
	}
	switch {
	case !rawjson.IsNull(r.Error), r.Status == "failed", r.Status == "cancelled":
		return s.failed(r.Error)
	case r.Status == "completed", r.Status == "incomplete":
		return s.complete(&r, out)
	}
	return nil
}

// Event reads one event.
func (s *stream) Event(in wire.Event, out *wire.Chunks) error {
	ev := &event{}
	if err := rawjson.Unmarshal(in.Data, ev); err != nil {
		return s.origin.NoJSON(in.Data, err)
	}
	ev.Type = cmp.Or(ev.Type, in.Name)
	if ev.Type == "error" || !rawjson.IsNull(ev.Error) {
		return s.failed(in.Data)
	}
	switch ev.Type {
	case "response.completed", "response.incomplete":
		if ev.Response == nil {
			ev.Response = &response{Status: strings.TrimPrefix(ev.Type, "response.")}
		}
		return cmp.Or(s.complete(ev.Response, out), io.EOF)
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
	if ev.Type == "response.output_item.done" { // of which the item may be kept as it is
		out.Keep(min(len(ev.Item), maxOther))
	}
	out.Put(c)
	return nil
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
	if err := rawjson.Unmarshal(ev.Item, &o); len(ev.Item) > 0 && err != nil {
		return s.origin.Error(model.ClassTransient, err, "the stream holds an item of an unknown shape: %.200s",
			ev.Item)
	}
	s.items.begun(ev.OutputIndex, &o, c)
	if done {
		s.items.done(ev.OutputIndex, &o, ev.Item, c)
	}
	return nil
}

// complete ends the message. Items are taken from the whole answer as far as the events before did not tell them.
func (s *stream) complete(r *response, out *wire.Chunks) error {
	for i, raw := range r.Output {
		var c message.Chunk
		if err := s.item(&event{OutputIndex: s.items.placed(i, raw), Item: raw}, true, &c); err != nil {
			return err
		}
		out.Put(c)
	}
	c := message.Chunk{Usage: r.Usage.counts(), FinishReason: s.finishReason(r)}
	s.metadata(r, &c)
	if layout := s.items.layout(); len(layout) > 0 {
		c.Kwargs = message.Fields{keyItems: layout}
	}
	out.Put(c)
	return nil
}

// finishReason gives the end of an answer the word that it has in chat completions, which the other packages know.
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

// metadata names who answers, once.
func (s *stream) metadata(r *response, c *message.Chunk) {
	if s.head || r == nil {
		return
	}
	s.head = true
	c.Metadata = s.origin.Answers(r.ID, r.Model)
	if r.Tier != "" {
		c.Metadata["service_tier"] = rawjson.AppendString(nil, r.Tier)
	}
}

// failed is the error of an answer that failed. Several of the API's codes say that the request itself is the reason,
// so that another try would fail as well.
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

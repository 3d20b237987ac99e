package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// stream turns the events of one answer into chunks. Servers say one thing in two places, for clients of several ages
// or because two of their parts do: each is taken once.
type stream struct {
	origin  *wire.Origin
	dialect *dialect

	decoded         event // reused from event to event
	head            bool  // metadata has been sent
	finished        bool
	inWhole         bool // the answer is not streamed
	text, reasoning halves
	calls           calls
	details         details
	usage           usage  // so far
	prose           *prose // nil: nothing but text can stand in the text
	deltas          bool   // a delta has said something
	callsIn         string // the field of the deltas that holds the calls, once there are some
}

var (
	_ wire.Decoder = (*stream)(nil)
	_ wire.Holder  = (*stream)(nil)
)

// newStream reads an answer to req.
func newStream(d *dialect, req *model.Request) *stream {
	s := &stream{dialect: d, prose: newProse(d, req)}
	s.calls.keep = s.prose != nil && s.prose.calls
	return s
}

// Whole reads an answer that is not streamed, which is one event.
func (s *stream) Whole(data []byte, out *wire.Chunks) error {
	s.inWhole = true
	return s.Event(wire.Event{Data: data}, out)
}

// Release gives out text that might have become a call.
func (s *stream) Release(out *wire.Chunks) {
	if s.prose != nil {
		out.Put(message.Chunk{Text: s.prose.cut()})
	}
}

// Event reads one event.
func (s *stream) Event(in wire.Event, out *wire.Chunks) error {
	ev := &s.decoded
	if err := ev.decode(in.Data); err != nil {
		return s.origin.NoJSON(in.Data, err)
	}
	if !rawjson.IsNull(ev.Error) {
		return s.origin.StreamError(ev.Error)
	}
	if in.Name == "error" {
		return s.origin.StreamError(in.Data)
	}
	c := message.Chunk{Usage: s.usage.add(ev.Usage)}
	if !s.head && len(ev.Choices) > 0 {
		c.Metadata = s.metadata(ev)
	}
	for i := range ev.Choices {
		if ev.Choices[i].Index != 0 {
			continue
		}
		if err := s.choice(&ev.Choices[i], &c); err != nil {
			return err
		}
	}
	out.Keep(s.details.taken())
	out.Put(c)
	return nil
}

// metadata names who answered.
func (s *stream) metadata(ev *event) message.Fields {
	s.head = true
	id, _ := rawjson.String(ev.ID)
	name, _ := rawjson.String(ev.Model)
	f := s.origin.Answers(id, name)
	if mark, _ := rawjson.String(ev.Fingerprint); mark != "" {
		f["system_fingerprint"] = rawjson.AppendString(nil, mark)
	}
	return f
}

func (s *stream) choice(in *choice, out *message.Chunk) error {
	s.deltas = s.deltas || in.Delta.says()
	d := &in.Delta
	if in.Message != nil && !s.deltas {
		d = in.Message
	}
	if err := s.delta(d, out); err != nil {
		return err
	}
	if out.Usage == nil {
		out.Usage = s.usage.add(in.Usage)
	}
	if in.FinishReason != "" && !s.finished {
		s.finish(in.FinishReason, out)
	}
	return nil
}

// finish ends the message: what waited for a second half goes out damaged.
func (s *stream) finish(reason string, out *message.Chunk) {
	s.finished = true
	out.FinishReason = reason
	s.say(s.text.rest(), out)
	out.Reasoning += s.reasoning.rest()
	if s.prose != nil {
		s.found(s.prose.finish(), out)
		if s.prose.count > 0 && reason == "stop" { // what it would be, had the server seen the calls
			out.FinishReason = "tool_calls"
		}
	}
	out.ToolCalls = append(out.ToolCalls, s.calls.rest()...)
	if raw := s.details.encode(); s.dialect.details && len(raw) > 0 {
		out.Kwargs = message.Fields{keyDetails: raw}
	}
}

func (s *stream) delta(d *delta, out *message.Chunk) error {
	if err := s.pieces(d, out); err != nil {
		return err
	}
	list := d.blocks()
	thinking := s.reasoningText(d, list)
	if thinking != "" && s.prose != nil {
		s.prose.noTag()
	}
	out.Reasoning += thinking
	s.say(s.content(d.Content, list), out)
	if !bytes.Equal(d.Refusal, d.Content) {
		out.Text += s.text.join(d.Refusal)
	}
	return nil
}

// pieces adds those of tool calls. A server that fills both fields says the same in both: tool_calls is the one, unless
// function_call alone has begun.
func (s *stream) pieces(d *delta, out *message.Chunk) error {
	for _, raw := range d.ToolCalls {
		if rawjson.IsNull(raw) || !s.take(toolCalls) {
			continue
		}
		c, err := s.calls.add(raw)
		if err != nil {
			return s.badCall(err, raw)
		}
		out.ToolCalls = append(out.ToolCalls, c)
	}
	if !rawjson.IsNull(d.FunctionCall) && s.take(functionCall) {
		c, err := s.calls.legacy(d.FunctionCall)
		if err != nil {
			return s.badCall(err, d.FunctionCall)
		}
		out.ToolCalls = append(out.ToolCalls, c)
	}
	return nil
}

// The fields of a delta that may hold calls.
const (
	toolCalls    = "tool_calls"
	functionCall = "function_call"
)

// take reports whether this field is the one that holds the calls of the answer.
func (s *stream) take(field string) bool {
	s.callsIn = cmp.Or(s.callsIn, field)
	return s.callsIn == field
}

func (s *stream) badCall(err error, raw json.RawMessage) error {
	return s.origin.Error(model.ClassTransient, err, "the stream holds a tool call of an unknown shape: %.200s", raw)
}

// say adds a piece of the text, or what is found in it.
func (s *stream) say(text string, out *message.Chunk) {
	if s.prose == nil || s.prose.done {
		out.Text += text
		return
	}
	if text != "" {
		s.found(s.prose.read(text), out)
	}
}

// found adds what stood in the text. A call that came as one already is no other one.
func (s *stream) found(f found, out *message.Chunk) {
	out.Reasoning += f.reasoning
	out.Text += f.text
	for _, c := range f.calls {
		if !s.calls.has(c) {
			out.ToolCalls = append(out.ToolCalls, s.calls.whole(c))
		}
	}
}

// reasoningText takes the reasoning from the first place that has it: servers that fill several say the same in each.
func (s *stream) reasoningText(d *delta, list []block) string {
	if s.dialect.details {
		s.details.add(d.ReasoningDetails)
	}
	for _, raw := range [...]json.RawMessage{d.ReasoningContent, d.Reasoning} {
		if says(raw) {
			return s.reasoning.join(raw)
		}
	}
	var out strings.Builder
	for _, raw := range d.ReasoningDetails {
		var b block
		if rawjson.Unmarshal(raw, &b) == nil {
			out.WriteString(s.reasoning.join(firstSaid(b.Text, b.Summary)))
		}
	}
	if out.Len() > 0 {
		return out.String()
	}
	for i := range list {
		if list[i].Type == typeThinking {
			out.WriteString(s.thinking(firstSaid(list[i].Thinking, list[i].Text)))
		}
	}
	return out.String()
}

// content reads a string, or the blocks of a list that are no thinking.
func (s *stream) content(raw json.RawMessage, list []block) string {
	if list == nil {
		text := s.text.join(raw)
		if s.inWhole && s.dialect.unescape && !strings.Contains(text, "\n") {
			text = strings.ReplaceAll(text, `\n`, "\n")
		}
		return text
	}
	var out strings.Builder
	for i := range list {
		if list[i].Type != typeThinking {
			out.WriteString(s.text.join(list[i].Text))
		}
	}
	return out.String()
}

// thinking is a string or a list of text blocks.
func (s *stream) thinking(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] != '[' {
		return s.reasoning.join(raw)
	}
	var list []block
	_ = rawjson.Unmarshal(raw, &list)
	var out strings.Builder
	for _, b := range list {
		out.WriteString(s.reasoning.join(b.Text))
	}
	return out.String()
}

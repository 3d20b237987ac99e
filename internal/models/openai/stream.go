package openai

import (
	"encoding/json"
	"strings"

	"github.com/pudu-ai/pudu/internal/rawjson"
	"github.com/pudu-ai/pudu/internal/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// stream turns the events of one answer into chunks.
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
	prose           *prose // nil: nothing but text can stand in the text
}

var (
	_ wire.Decoder = (*stream)(nil)
	_ wire.Holder  = (*stream)(nil)
)

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
	c := message.Chunk{Usage: ev.Usage.counts()}
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
	if err := s.delta(&in.Delta, out); err != nil {
		return err
	}
	if in.Message != nil {
		if err := s.delta(in.Message, out); err != nil {
			return err
		}
	}
	if out.Usage == nil {
		out.Usage = in.Usage.counts()
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
	text, thinking := s.content(d.Content)
	thinking = s.reasoningText(d) + thinking
	if thinking != "" && s.prose != nil {
		s.prose.noTag()
	}
	out.Reasoning += thinking
	s.say(text, out)
	if !rawjson.IsNull(d.Refusal) {
		out.Text += s.text.join(d.Refusal)
	}
	for _, raw := range d.ToolCalls {
		if rawjson.IsNull(raw) {
			continue
		}
		c, err := s.calls.add(raw)
		if err != nil {
			return s.badCall(err, raw)
		}
		out.ToolCalls = append(out.ToolCalls, c)
	}
	if !rawjson.IsNull(d.FunctionCall) {
		c, err := s.calls.legacy(d.FunctionCall)
		if err != nil {
			return s.badCall(err, d.FunctionCall)
		}
		out.ToolCalls = append(out.ToolCalls, c)
	}
	return nil
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

func (s *stream) found(f found, out *message.Chunk) {
	out.Reasoning += f.reasoning
	out.Text += f.text
	for _, c := range f.calls {
		out.ToolCalls = append(out.ToolCalls, s.calls.whole(c))
	}
}

// reasoningText takes the reasoning from the first field that has it: servers that fill two say the same in both.
func (s *stream) reasoningText(d *delta) string {
	text := s.reasoning.join(d.ReasoningContent)
	if text == "" {
		text = s.reasoning.join(d.Reasoning)
	}
	if s.dialect.details {
		s.details.add(d.ReasoningDetails)
	}
	if text != "" {
		return text
	}
	var out strings.Builder
	for _, raw := range d.ReasoningDetails {
		var b block
		if rawjson.Unmarshal(raw, &b) == nil {
			out.WriteString(s.reasoning.join(b.Text))
			out.WriteString(s.reasoning.join(b.Summary))
		}
	}
	return out.String()
}

// content reads a string or a list of text and thinking blocks.
func (s *stream) content(raw json.RawMessage) (text, reasoning string) {
	if len(raw) == 0 || raw[0] != '[' {
		text = s.text.join(raw)
		if s.inWhole && s.dialect.unescape && !strings.Contains(text, "\n") {
			text = strings.ReplaceAll(text, `\n`, "\n")
		}
		return text, ""
	}
	var list []block
	_ = rawjson.Unmarshal(raw, &list)
	var said, thought strings.Builder
	for _, b := range list {
		said.WriteString(s.text.join(b.Text))
		if b.Type == "thinking" {
			thought.WriteString(s.thinking(b.Thinking))
		}
	}
	return said.String(), thought.String()
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

package openai

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/pudu-ai/pudu/internal/rawjson"
	"github.com/pudu-ai/pudu/internal/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// errStopped says that the consumer wants no more.
var errStopped = errors.New("stream stopped by its consumer")

// stream turns the events of one answer into chunks.
type stream struct {
	origin  *wire.Origin
	dialect *dialect

	decoded         event // reused from event to event
	events          int
	finished        bool
	head            bool // metadata has been sent
	inWhole         bool // the answer is not streamed
	text, reasoning halves
	next            message.Chunk // has been read and not been shown
	calls           calls
	details         details
	prose           *prose // nil: nothing but text can stand in the text
}

type yieldFunc = func(message.Chunk, error) bool

// sources are readers for answers, as large as the event reader's own, which then adds none. What is read of them is copied
// before the answer ends.
var sources = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 32<<10) }}

// read reads the answer to its end. It returns nil only for a complete answer.
func (s *stream) read(body io.Reader, yield yieldFunc) error {
	src := sources.Get().(*bufio.Reader) //nolint:forcetypeassert // it holds nothing else
	src.Reset(body)
	defer func() {
		src.Reset(nil)
		sources.Put(src)
	}()
	err := s.answer(src, yield)
	if err == errStopped {
		return err
	}
	if s.prose != nil && !s.finished {
		s.next.Text += s.prose.cut()
	}
	return cmp.Or(err, s.show(yield))
}

func (s *stream) answer(src *bufio.Reader, yield yieldFunc) error {
	switch first, err := firstByte(src); {
	case err != nil:
		return s.end(err)
	case first == '<':
		return s.origin.WebPage(200)
	case first == '{':
		return s.whole(src, yield)
	}
	r := wire.NewEventReader(src)
	for {
		ev, err := r.Next()
		if err != nil {
			return s.end(err)
		}
		if len(ev.Data) == 0 {
			continue
		}
		if string(ev.Data) == "[DONE]" {
			return s.end(io.EOF)
		}
		err = s.event(ev, yield)
		if err == nil && !r.Ready() { // what has come together is shown together
			err = s.show(yield)
		}
		if err != nil {
			return err
		}
	}
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

// end judges how the stream ended. An answer without a finish reason is cut, whatever else was said; with one it is
// complete, whatever is missing.
func (s *stream) end(err error) error {
	switch {
	case s.finished:
		return nil
	case err != io.EOF:
		return err
	case s.events == 0:
		return s.origin.Error(model.ClassTransient, nil, "the stream was empty")
	}
	return s.origin.Error(model.ClassTransient, io.ErrUnexpectedEOF, "the stream ended without a finish reason")
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
	s.inWhole = true
	if err := s.event(wire.Event{Data: data}, yield); err != nil {
		return err
	}
	return s.end(io.EOF)
}

func (s *stream) event(in wire.Event, yield yieldFunc) error {
	ev := &s.decoded
	if err := ev.decode(in.Data); err != nil {
		return s.origin.Error(model.ClassTransient, err, "the stream holds an event that is no JSON: %.200s", in.Data)
	}
	s.events++
	if !isNull(ev.Error) {
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
	return c.Text != "" || c.Reasoning != "" || len(c.ToolCalls) > 0 || c.Usage != nil || c.FinishReason != "" ||
		len(c.Metadata) > 0 || len(c.Kwargs) > 0
}

// metadata names who answered.
func (s *stream) metadata(ev *event) message.Fields {
	s.head = true
	f := message.Fields{"model_provider": rawjson.AppendString(nil, s.origin.Provider)}
	set := func(key string, raw json.RawMessage, otherwise string) {
		value, _ := rawjson.String(raw)
		if value = or(value, otherwise); value != "" {
			f[key] = rawjson.AppendString(nil, value)
		}
	}
	set("id", ev.ID, "")
	set("model_name", ev.Model, s.origin.Model)
	set("system_fingerprint", ev.Fingerprint, "")
	return f
}

func (s *stream) choice(in *choice, out *message.Chunk) error {
	for _, d := range []*delta{&in.Delta, &in.Message} {
		if err := s.delta(d, out); err != nil {
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
	if !isNull(d.Refusal) {
		out.Text += s.text.join(d.Refusal)
	}
	for _, raw := range d.ToolCalls {
		if isNull(raw) {
			continue
		}
		c, err := s.calls.add(raw)
		if err != nil {
			return s.badCall(err, raw)
		}
		out.ToolCalls = append(out.ToolCalls, c)
	}
	if !isNull(d.FunctionCall) {
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
		if unmarshal(raw, &b) == nil {
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
	_ = unmarshal(raw, &list)
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
	_ = unmarshal(raw, &list)
	var out strings.Builder
	for _, b := range list {
		out.WriteString(s.reasoning.join(b.Text))
	}
	return out.String()
}

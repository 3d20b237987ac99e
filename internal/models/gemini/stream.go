package gemini

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/rawjson"
	"github.com/pudu-ai/pudu/internal/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// errStopped says that the consumer wants no more.
var errStopped = errors.New("stream stopped by its consumer")

type yieldFunc = func(message.Chunk, error) bool

// stream turns the events of one answer into chunks.
type stream struct {
	origin   *wire.Origin
	decoded  event // reused from event to event
	events   int
	head     bool // metadata has been sent
	finished bool
	id       string        // of the answer
	calls    int           // seen so far
	said     bool          // there is visible text
	usage    message.Usage // so far
	counted  bool          // usage is newer than what was sent
	parts    parts
	next     message.Chunk // has been read and not been shown
}

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
		return s.end(err)
	case first == '<':
		return s.origin.WebPage(200)
	case first == '{' || first == '[':
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
		err = s.event(ev.Data, yield)
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

// whole reads an answer that is no event stream: one object, or a list of them, as gateways send that drop "alt=sse".
func (s *stream) whole(body io.Reader, yield yieldFunc) error {
	data, err := io.ReadAll(io.LimitReader(body, wire.MaxEvent+1))
	if err != nil {
		return err
	}
	if len(data) > wire.MaxEvent {
		return s.origin.Error(model.ClassBadRequest, wire.ErrEventTooLong, "the answer is larger than 64 MiB")
	}
	if data = bytes.TrimSpace(data); data[0] != '[' || !json.Valid(data) {
		return cmp.Or(s.event(data, yield), s.end(io.EOF))
	}
	list := cursor{data}
	for list.enter('['); list.more(); {
		if err := s.event(list.value(), yield); err != nil {
			return err
		}
	}
	return s.end(io.EOF)
}

func (s *stream) event(data []byte, yield yieldFunc) error {
	if !json.Valid(data) {
		return s.origin.Error(model.ClassTransient, nil, "the stream holds an event that is no JSON: %.200s", data)
	}
	s.events++
	ev := &s.decoded
	ev.decode(data)
	if ev.failure != nil {
		return streamError(s.origin, ev.failure)
	}
	if ev.counted {
		s.usage, s.counted = ev.usage, true
	}
	if err := s.begin(ev, yield); err != nil {
		return err
	}
	if err := s.candidate(&ev.candidate, yield); err != nil {
		return err
	}
	if reason := text(ev.blocked); reason != "" && !s.finished {
		return s.finish(reason, message.Fields{"block_reason": rawjson.AppendString(nil, reason)}, yield)
	}
	if s.finished && s.counted {
		return s.add(message.Chunk{Usage: s.totals()}, yield)
	}
	return nil
}

// begin says who answers.
func (s *stream) begin(ev *event, yield yieldFunc) error {
	if s.head || !ev.answers {
		return nil
	}
	s.head, s.id = true, text(ev.id)
	f := message.Fields{
		"model_provider": rawjson.AppendString(nil, s.origin.Provider),
		"model_name":     rawjson.AppendString(nil, cmp.Or(text(ev.by), s.origin.Model)),
	}
	if s.id != "" {
		f["id"] = rawjson.AppendString(nil, s.id)
	}
	return s.add(message.Chunk{Metadata: f}, yield)
}

func (s *stream) candidate(c *candidate, yield yieldFunc) error {
	for i := range c.parts {
		if err := s.part(&c.parts[i], yield); err != nil {
			return err
		}
	}
	reason := text(c.reason)
	if reason == "" || reason == "FINISH_REASON_UNSPECIFIED" || s.finished {
		return nil
	}
	explanation := text(c.explanation)
	if s.lost(reason) {
		return s.origin.Error(model.ClassTransient, nil, "the model's call of a tool could not be read (%s): %.500s", reason, explanation)
	}
	var more message.Fields
	if explanation != "" {
		more = message.Fields{"finish_message": rawjson.AppendString(nil, explanation)}
	}
	return s.finish(reason, more, yield)
}

// lost reports whether the answer was a call that the API could not read, and nothing else. To ask again helps then; an
// answer without a word would end the turn.
func (s *stream) lost(reason string) bool {
	malformed := strings.HasPrefix(reason, "MALFORMED_") || reason == "UNEXPECTED_TOOL_CALL"
	return malformed && !s.said && s.calls == 0
}

// part adds one piece. The order of the pieces is that of the message's parts.
func (s *stream) part(p *part, yield yieldFunc) error {
	words := text(p.text)
	switch {
	case p.called:
		return s.add(message.Chunk{ToolCalls: []message.ToolCallChunk{s.call(p)}}, yield)
	case p.thought:
		signature := text(p.signature)
		if words == "" && signature == "" {
			return nil
		}
		s.parts.thought(signature != "")
		return s.add(message.Chunk{Reasoning: words, Signature: signature}, yield)
	}
	if words != "" {
		s.said = s.said || strings.TrimSpace(words) != ""
		s.parts.text()
	}
	if isText(p.signature) {
		s.parts.sign(p.signature)
		if s.finished {
			return s.add(message.Chunk{Text: words, Kwargs: s.parts.kwargs()}, yield)
		}
	}
	if words == "" {
		return nil
	}
	return s.add(message.Chunk{Text: words}, yield)
}

// call reads a call, which always comes in one piece.
func (s *stream) call(p *part) message.ToolCallChunk {
	c := message.ToolCallChunk{Index: s.calls, ID: text(p.id), Name: text(p.name), Args: string(p.args)}
	if c.Args == "" || c.Args == "null" {
		c.Args = "{}"
	}
	if c.ID == "" {
		c.ID = madeUp + cmp.Or(s.id, rand.Text()) + "_" + strconv.Itoa(s.calls)
	}
	if isText(p.signature) {
		c.Extra = message.Fields{keySignature: bytes.Clone(p.signature)}
	}
	s.calls++
	return c
}

// finish ends the message. Only now the usage is told: the API repeats it, as a total so far, with every event.
func (s *stream) finish(reason string, more message.Fields, yield yieldFunc) error {
	s.finished = true
	c := message.Chunk{FinishReason: reason, Metadata: more, Kwargs: s.parts.kwargs()}
	if s.counted {
		c.Usage = s.totals()
	}
	return s.add(c, yield)
}

func (s *stream) totals() *message.Usage {
	s.counted = false
	u := s.usage
	return &u
}

// add puts a chunk behind what has been read, together with it if that changes nothing.
func (s *stream) add(c message.Chunk, yield yieldFunc) error {
	if s.next.Join(c) {
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
	return c.Text != "" || c.Reasoning != "" || c.Signature != "" || len(c.ToolCalls) > 0 || c.Usage != nil ||
		c.FinishReason != "" || len(c.Metadata) > 0 || len(c.Kwargs) > 0
}

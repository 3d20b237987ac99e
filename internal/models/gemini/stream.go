package gemini

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// stream turns the events of one answer into chunks.
type stream struct {
	origin  *wire.Origin
	decoded event  // reused from event to event
	head    bool   // metadata has been sent
	id      string // of the answer
	calls   int    // seen so far
	said    bool   // there is visible text
	counted bool   // the usage is newer than what was sent
	parts   parts
}

var _ wire.Decoder = (*stream)(nil)

// Whole reads an answer that is no event stream: one object, or a list of them, as gateways send that drop "alt=sse".
func (s *stream) Whole(data []byte, out *wire.Chunks) error {
	list, ok := rawjson.Elements(data)
	if !ok || !json.Valid(data) {
		list = []json.RawMessage{data}
	}
	for _, one := range list {
		if err := s.Event(wire.Event{Data: one}, out); err != nil {
			return err
		}
	}
	return nil
}

// Event reads one event.
func (s *stream) Event(in wire.Event, out *wire.Chunks) error {
	ev := &s.decoded
	if !ev.decode(in.Data) {
		return s.origin.NoJSON(in.Data, nil)
	}
	if ev.failure != nil {
		return s.origin.StreamError(ev.failure)
	}
	s.counted = s.counted || ev.counted
	s.begin(ev, out)
	if err := s.candidate(&ev.candidate, out); err != nil {
		return err
	}
	if reason := text(ev.blocked); reason != "" && !out.Finished() {
		s.finish(reason, message.Fields{"block_reason": rawjson.AppendString(nil, reason)}, out)
	} else if out.Finished() && s.counted {
		out.Put(message.Chunk{Usage: s.totals()})
	}
	return nil
}

// begin says who answers.
func (s *stream) begin(ev *event, out *wire.Chunks) {
	if s.head || !ev.answers {
		return
	}
	s.head, s.id = true, text(ev.id)
	out.Put(message.Chunk{Metadata: s.origin.Answers(s.id, text(ev.by))})
}

func (s *stream) candidate(c *candidate, out *wire.Chunks) error {
	for i := range c.parts {
		s.part(&c.parts[i], out)
	}
	reason := text(c.reason)
	if reason == "" || reason == "FINISH_REASON_UNSPECIFIED" || out.Finished() {
		return nil
	}
	explanation := text(c.explanation)
	if s.lost(reason) {
		return s.origin.Error(model.ClassTransient, nil, "the model's call of a tool could not be read (%s): %.500s",
			reason, explanation)
	}
	var more message.Fields
	if explanation != "" {
		more = message.Fields{"finish_message": rawjson.AppendString(nil, explanation)}
	}
	s.finish(reason, more, out)
	return nil
}

// lost reports whether the answer was a call that the API could not read, and nothing else. To ask again helps then; an
// answer without a word would end the turn.
func (s *stream) lost(reason string) bool {
	malformed := strings.HasPrefix(reason, "MALFORMED_") || reason == "UNEXPECTED_TOOL_CALL"
	return malformed && !s.said && s.calls == 0
}

// part adds one piece. The order of the pieces is that of the message's parts.
func (s *stream) part(p *part, out *wire.Chunks) {
	words := text(p.text)
	switch {
	case p.called:
		out.Put(message.Chunk{ToolCalls: []message.ToolCallChunk{s.call(p)}})
		return
	case p.thought:
		signature := text(p.signature)
		if words == "" && signature == "" {
			return
		}
		s.parts.thought(signature != "")
		out.Put(message.Chunk{Reasoning: words, Signature: signature})
		return
	}
	if words != "" {
		s.said = s.said || strings.TrimSpace(words) != ""
		s.parts.text()
	}
	c := message.Chunk{Text: words}
	if isText(p.signature) {
		s.parts.sign(p.signature)
		if out.Finished() {
			c.Kwargs = s.parts.kwargs()
		}
	}
	out.Put(c)
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
func (s *stream) finish(reason string, more message.Fields, out *wire.Chunks) {
	c := message.Chunk{FinishReason: reason, Metadata: more, Kwargs: s.parts.kwargs()}
	if s.counted {
		c.Usage = s.totals()
	}
	out.Put(c)
}

func (s *stream) totals() *message.Usage {
	s.counted = false
	return s.decoded.usage.counts()
}

package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// streamed is what the last try of a model call has shown: the source of its chunk boundaries and, when the call is
// cancelled, of the partial answer.
type streamed struct {
	id      string
	builder message.Builder
	shown   []event.Data // each an event.Chunk; who was shown it holds the same
	held    message.Chunk
}

// fullPieces is how many pieces of an answer are shown as they come. Beyond, pieces are joined to larger ones, by a
// byte more for each as many again: a piece takes many times its bytes in memory.
const fullPieces = 1024

// cutsOf returns the boundaries if the message is the one that was shown.
func (s *streamed) cutsOf(m message.Message) []event.Cut {
	if s.id != m.ID || len(s.shown) == 0 {
		return nil
	}
	pieces := make([]event.Chunk, len(s.shown))
	for i, d := range s.shown {
		pieces[i], _ = d.(event.Chunk)
	}
	return event.Cuts(wholeOf(m), pieces)
}

// wholeOf is a finished message as one piece.
func wholeOf(m message.Message) event.Chunk {
	c := event.Chunk{MessageID: m.ID, Text: m.Text(), Reasoning: m.Reasoning()}
	for _, tc := range m.ToolCalls {
		c.ToolCalls = append(c.ToolCalls, event.ToolCallChunk{ID: tc.ID, Name: tc.Name, Args: string(tc.Args)})
	}
	return c
}

// Chunks returns the pieces in which a message was shown while it was streamed, from the update that brought it into
// the state (see [event.State]). ok is false if it did not, or if the boundaries are gone.
func Chunks(m event.Message, writes json.RawMessage) (chunks []event.Chunk, ok bool) {
	var list []struct { // as state.Update.AppendJSON wrote it
		Channel string          `json:"c"`
		Value   json.RawMessage `json:"v"`
	}
	if len(m.Chunks) == 0 || json.Unmarshal(writes, &list) != nil {
		return nil, false
	}
	for _, w := range list {
		var msgs []message.Message
		if w.Channel != Messages.Name() || json.Unmarshal(w.Value, &msgs) != nil {
			continue
		}
		for _, msg := range msgs {
			if msg.ID == m.MessageID {
				return m.Split(wholeOf(msg)), true
			}
		}
	}
	return nil, false
}

// streamModel is the innermost model handler: it makes the call, shows each piece under a fresh message id and folds
// the pieces into the answer. When the call fails, what it showed is withdrawn; when it is cancelled, the loop keeps
// it.
func streamModel(ctx context.Context, req *ModelRequest) (*ModelResponse, error) {
	s := req.stream
	s.withdraw(req.Runtime, "the model is asked again")
	var size model.Meter
	s.id = req.Runtime.NewID()
	call := &model.Request{System: req.System, Messages: req.Messages, Tools: req.Tools, Settings: req.Settings}
	req.tries.begin(req, call)
	for chunk, err := range req.Model.Stream(ctx, call) {
		if err == nil {
			err = tooLarge(req.Model, size.Add(&chunk))
		}
		if err != nil {
			req.tries.end(req.Runtime.Now(), err)
			return nil, s.fail(ctx, req.Runtime, err)
		}
		req.tries.piece(req.Runtime.Now)
		s.add(req.Runtime, chunk)
	}
	req.tries.end(req.Runtime.Now(), nil)
	s.flush(req.Runtime)
	msg := s.builder.Message()
	msg.ID = s.id
	return &ModelResponse{Message: msg}, nil
}

// tooLarge is the failure of a model whose answer is beyond its bounds. Providers end such an answer themselves, before
// they hold more of it; this is for other models.
func tooLarge(m model.ChatModel, err error) error {
	if err == nil {
		return nil
	}
	provider, name, _ := strings.Cut(m.Name(), "/")
	return &model.Error{Class: model.ClassTooLarge, Provider: provider, Model: name, Message: err.Error(), Err: err}
}

func (s *streamed) add(rt *Runtime, c message.Chunk) {
	c = validText(c)
	s.builder.Add(c)
	next := message.Chunk{Text: c.Text, Reasoning: c.Reasoning, ToolCalls: slices.Clone(c.ToolCalls)}
	if !s.held.Join(next) {
		s.flush(rt)
		s.held = next
	}
	if s.held.Size() >= len(s.shown)/fullPieces {
		s.flush(rt)
	}
}

// flush shows what is held.
func (s *streamed) flush(rt *Runtime) {
	c := s.held
	s.held = message.Chunk{}
	if c.Text == "" && c.Reasoning == "" && len(c.ToolCalls) == 0 {
		return
	}
	ev := event.Chunk{MessageID: s.id, Text: c.Text, Reasoning: c.Reasoning}
	for _, tc := range c.ToolCalls {
		ev.ToolCalls = append(
			ev.ToolCalls,
			event.ToolCallChunk{Index: tc.Index, ID: tc.ID, Name: tc.Name, Args: tc.Args},
		)
	}
	var d event.Data = ev
	s.shown = append(s.shown, d)
	rt.Emit(NodeModel, d)
}

// validText makes every piece text by itself, as the log and the wire hold it: else what is read back would differ from
// what was shown.
func validText(c message.Chunk) message.Chunk {
	c.Text, c.Reasoning = valid(c.Text), valid(c.Reasoning)
	for i, tc := range c.ToolCalls {
		if utf8.ValidString(tc.ID) && utf8.ValidString(tc.Name) && utf8.ValidString(tc.Args) {
			continue
		}
		c.ToolCalls = append([]message.ToolCallChunk(nil), c.ToolCalls...)
		tc.ID, tc.Name, tc.Args = valid(tc.ID), valid(tc.Name), valid(tc.Args)
		c.ToolCalls[i] = tc
	}
	return c
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func (s *streamed) fail(ctx context.Context, rt *Runtime, err error) error {
	if ctx.Err() != nil {
		s.flush(rt)
		return context.Cause(ctx)
	}
	s.withdraw(rt, err.Error())
	return err
}

// withdraw takes back what was shown, if anything was: every message that begins to stream ends with an event.Message
// or an event.Discard.
func (s *streamed) withdraw(rt *Runtime, why string) {
	if len(s.shown) > 0 {
		rt.Emit(NodeModel, event.Discard{MessageID: s.id, Reason: why})
	}
	*s = streamed{}
}

package agent

import (
	"context"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// streamed is what the last try of a model call has shown: the source of its chunk boundaries and, when the call is
// cancelled, of the partial answer.
type streamed struct {
	id      string
	builder message.Builder
	cuts    []event.Cut
}

// cutsOf returns the boundaries if they are those of the message.
func (s *streamed) cutsOf(id string) []event.Cut {
	if s.id != id {
		return nil
	}
	return s.cuts
}

// streamModel is the innermost model handler: it makes the call, shows each piece under a fresh message id and folds
// the pieces into the answer. When the call fails, what it showed is withdrawn; when it is cancelled, the loop keeps it.
func streamModel(ctx context.Context, req *ModelRequest) (*ModelResponse, error) {
	s := req.stream
	*s = streamed{id: req.Runtime.NewID()}
	call := &model.Request{System: req.System, Messages: req.Messages, Tools: req.Tools, Settings: req.Settings}
	for chunk, err := range req.Model.Stream(ctx, call) {
		if err != nil {
			return nil, s.fail(ctx, req.Runtime, err)
		}
		s.add(req.Runtime, chunk)
	}
	msg := s.builder.Message()
	msg.ID = s.id
	return &ModelResponse{Message: msg}, nil
}

func (s *streamed) add(rt *Runtime, c message.Chunk) {
	s.builder.Add(c)
	if c.Text == "" && c.Reasoning == "" && len(c.ToolCalls) == 0 {
		return
	}
	ev := event.Chunk{MessageID: s.id, Text: c.Text, Reasoning: c.Reasoning}
	cut := event.Cut{Text: len(c.Text), Reasoning: len(c.Reasoning)}
	for _, tc := range c.ToolCalls {
		ev.ToolCalls = append(ev.ToolCalls, event.ToolCallChunk{Index: tc.Index, ID: tc.ID, Name: tc.Name, Args: tc.Args})
		cut.Args = append(cut.Args, tc.Index, len(tc.Args))
	}
	s.cuts = append(s.cuts, cut)
	rt.Emit(NodeModel, ev)
}

func (s *streamed) fail(ctx context.Context, rt *Runtime, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(s.cuts) > 0 {
		rt.Emit(NodeModel, event.Discard{MessageID: s.id, Reason: err.Error()})
	}
	*s = streamed{}
	return err
}

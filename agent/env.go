package agent

import (
	"cmp"
	"context"
	"iter"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// env is the run's Env with what it says of the run, and with models whose calls count as the run's.
func (rt *Runtime) env() tool.Env {
	e := rt.Env
	e.Ref.User, e.Ref.Thread = cmp.Or(e.Ref.User, rt.UserID), cmp.Or(e.Ref.Thread, rt.ThreadID)
	e.Ref.Run = cmp.Or(e.Ref.Run, rt.RunID)
	if find := e.Services.Model; find != nil {
		e.Services.Model = func(role string) (model.ChatModel, error) {
			m, err := find(role)
			if err != nil {
				return nil, err
			}
			return counted{m, rt.Spend}, nil
		}
	}
	return e
}

// counted is a model that tells what its calls take.
type counted struct {
	model.ChatModel

	spend func(message.Usage)
}

// Stream implements [model.ChatModel].
func (c counted) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		var all message.Builder
		defer func() {
			if m := all.Message(); m.Usage != nil {
				c.spend(*m.Usage)
			}
		}()
		for chunk, err := range c.ChatModel.Stream(ctx, req) {
			if err == nil {
				all.Add(chunk)
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

package llmerror

import (
	"context"
	"iter"
	"time"

	"github.com/pudu-ai/pudu/internal/model/modelcall"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// aside is a model for calls that are no part of a conversation.
type aside struct{ m *Middleware }

// Aside returns the first model for calls beside the conversation, such as that for a title. They are tried again, take
// their turn and go on with another model as the run's own calls do; nothing is announced, and nothing is explained:
// what fails is an error.
func Aside(cfg Config) model.ChatModel { return aside{New(cfg)} }

// Name implements [model.ChatModel].
func (s aside) Name() string { return s.m.cfg.First.Model.Name() }

// Stream implements [model.ChatModel]. Once some text is out there is no other try.
func (s aside) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		a, stopped := s.m.asking(nil, time.Now), false
		a.attempt = func(ctx context.Context, to *modelcall.Model) error {
			asked := *req
			if to.Instead {
				asked.Settings = to.Entry.Fit(req.Settings)
			}
			for c, err := range to.Stream(ctx, &asked) {
				if err != nil {
					return err
				}
				a.shown = a.shown || c.Text != "" || c.Reasoning != "" || len(c.ToolCalls) > 0
				if stopped = !yield(c, nil); stopped {
					return nil
				}
			}
			return nil
		}
		if err := a.run(ctx); err != nil && !stopped {
			yield(message.Chunk{}, err)
		}
	}
}

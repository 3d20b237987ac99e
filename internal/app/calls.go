package app

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/calls"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// newCalls are the calls of models in the runs of a store. models are those that the configuration has now.
func newCalls(st database.Store, schema state.Schema, models func() []config.Model, log *slog.Logger) *calls.Calls {
	return calls.New(st, calls.Config{
		Schema: schema, Messages: agent.Messages.Get, Log: log,
		Price: func(model string, u message.Usage) (float64, string, bool) {
			for _, m := range models() {
				if m.Name == model && m.Pricing != nil {
					return m.Pricing.Cost(u), m.Pricing.Money(), true
				}
			}
			return 0, "", false
		},
		Window: func(model string) int {
			for _, m := range models() {
				if m.Name == model {
					return m.ContextWindow
				}
			}
			return 0
		},
	})
}

// noted notes the calls of an attempt of a run.
func (e *engine) noted(run store.Run) func(context.Context, *agent.Sent) json.RawMessage {
	notes := e.calls.For(access.FromRow(run.UserID)).Notes()
	return func(ctx context.Context, s *agent.Sent) json.RawMessage {
		a := calls.Asked(*s)
		return notes.Note(ctx, &a)
	}
}

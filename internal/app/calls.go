package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/calls"
	"github.com/pudu-ai/pudu/internal/lead"
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

// Calls implements cli.App.
func (a App) Calls(ctx context.Context, o cli.Options, do func(cli.Calls) error) error {
	p, err := a.reach(ctx, o)
	switch {
	case err != nil:
		return err
	case p.server != nil:
		return p.close(do(client.Calls{Client: p.server}))
	}
	schema, err := lead.Schema(p.cfg, a.Middlewares...)
	if err != nil {
		return errors.Join(err, p.close(nil))
	}
	all := newCalls(p.store, schema, func() []config.Model { return p.cfg.Models }, nil)
	return p.close(do(callsHere{all.For(access.Default()), p.store.For(access.Default())}))
}

// callsHere are those of the user's runs here.
type callsHere struct {
	*calls.Mine

	data store.UserData
}

// Find implements cli.Calls.
func (c callsHere) Find(ctx context.Context, id string) (thread, run string, err error) {
	r, err := c.data.Run(ctx, id)
	if !errors.Is(err, store.ErrNotFound) {
		return r.ThreadID, r.ID, err
	}
	list, err := c.data.ListRuns(ctx, store.RunFilter{ThreadID: id, Limit: 1})
	if err == nil && len(list) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return "", "", err
	}
	return id, list[0].ID, nil
}

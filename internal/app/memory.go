package app

import (
	"context"
	"errors"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

// memory is that of a program that carries out runs.
func (e *engine) memory() *memory.Memory {
	return memory.New(memory.Config{Store: e.store, Settings: func() config.Memory { return e.now().cfg.Memory }})
}

// knew says what a run knew of the memory, by the messages that it has left, be they on the thread's branch or not.
func (e *engine) knew(ctx context.Context, u access.User, run store.Run) ([]memory.Told, error) {
	return knew(ctx, e.store.For(u), e.memory().For(u), e.schema, run)
}

func knew(ctx context.Context, data store.UserData, mine *memory.Mine, schema state.Schema, run store.Run) ([]memory.Told, error) {
	last, err := mine.LastOf(ctx, run.ID)
	if err != nil || last == "" {
		return []memory.Told{}, err
	}
	cp, err := data.Checkpoint(ctx, schema, run.ThreadID, last)
	if err != nil {
		return nil, err
	}
	return mine.Why(ctx, agent.Messages.Get(cp.State))
}

// Memory implements cli.App: here, through the server that holds the data folder, or at a server elsewhere.
func (a App) Memory(ctx context.Context, o cli.Options, do func(cli.Memory) error) error {
	p, err := a.reach(ctx, o)
	switch {
	case err != nil:
		return err
	case p.server != nil:
		return p.close(do(client.Memory{Client: p.server}))
	}
	m := memory.New(memory.Config{Store: p.store, Settings: func() config.Memory { return p.cfg.Memory }})
	schema, err := lead.Schema(p.cfg, a.Middlewares...)
	if err != nil {
		return errors.Join(err, p.close(nil))
	}
	return p.close(do(memoryHere{m.For(access.Default()), p, schema}))
}

// memoryHere is the memory of the user of the commands.
type memoryHere struct {
	*memory.Mine

	at     place
	schema state.Schema
}

// Forget forgets a fact and what was made of it.
func (h memoryHere) Forget(ctx context.Context, id string) (int, error) {
	n, err := h.Mine.Forget(ctx, id)
	if err == nil {
		h.at.record(ctx, audit.Delete, "memory fact", id)
	}
	return n, err
}

// Why implements cli.Memory.
func (h memoryHere) Why(ctx context.Context, id string) ([]memory.Told, error) {
	data := h.at.store.For(access.Default())
	_, found, err := callsHere{data: data}.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	run, err := data.Run(ctx, found)
	if err != nil {
		return nil, err
	}
	return knew(ctx, data, h.Mine, h.schema, run)
}

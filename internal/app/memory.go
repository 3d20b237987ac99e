package app

import (
	"context"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// memory is that of a program that carries out runs.
func (e *engine) memory() *memory.Memory {
	return memory.New(memory.Config{Store: e.store, Settings: func() config.Memory { return e.now().cfg.Memory }})
}

// messagesOf are those of a thread's head.
func (e *engine) messagesOf(ctx context.Context, u access.User, thread string) ([]message.Message, store.Thread, error) {
	t, err := e.store.For(u).Thread(ctx, thread)
	if err != nil || t.Head == "" {
		return nil, t, err
	}
	cp, err := e.store.For(u).Checkpoint(ctx, e.schema, thread, t.Head)
	return agent.Messages.Get(cp.State), t, err
}

// remembered says what a run was told of the memory.
func (e *engine) remembered(ctx context.Context, u access.User, run store.Run) ([]memory.Told, error) {
	msgs, _, err := e.messagesOf(ctx, u, run.ThreadID)
	if err != nil {
		return nil, err
	}
	return e.memory().For(u).Why(ctx, msgs, run.ID)
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
	return p.close(do(memoryHere{m.For(access.Default()), p}))
}

// memoryHere is the memory of the user of the commands.
type memoryHere struct {
	*memory.Mine

	at place
}

// Forget forgets a fact and what was made of it.
func (h memoryHere) Forget(ctx context.Context, id string) (int, error) {
	n, err := h.Mine.Forget(ctx, id)
	if err == nil {
		h.at.record(ctx, audit.Delete, "memory fact", id)
	}
	return n, err
}

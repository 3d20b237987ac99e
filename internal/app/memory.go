package app

import (
	"context"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/memory"
)

// memory is that of a program that carries out runs.
func (e *engine) memory() *memory.Memory {
	return memory.New(memory.Config{Store: e.store, Settings: func() config.Memory { return e.now().cfg.Memory }})
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

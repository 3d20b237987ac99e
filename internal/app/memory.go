package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// memory is that of a program that carries out runs.
func (e *engine) memory() *memory.Memory {
	return memory.New(memory.Config{Store: e.store, Settings: func() config.Memory { return e.now().cfg.Memory }})
}

// memoryReader reads conversations for what may be remembered of them.
func (e *engine) memoryReader() *memory.Reader {
	return &memory.Reader{
		Memory: e.memory(), Talk: e.talk,
		Left: func(u access.User, thread string, why map[string]int) {
			e.log.Debug("left out of the memory", "user", u.ID(), "thread", thread, "why", why)
		},
		Done: func(u access.User) { e.news.For(u).Notice("memory") },
	}
}

// talk is a thread that is to be read: its messages, its agent, and the model of its last run, or the one that is configured for that.
func (e *engine) talk(ctx context.Context, u access.User, thread string) (t memory.Talk, err error) {
	data := e.store.For(u)
	list, err := data.ListRuns(ctx, store.RunFilter{ThreadID: thread, Limit: 1})
	if err != nil || len(list) == 0 {
		return t, cmp.Or(err, store.ErrNotFound)
	}
	cp, err := data.Checkpoint(ctx, e.schema, thread, "")
	if err != nil {
		return t, err
	}
	t.Messages = agent.Messages.Get(cp.State)
	req, err := runs.RequestOf(list[0])
	if err != nil {
		return t, err
	}
	if err := e.fresh(ctx); err != nil {
		return t, err
	}
	s, c := e.now(), &lead.Config{}
	if err := e.choose(s, c, runs.Job{Run: list[0], Request: req}); err != nil {
		return t, fmt.Errorf("choose a model: %w", err)
	}
	t.Agent, t.Off = c.Agent.Name, !c.Agent.Remembers()
	if m, _ := s.models.named(string(s.cfg.Memory.Backend.Model)); m != nil {
		t.Model = m
	} else if !c.Choice.Model.IsDemo() { // which has learned its words by heart
		t.Model, err = s.forRole(tool.MainModel, c)
	}
	return t, err
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
	p, err := a.settle(ctx, o)
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

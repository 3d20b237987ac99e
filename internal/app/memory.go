package app

import (
	"cmp"
	"context"
	"fmt"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
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

// talk is a thread that is to be read: its messages, its agent, and the model of its last run, or the one that is
// configured for that.
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
	mine := e.memory().For(u)
	last, err := mine.LastOf(ctx, run.ID)
	if err != nil || last == "" {
		return []memory.Told{}, err
	}
	cp, err := e.store.For(u).Checkpoint(ctx, e.schema, run.ThreadID, last)
	if err != nil {
		return nil, err
	}
	return mine.Why(ctx, agent.Messages.Get(cp.State))
}

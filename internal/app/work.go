package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// Work is a kind of jobs that the program brings along.
type Work struct {
	job.Kind // without Run

	Do func(ctx context.Context, j job.Job, env tool.Env) error
}

// kinds are all kinds of jobs that this process does.
func (e *engine) kinds() ([]job.Kind, error) {
	kinds := slices.Concat(e.manager.Kinds(), e.cleaning(), e.bin().Kinds(), newIndexer(e.store, e.disk, e.schema).
		Kinds(), e.memoryReader().Kinds(), []job.Kind{e.undoing()})
	for _, w := range e.own.Work {
		k := w.Kind
		if err := (store.NewJob{Kind: k.Name, Key: "-"}).Check(); err != nil {
			return nil, fmt.Errorf("the program's jobs: %w", err)
		}
		if slices.ContainsFunc(kinds, func(other job.Kind) bool { return other.Name == k.Name }) {
			return nil, fmt.Errorf("the program's jobs: there is a kind %q already; give yours another name", k.Name)
		}
		if w.Do == nil {
			return nil, fmt.Errorf("the program's jobs: nobody does those of the kind %q: Run is missing", k.Name)
		}
		k.Run = func(ctx context.Context, j job.Job) (func(job.Tx) error, error) {
			return nil, w.Do(ctx, j, e.envOfJob(j))
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

// later says what is wrong with a job that a tool or a hook asks for. It may ask for those of the program alone.
func (e *engine) later(j tool.Job) error {
	var names []string
	for _, w := range e.own.Work {
		names = append(names, w.Name)
	}
	if !slices.Contains(names, j.Kind) {
		return fmt.Errorf("no job of the kind %.40q can be asked for; the program's are: %s", j.Kind,
			strings.Join(names, ", "))
	}
	return store.NewJob(j).Check()
}

// envOfJob is what a job of the program may use: what a run may, but for the thread's files, which may be gone, and its
// sandbox.
func (e *engine) envOfJob(j job.Job) tool.Env {
	s, c := e.now(), &lead.Config{}
	err := e.choose(s, c, runs.Job{Run: store.Run{UserID: j.User.ID()}})
	env := e.envOf(s, runs.Job{Run: store.Run{UserID: j.User.ID(), ThreadID: j.Thread}}, c)
	if env.Services.Later = nil; err != nil {
		env.Services.Model = func(string) (model.ChatModel, error) { return nil, err }
	}
	return env
}

package goals

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
	"github.com/pudu-ai/pudu/internal/lib/units"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// measureSize measures what usual runs take on disk.
func measureSize(ctx context.Context, e env, r *measure.Table) error {
	const tasks = 50
	task, err := grown(ctx, filepath.Join(e.dir, "tasks"), func(st *sqlstore.Store) error {
		return writeRuns(ctx, st, tasks, taskSteps, newID)
	})
	if err != nil {
		return err
	}
	thread := newID()
	turns, err := grown(ctx, filepath.Join(e.dir, "turns"), func(st *sqlstore.Store) error {
		return writeRuns(ctx, st, 60, 1, func() string { return thread })
	})
	if err != nil {
		return err
	}
	const said = 700 + 100 + 700 // an answer, the question's part, a tool's result
	r.Add(measure.Figure{Name: "5-step run on disk, beside its text", Unit: units.Bytes,
		Value: task / tasks, Beside: 100 + (taskSteps+1)*700 + taskSteps*700, Goal: measure.Sized(30 << 10)})
	r.Add(measure.Figure{Name: "60 turns with tool results, beside their text",
		Unit: units.Bytes, Value: turns, Beside: 60 * (said + 700), Goal: measure.Sized(1 << 20)})
	return nil
}

// writeRuns carries out runs of so many steps with answers and tool results of 700 bytes.
func writeRuns(ctx context.Context, st *sqlstore.Store, n, steps int, thread func() string) error {
	p := newProse(7)
	a, err := newAgent(newRobot(steps, p, 700), p, 0, tool.ReadOnly)
	if err != nil {
		return err
	}
	manager := newManager(st, a)
	for range n {
		if err := turn(ctx, manager, thread(), unseen, message.New(message.Human, p.text(100))); err != nil {
			return err
		}
	}
	return nil
}

// grown is how many bytes a store gains by the writes.
func grown(ctx context.Context, dir string, write func(*sqlstore.Store) error) (float64, error) {
	before, err := written(ctx, dir, func(*sqlstore.Store) error { return nil })
	if err != nil {
		return 0, err
	}
	after, err := written(ctx, dir, write)
	return float64(after - before), err
}

// written opens a store, writes to it, closes it, and returns the size of its folder.
func written(ctx context.Context, dir string, write func(*sqlstore.Store) error) (int64, error) {
	st, err := sqlstore.Open(ctx, sqlstore.Config{Dir: dir})
	if err != nil {
		return 0, err
	}
	if err := errors.Join(write(st), st.Close()); err != nil {
		return 0, err
	}
	return folderBytes(dir)
}

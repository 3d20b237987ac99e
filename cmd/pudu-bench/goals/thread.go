package goals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
	"github.com/pudu-ai/pudu/internal/lib/units"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

const (
	longTurns               = 2000
	shortTurns              = 20
	turnBytes               = 2 << 10 // a question and its answer
	longThread, shortThread = "long", "short"
)

// measureThread measures what a long conversation costs: on disk, to load, and for one more step.
func measureThread(ctx context.Context, e env, r *measure.Table) (err error) {
	dir := filepath.Join(e.dir, "thread")
	p := newProse(5)
	size, err := written(ctx, dir, func(st *sqlstore.Store) error { return writeThreads(ctx, st, p) })
	if err != nil {
		return err
	}
	r.Add(measure.Figure{Name: "2,000 turns of 2 KiB on disk, beside their text", Unit: units.Bytes,
		Value: float64(size), Beside: (longTurns + shortTurns) * turnBytes, Goal: measure.Sized(20 << 20)})
	st, err := sqlstore.Open(ctx, sqlstore.Config{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if err := measureLoad(ctx, st, dir, r); err != nil {
		return err
	}
	return measureMore(ctx, st, r)
}

func writeThreads(ctx context.Context, st *sqlstore.Store, p prose) error {
	a, err := newAgent(newRobot(0, p, turnBytes/2), p, 0, tool.ReadOnly)
	if err != nil {
		return err
	}
	manager := newManager(st, a)
	for i := range longTurns + shortTurns {
		thread := longThread
		if i < shortTurns {
			thread = shortThread
		}
		if err := turn(ctx, manager, thread, unseen, message.New(message.Human, p.text(turnBytes/2))); err != nil {
			return fmt.Errorf("turn %d: %w", i, err)
		}
	}
	return nil
}

// measureLoad loads the newest state with all its messages, as each run does before its first step: in a process that
// has used the thread before, and in one that sees it for the first time. The floor is reading a file of that size.
func measureLoad(ctx context.Context, st *sqlstore.Store, dir string, r *measure.Table) error {
	a, err := newAgent(&robot{}, newProse(0), 0, tool.ReadOnly)
	if err != nil {
		return err
	}
	plain := filepath.Join(dir, "plain")
	if err := writeState(ctx, plain, st, a.Schema()); err != nil {
		return err
	}
	again := timed(1, func(ctx context.Context) error { return loadLong(ctx, st, a.Schema()) })
	first := func(ctx context.Context) (ds []time.Duration, err error) {
		fresh, err := sqlstore.Open(ctx, sqlstore.Config{Dir: dir, ReadOnly: true})
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, fresh.Close()) }()
		start := time.Now()
		err = loadLong(ctx, fresh, a.Schema())
		return []time.Duration{time.Since(start)}, err
	}
	read := timed(1, func(context.Context) error {
		_, err := os.ReadFile(plain)
		return err
	})
	took, err := compare(ctx, 20, again, first, read)
	if err != nil {
		return err
	}
	r.Add(measure.Figure{Name: "load its newest state, used before",
		Unit: units.Seconds, Value: took[0], Beside: took[2], Goal: measure.Within(5e-3)})
	r.Add(measure.Figure{Name: "load it for the first time, beside reading a file",
		Unit: units.Seconds, Value: took[1], Beside: took[2]})
	return os.Remove(plain)
}

// loadLong loads the long thread and reads its messages.
func loadLong(ctx context.Context, st store.Store, schema state.Schema) error {
	cp, err := st.For(benchUser()).Checkpoint(ctx, schema, longThread, "")
	if err != nil {
		return err
	}
	if n := len(agent.Messages.Get(cp.State)); n != 2*longTurns {
		return fmt.Errorf("%d messages were loaded", n)
	}
	return nil
}

// writeState writes the long thread's state into a file of its own.
func writeState(ctx context.Context, file string, st store.Store, schema state.Schema) error {
	cp, err := st.For(benchUser()).Checkpoint(ctx, schema, longThread, "")
	if err != nil {
		return err
	}
	text, err := cp.State.AppendSnapshot(nil)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// measureMore compares one more step, and one more turn, of the long thread with those of the short one.
func measureMore(ctx context.Context, st *sqlstore.Store, r *measure.Table) error {
	const steps = 10
	p := newProse(6)
	bot := newRobot(steps, p, 70)
	a, err := newAgent(bot, p, loopMiddlewares, tool.ReadOnly)
	if err != nil {
		return err
	}
	manager := newManager(st, a)
	more := func(thread string) (step side, first *[]time.Duration) {
		first = new([]time.Duration)
		return func(ctx context.Context) ([]time.Duration, error) {
			bot.gaps()
			start := time.Now()
			err := turn(ctx, manager, thread, unseen, message.New(message.Human, "go on"))
			if len(bot.called) > 0 {
				*first = append(*first, bot.called[0].Sub(start))
			}
			return bot.gaps(), err
		}, first
	}
	long, longFirst := more(longThread)
	short, shortFirst := more(shortThread)
	took, err := compare(ctx, 20, long, short)
	if err != nil {
		return err
	}
	r.Add(measure.Figure{Name: "one more step at 2,000 turns beside one at 20",
		Unit: units.Seconds, Value: took[0], Beside: took[1], Goal: measure.AtMost(3)})
	r.Add(measure.Figure{Name: "from request to first model call, likewise", Unit: units.Seconds,
		Value: measure.Quantile(*longFirst, 0.5).Seconds(), Beside: measure.Quantile(*shortFirst, 0.5).Seconds()})
	return nil
}

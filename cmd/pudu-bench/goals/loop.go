package goals

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
	"github.com/pudu-ai/pudu/internal/lib/units"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

const (
	loopMessages    = 200
	loopMiddlewares = 15
	loopSteps       = 20 // of one run
)

// measureLoop measures what the loop adds to a step: a model node and a tools node, with hooks around both.
func measureLoop(ctx context.Context, e env, r *measure.Table) error {
	p := newProse(1)
	bot := newRobot(loopSteps, p, 70)
	a, err := newAgent(bot, p, loopMiddlewares, tool.ReadOnly)
	if err != nil {
		return err
	}
	if err := loopInMemory(ctx, r, a, bot, p); err != nil {
		return err
	}
	if err := loopDurable(ctx, e, r, bot, p, tool.ReadOnly, "step that looks"); err != nil {
		return err
	}
	return loopDurable(ctx, e, r, bot, p, tool.SideEffects, "step that acts")
}

// loopInMemory compares steps that keep nothing with the bare calls of the model and the tool.
func loopInMemory(ctx context.Context, r *measure.Table, a *agent.Agent, bot *robot, p prose) error {
	history := talk(p)
	bare := timed(loopSteps, bareStep(bot, look(p, 700, tool.ReadOnly, false), history))
	took, err := compare(ctx, 100, inMemory(a, bot, history), bare)
	if err != nil {
		return err
	}
	r.Add(measure.Figure{Name: "step, 15 middlewares, 200 messages",
		Unit: units.Seconds, Value: took[0], Beside: took[1], Goal: measure.Within(100e-6)})
	return nil
}

// inMemory times the steps of a run that keeps nothing.
func inMemory(a *agent.Agent, bot *robot, history []message.Message) func(context.Context) ([]time.Duration, error) {
	return func(ctx context.Context) ([]time.Duration, error) {
		begin, _, err := state.State{}.Apply(agent.Messages.Append(history...))
		if err != nil {
			return nil, err
		}
		bot.gaps()
		_, err = a.Run(ctx, &agent.Runtime{ThreadID: "thread", RunID: newID()}, begin)
		return bot.gaps(), err
	}
}

// bareStep calls the model and the tool as nobody would.
func bareStep(bot *robot, t tool.Tool, history []message.Message) func(context.Context) error {
	return func(ctx context.Context) error {
		if _, err := model.Collect(bot.Stream(ctx, &model.Request{Messages: history})); err != nil {
			return err
		}
		_, err := t.Run(ctx, &tool.Call{Name: toolName, Args: []byte(toolArgs)})
		return err
	}
}

// loopDurable compares steps that are committed to a store with the same without one, and with one bare fsync. A step
// whose tool has side effects is two commits, the intent and the result; of any other it is one.
func loopDurable(ctx context.Context, e env, r *measure.Table, bot *robot, p prose, effect tool.Effect,
	name string) (err error) {
	a, err := newAgent(bot, p, loopMiddlewares, effect)
	if err != nil {
		return err
	}
	dir := filepath.Join(e.dir, name)
	st, err := sqlstore.Open(ctx, sqlstore.Config{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	floor, closeFloor, err := syncFloor(dir, loopSteps)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFloor()) }()
	took, err := compare(ctx, 20, durableSteps(newManager(st, a), bot, talk(p)), inMemory(a, bot, talk(p)), floor)
	if err != nil {
		return err
	}
	r.Add(measure.Figure{Name: name + ", durable, beside one fsync",
		Unit: units.Seconds, Value: took[0], Beside: took[2], Goal: measure.Within(1e-3)})
	r.Add(measure.Figure{Name: "  what storing adds to it",
		Unit: units.Seconds, Value: took[0] - took[1], Beside: took[2], Goal: measure.Within(0.6e-3)})
	return nil
}

// durableSteps times the steps of a run on a thread that has a history.
func durableSteps(manager *runs.Manager, bot *robot,
	history []message.Message) func(context.Context) ([]time.Duration, error) {
	return func(ctx context.Context) ([]time.Duration, error) {
		thread, steps, last := newID(), bot.steps, len(history)-1
		bot.steps = 0
		err := turn(ctx, manager, thread, unseen, history[:last]...)
		bot.steps = steps
		if err != nil {
			return nil, err
		}
		bot.gaps()
		err = turn(ctx, manager, thread, unseen, history[last])
		return bot.gaps(), err
	}
}

package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/pudu-ai/pudu/agent"
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
func measureLoop(ctx context.Context, e env, r *report) error {
	p := newProse(1)
	bot := newRobot(loopSteps, p, 70)
	a, err := newAgent(bot, p, loopMiddlewares)
	if err != nil {
		return err
	}
	if err := loopInMemory(ctx, r, a, bot, p); err != nil {
		return err
	}
	return loopDurable(ctx, e, r, a, bot, p)
}

// loopInMemory compares steps that keep nothing with the bare calls of the model and the tool.
func loopInMemory(ctx context.Context, r *report, a *agent.Agent, bot *robot, p prose) error {
	history := talk(p, loopMessages)
	begin, _, err := state.State{}.Apply(agent.Messages.Append(history...))
	if err != nil {
		return err
	}
	step := func(ctx context.Context) ([]time.Duration, error) {
		bot.gaps()
		_, err := a.Run(ctx, &agent.Runtime{ThreadID: "thread", RunID: newID()}, begin)
		return bot.gaps(), err
	}
	bare := timed(loopSteps, bareStep(bot, look(p, 700), history))
	took, err := compare(ctx, 100, step, bare)
	if err != nil {
		return err
	}
	r.add(figure{name: "step, 15 middlewares, 200 messages", unit: seconds, value: took[0], floor: took[1], goal: within(100e-6)})
	return nil
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

// loopDurable compares steps that are committed to a store, two commits each, with one bare fsync.
func loopDurable(ctx context.Context, e env, r *report, a *agent.Agent, bot *robot, p prose) (err error) {
	dir := filepath.Join(e.dir, "loop")
	st, err := sqlstore.Open(ctx, sqlstore.Config{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	manager, history := newManager(st, a), talk(p, loopMessages)
	step := func(ctx context.Context) ([]time.Duration, error) {
		bot.gaps()
		err := turn(ctx, manager, newID(), unseen, history...)
		return bot.gaps(), err
	}
	floor, closeFloor, err := syncFloor(dir, loopSteps)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFloor()) }()
	took, err := compare(ctx, 20, step, floor)
	if err != nil {
		return err
	}
	r.add(figure{name: "the same, durable, beside one fsync", unit: seconds, value: took[0], floor: took[1], goal: within(1e-3)})
	return nil
}

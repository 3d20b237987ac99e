package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// ErrNoSteer says that a request cannot be said to a run at work.
var ErrNoSteer = errors.New("what is said to a run at work are messages of a human, and nothing else")

// checkSteer makes sure that a request with store.Steer is messages alone: a run at work has its values, its answers
// and its place in the conversation. A checkpoint counts if the thread is idle, as clients name the newest one they
// know of.
func checkSteer(req Request) error {
	if req.Strategy != store.Steer {
		return nil
	}
	bad := len(req.Input) == 0 || len(req.Values) > 0 || len(req.Answers) > 0 || req.Resume != nil || req.Continue ||
		req.Goto != "" || !req.NotBefore.IsZero()
	for _, m := range req.Input {
		bad = bad || m.Role != message.Human
	}
	if bad {
		return ErrNoSteer
	}
	return nil
}

// Say says the request's input to the thread's run at work, wherever that is. If there is none any more it waits,
// pending, to be the next one. Errors are those of store.Runs.Admit.
func (u *UserRuns) Say(ctx context.Context, req Request) (store.Run, error) {
	req.Strategy = store.Steer
	run, err := u.admit(ctx, req, "")
	if err == nil {
		u.m.tellOf(run)
	}
	return run, err
}

// steers is what waits to be said to a run that is executed here.
func (u *UserRuns) steers(run store.Run) func(context.Context) []agent.Steer {
	return func(ctx context.Context) []agent.Steer {
		list, err := u.data.Steers(ctx, run.ThreadID)
		var out []agent.Steer
		for i := 0; err == nil && i < len(list); i++ {
			var req Request
			if req, err = RequestOf(list[i]); err == nil {
				out = append(out, agent.Steer{ID: list[i].ID, Messages: req.Input})
			}
		}
		if err != nil && ctx.Err() == nil {
			u.m.cfg.Log.Warn("cannot find out what is said to a run", "run", run.ID, "error", err)
		}
		return out
	}
}

// Steered is the run that a steer was said to, or that has taken it. Any other run is itself.
func (u *UserRuns) Steered(ctx context.Context, run store.Run) (store.Run, error) {
	if !run.IsSteer() {
		return run, nil
	}
	to, err := u.data.Run(ctx, run.Steers)
	switch {
	case errors.Is(err, store.ErrNotFound): // deleted meanwhile
		return run, nil
	case err != nil:
		return run, fmt.Errorf("read the run that is spoken to: %w", err)
	}
	return to, nil
}

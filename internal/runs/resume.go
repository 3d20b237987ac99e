package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

// maxStalled is how many attempts in a row may end without getting a step further. What ends the program three times
// at the same place would do so for ever.
const maxStalled = 3

// Resume takes over an unfinished run, whose owner is gone or which this process has lost, and executes it on from its
// last committed step. A run that does not get on is ended as failed instead; the outcome tells. [store.ErrConflict]
// means that the run is at its end or another's.
func (m *Manager) Resume(ctx context.Context, run store.Run, show func(event.Event)) (Outcome, error) {
	if run.Stalled >= maxStalled {
		return m.giveUp(ctx, run)
	}
	claimed, err := m.claim(ctx, run)
	if err != nil {
		if !errors.Is(err, store.ErrConflict) {
			m.lose(run.ID, err)
		}
		return Outcome{Run: run}, err
	}
	return m.Execute(ctx, claimed, show)
}

func (m *Manager) giveUp(ctx context.Context, run store.Run) (Outcome, error) {
	reason := fmt.Errorf("%d attempts in a row ended before a step was done, the last one by %s; what was committed before is kept", run.Stalled, run.Owner)
	if err := m.Fail(ctx, run, reason); err != nil {
		return Outcome{Run: run}, err
	}
	run, err := m.cfg.Store.Run(ctx, run.ID)
	return Outcome{Run: run}, err
}

// claim makes this process the run's owner.
func (m *Manager) claim(ctx context.Context, run store.Run) (store.Run, error) {
	fence, err := m.cfg.Store.ClaimRun(ctx, run.ID, m.cfg.Owner, run.Attempt, m.cfg.Now())
	if err != nil {
		return run, fmt.Errorf("take over unfinished run: %w", err)
	}
	if run.Owner != m.cfg.Owner {
		run.Stalled++
	}
	run.Owner, run.Status, run.Attempt = m.cfg.Owner, event.StatusRunning, fence.Attempt
	return run, nil
}

// Fail ends a run that is not executed, or no longer, as failed for the reason.
func (m *Manager) Fail(ctx context.Context, run store.Run, reason error) error {
	run, err := m.claim(ctx, run)
	if err != nil {
		return err
	}
	rec := newRecorder(m.cfg.Store, run, m.cfg.Now, func(event.Event) {})
	if err := rec.end(event.Run{Status: event.StatusError, Error: reason.Error()}); err != nil {
		return fmt.Errorf("end unfinished run %s: %w", run.ID, err)
	}
	return nil
}

// past is where a run goes on, from the thread's head; nil if it starts anew: it has no checkpoint yet, and brings no
// answers to calls of the run before it.
func (m *Manager) past(ctx context.Context, head store.Checkpoint, job Job) (*agent.Resume, error) {
	own := head.ID != "" && head.RunID == job.Run.ID
	if !own && len(job.Request.Answers) == 0 {
		return nil, nil
	}
	resume := &agent.Resume{
		Next: head.Next, Answers: job.Request.Answers,
		Started: make(map[string]event.ToolStart), Ended: make(map[string]event.ToolEnd),
	}
	err := journal(ctx, m.cfg.Store, head.RunID, event.ID{Attempt: head.Attempt, N: head.First - 1}, resume)
	if err == nil && !own { // what this run has done so far led to no checkpoint
		err = journal(ctx, m.cfg.Store, job.Run.ID, event.ID{}, resume)
	}
	return resume, err
}

// journal adds what a run has noted of its tool calls after an event.
func journal(ctx context.Context, log store.Log, runID string, after event.ID, to *agent.Resume) error {
	const page = 1000
	for {
		evs, err := log.Events(ctx, runID, after, page)
		if err != nil {
			return err
		}
		for _, ev := range evs {
			switch d := ev.Data.(type) {
			case event.ToolStart:
				to.Started[d.CallID] = d
			case event.ToolEnd:
				to.Ended[d.CallID] = d
			case event.Interrupt: // the call stopped to ask before it did anything
				delete(to.Started, d.CallID)
			}
		}
		if len(evs) < page {
			return nil
		}
		after = evs[len(evs)-1].ID
	}
}

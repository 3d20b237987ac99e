package runs

import (
	"context"
	"errors"
	"fmt"

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
	return m.resume(ctx, run, show, nil)
}

// resume is Resume in a place.
func (m *Manager) resume(ctx context.Context, run store.Run, show func(event.Event), p *place) (Outcome, error) {
	if run.Stalled >= maxStalled {
		return m.giveUp(ctx, run)
	}
	claimed, err := m.claim(ctx, run)
	if err != nil {
		return Outcome{Run: run}, err
	}
	return m.executeAt(ctx, claimed, show, p)
}

func (m *Manager) giveUp(ctx context.Context, run store.Run) (Outcome, error) {
	if err := m.Fail(ctx, run, stalledFor(run)); err != nil {
		return Outcome{Run: run}, err
	}
	run, err := m.of(run).data.Run(ctx, run.ID)
	return Outcome{Run: run}, err
}

func stalledFor(run store.Run) error {
	return fmt.Errorf("%d attempts in a row ended before a step was done, the last one by %s; what was committed "+
		"before is kept", run.Stalled, run.Owner)
}

// claim makes this process the run's owner. If it does not know whether it is, Serve looks again.
func (m *Manager) claim(ctx context.Context, run store.Run) (store.Run, error) {
	fence, err := m.system().ClaimRun(ctx, run.ID, m.cfg.Owner, run.Attempt, m.cfg.Now())
	if err != nil {
		if !errors.Is(err, store.ErrConflict) {
			m.lose(run, err)
		}
		return run, fmt.Errorf("take over unfinished run: %w", err)
	}
	if run.Owner != m.cfg.Owner {
		run.Stalled++
		if run.Status == event.StatusRunning {
			m.takenOver.Add(1)
		}
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
	return m.fail(ctx, run, reason)
}

// fail ends a run of this process.
func (m *Manager) fail(ctx context.Context, run store.Run, reason error) error {
	to := m.audience(run, nil)
	defer to.leave()
	rec := newRecorder(m.system(), run, m.cfg.Now, to.show)
	end := event.Run{Status: event.StatusError, Error: reason.Error()}
	err := m.endBelow(ctx, run)
	if err == nil {
		err = rec.end(end, nil)
	}
	if err != nil {
		m.lose(run, err)
		return fmt.Errorf("end unfinished run %s: %w", run.ID, err)
	}
	req, _ := RequestOf(run)
	m.ended(ctx, Job{Run: run, Request: req}, End{end, rec.used().Usage})
	return nil
}

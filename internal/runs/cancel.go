package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

// causeOf is the cause that ends a run as the action asks; nil for none.
func causeOf(action string) error {
	switch action {
	case store.StopInterrupt:
		return ErrCancelled
	case store.StopRollback:
		return ErrRolledBack
	}
	return nil
}

// Cancel asks for a run's end, wherever it is executed: store.StopInterrupt or store.StopRollback. A run that waits is
// at its end at once, one that is executed a moment later; one at its end stays as it is. The run is returned as it is
// now.
func (u *UserRuns) Cancel(ctx context.Context, runID, action string) (store.Run, error) {
	cause := causeOf(action)
	if cause == nil {
		return store.Run{}, fmt.Errorf("cancel run %s: the action %.40q is neither %q nor %q", runID, action,
			store.StopInterrupt, store.StopRollback)
	}
	now := u.m.cfg.Now()
	run, err := u.data.StopRun(ctx, runID, action, now)
	if err != nil {
		return run, err
	}
	if run.Status != event.StatusRunning {
		u.m.endedWaiting(ctx, run, now)
		u.m.tell(subjectQueue) // the run behind it may be the next
		return run, nil
	}
	if !u.m.stopHere(runID, cause) {
		u.m.tell(subjectStop)
	}
	return run, nil
}

// stopHere ends a run that is executed here; false if none of that id is.
func (m *Manager) stopHere(runID string, cause error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.active[runID]
	if l != nil {
		l.cancel(cause)
	}
	return l != nil
}

// stopMine is stopAsked for a process that executes runs and does not serve. It never holds up the lease.
func (m *Manager) stopMine(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, store.Beat)
	defer cancel()
	if err := m.stopAsked(ctx); err != nil && ctx.Err() == nil {
		m.cfg.Log.Warn("cannot look for runs to stop", "error", err)
	}
}

// stopAsked ends the runs that others have asked to stop.
func (m *Manager) stopAsked(ctx context.Context) error {
	list, err := m.system().Stopping(ctx, m.cfg.Owner, 1000)
	for _, run := range list {
		if cause := causeOf(run.Stop); cause != nil {
			m.stopHere(run.ID, cause)
		}
	}
	if errors.Is(err, store.ErrClosed) {
		return nil
	}
	return err
}

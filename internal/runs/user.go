package runs

import (
	"context"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

// UserRuns is what one user does with runs and with the states of threads. What is another user's is not there for it.
type UserRuns struct {
	m    *Manager
	user access.User
	data store.UserData
}

// For binds the manager to a user.
func (m *Manager) For(u access.User) *UserRuns { return &UserRuns{m, u, m.cfg.Store.For(u)} }

// of binds the manager to the user of a run's row.
func (m *Manager) of(run store.Run) *UserRuns { return m.For(access.FromRow(run.UserID)) }

// Run admits a request and executes it.
func (u *UserRuns) Run(ctx context.Context, req Request, show func(event.Event)) (Outcome, error) {
	run, err := u.Admit(ctx, req)
	if err != nil {
		return Outcome{}, err
	}
	return u.m.Execute(ctx, run, show)
}

// system is what the execution of runs needs, whosever they are.
func (m *Manager) system() store.System { return m.cfg.Store.System() }

// schema is of the channels that every agent declares.
func (u *UserRuns) schema() state.Schema { return u.m.schema }

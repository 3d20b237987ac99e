// Package runs owns the runs: it admits them, drives the agent, and writes what happens to the one log. It stands
// between the edges (terminal, HTTP) and the agent:
//
//	Admit   -> thread and run rows, the input's message ids, ownership: durable before anything else happens
//	Execute -> load the thread's state, run the agent, commit every step under the run's fence, end the run
//
// The recorder of a run numbers its events, keeps their order and shows each only after the commit that wrote it.
package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/id"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// ErrCancelled is the cause to cancel a run's context with when its user wants it to stop.
var ErrCancelled = errors.New("cancelled by the user")

// Request is what a client wants done. It is kept in the run's row and never holds a secret.
type Request struct {
	ThreadID string `json:"thread_id"`
	UserID   string `json:"user_id"`
	// Input are the messages to add to the conversation.
	Input []message.Message `json:"input"`
	// Model names the model that was chosen, "provider/model".
	Model string `json:"model,omitempty"`
	// MaxSteps bounds the model and tools nodes; 0 means the default.
	MaxSteps int `json:"max_steps,omitempty"`
}

// Job is an admitted run on its way to the agent.
type Job struct {
	Run     store.Run
	Request Request
}

// Built is an agent made for one job.
type Built struct {
	Agent *agent.Agent
	// Config bounds the run.
	Config agent.RunConfig
	// Close gives back what the job holds, such as its sandbox. Called once, after the run, however it ended.
	Close func() error
}

// Config is what a Manager needs. Every field but Now is required.
type Config struct {
	Store store.Store
	// Build makes the agent for a job.
	Build func(ctx context.Context, job Job) (Built, error)
	// Owner names this process in the run rows.
	Owner string
	Now   func() time.Time
}

// Manager admits and executes runs.
type Manager struct{ cfg Config }

// NewManager makes a manager.
func NewManager(cfg Config) *Manager {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Manager{cfg: cfg}
}

// Outcome is how a run ended.
type Outcome struct {
	Run   store.Run
	State state.State
	Usage message.Usage
}

// Admit makes the request durable: the thread, if it is new, and the run with its input, whose messages get their ids
// here. The run is this process's from the start. It returns store.ErrConflict if the thread has an active run.
func (m *Manager) Admit(ctx context.Context, req Request) (store.Run, error) {
	now := m.cfg.Now()
	for i := range req.Input {
		if req.Input[i].ID == "" && req.Input[i].Role != message.Remove {
			req.Input[i].ID = id.New(now)
		}
	}
	raw, err := json.Marshal(req)
	if err != nil {
		return store.Run{}, fmt.Errorf("encode request: %w", err)
	}
	run := store.Run{
		ID: id.New(now), ThreadID: req.ThreadID, UserID: req.UserID, Owner: m.cfg.Owner,
		Request: raw, CreatedAt: now, UpdatedAt: now,
	}
	thread := store.Thread{
		ID: req.ThreadID, UserID: req.UserID, Title: titleOf(req.Input), CreatedAt: now, UpdatedAt: now,
	}
	if err := m.cfg.Store.Admit(ctx, thread, run); err != nil {
		return store.Run{}, err
	}
	run.Status, run.Attempt = event.StatusRunning, 1
	return run, nil
}

// Execute drives an admitted run to its end. show gets every event in order of its id and must not block for
// long. Cancelling ctx ends the run as interrupted. A run that failed is an outcome; the error means that the run could
// not be claimed or its end not be recorded.
func (m *Manager) Execute(ctx context.Context, run store.Run, show func(event.Event)) (Outcome, error) {
	var req Request
	if err := json.Unmarshal(run.Request, &req); err != nil {
		return Outcome{Run: run}, fmt.Errorf("decode request of run %s: %w", run.ID, err)
	}
	rec := newRecorder(m.cfg.Store, store.Fence{RunID: run.ID, Attempt: run.Attempt}, m.cfg.Now, show)
	last, errRun := m.drive(ctx, Job{Run: run, Request: req}, rec)
	if err := rec.end(ending(ctx, run.ID, last, errRun)); err != nil {
		return Outcome{Run: run, State: last}, errors.Join(errRun, fmt.Errorf("record the end of run %s: %w", run.ID, err))
	}
	out := Outcome{State: last, Usage: rec.usage()}
	var err error
	if out.Run, err = m.cfg.Store.Run(context.WithoutCancel(ctx), run.ID); err != nil {
		return out, fmt.Errorf("read run %s: %w", run.ID, err)
	}
	return out, nil
}

// drive builds the agent for the job and runs it on the thread's state.
func (m *Manager) drive(ctx context.Context, job Job, rec *recorder) (last state.State, err error) {
	built, err := m.cfg.Build(ctx, job)
	if err != nil {
		return state.State{}, fmt.Errorf("build agent: %w", err)
	}
	defer func() { err = errors.Join(err, built.Close()) }()
	cp, err := m.cfg.Store.Checkpoint(ctx, built.Agent.Schema(), job.Run.ThreadID, "")
	if err != nil {
		return state.State{}, fmt.Errorf("load thread %s: %w", job.Run.ThreadID, err)
	}
	if err := cp.State.Check(); err != nil {
		return cp.State, fmt.Errorf("load thread %s: %w", job.Run.ThreadID, err)
	}
	newID := func() string { return id.New(m.cfg.Now()) }
	input, err := agent.AddMessages(cp.State, job.Request.Input, newID)
	if err != nil {
		return cp.State, fmt.Errorf("input: %w", err)
	}
	rec.running()
	return built.Agent.Run(ctx, &agent.Runtime{
		ThreadID: job.Run.ThreadID, RunID: job.Run.ID, UserID: job.Run.UserID,
		Config: built.Config, Input: input, Emit: rec.emit, Commit: rec.commit, Now: m.cfg.Now, NewID: newID,
	}, cp.State)
}

// CloseAbandoned ends every run that a process which is gone left unfinished. It is called once, by the process that
// has just taken the data folder's lock, before it admits runs of its own.
func (m *Manager) CloseAbandoned(ctx context.Context) (int, error) {
	left, err := m.cfg.Store.ListRuns(ctx, store.RunFilter{Statuses: []string{event.StatusPending, event.StatusRunning}, Limit: 1000})
	if err != nil {
		return 0, fmt.Errorf("list unfinished runs: %w", err)
	}
	for _, run := range left {
		reason := errors.New("the process that ran it ended before the run did; what it had committed is kept, continue the thread to go on")
		if err := m.Fail(ctx, run, reason); err != nil {
			return 0, err
		}
	}
	return len(left), nil
}

// Fail ends a run that is not executed, or no longer, as failed for the reason.
func (m *Manager) Fail(ctx context.Context, run store.Run, reason error) error {
	fence, err := m.cfg.Store.ClaimRun(ctx, run.ID, m.cfg.Owner, run.Attempt, m.cfg.Now())
	if err != nil {
		return fmt.Errorf("claim unfinished run: %w", err)
	}
	rec := newRecorder(m.cfg.Store, fence, m.cfg.Now, func(event.Event) {})
	if err := rec.end(event.Run{Status: event.StatusError, Error: reason.Error()}); err != nil {
		return fmt.Errorf("end unfinished run %s: %w", run.ID, err)
	}
	return nil
}

// Package runs owns the runs: it admits them, drives the agent, and writes what happens to the one log. It stands
// between the edges (terminal, HTTP) and the agent:
//
//	Admit   -> thread and run rows, the input's message ids, ownership: durable before anything else happens
//	Execute -> load the thread's state, run the agent, commit every step under the run's fence, end the run
//	Resume  -> take over a run whose owner is gone, and execute it on from its last committed step (resume.go)
//	Serve   -> keep this process's lease, and resume what others have left (serve.go)
//
// The recorder of a run numbers its events, keeps their order and shows each only after the commit that wrote it.
package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
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
	// Answers are a human's answers to the calls of the thread's last run that wait for one, by call id. The new run goes
	// on where that one stopped to ask; Input is empty then.
	Answers map[string]json.RawMessage `json:"answers,omitempty"`
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

// Config is what a Manager needs. Store, Build and Owner are required.
type Config struct {
	Store store.Store
	// Build makes the agent for a job.
	Build func(ctx context.Context, job Job) (Built, error)
	// Owner names this process in the run rows. No other process, earlier ones included, has the same.
	Owner string
	// Parallel bounds the runs that [Manager.Serve] resumes side by side; 0 means 64.
	Parallel int
	// Log hears of runs that are taken over or lost; nil discards.
	Log *slog.Logger
	Now func() time.Time
}

// Manager admits and executes runs. Its methods may be called from many goroutines.
type Manager struct {
	cfg Config

	mu     sync.Mutex
	active map[string]*live // the runs that are executed here, by id
	lost   map[string]loss  // runs that were, and whose end could not be recorded, by id
	// stopped: no run begins any more.
	stopped bool
}

// NewManager makes a manager.
func NewManager(cfg Config) *Manager {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.Parallel = cmp.Or(cfg.Parallel, 64)
	return &Manager{cfg: cfg, active: make(map[string]*live), lost: make(map[string]loss)}
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
	run.Status, run.Attempt, run.Stalled = event.StatusRunning, 1, 1
	return run, nil
}

// Run admits a request and executes it.
func (m *Manager) Run(ctx context.Context, req Request, show func(event.Event)) (Outcome, error) {
	run, err := m.Admit(ctx, req)
	if err != nil {
		return Outcome{}, err
	}
	return m.Execute(ctx, run, show)
}

// Free returns store.ErrConflict if the thread has an active run, so that Admit would refuse another. It is for what
// must be there before the run, such as its uploads, and should not be written for one that is refused.
func (m *Manager) Free(ctx context.Context, threadID string) error {
	active, err := m.cfg.Store.ListRuns(ctx, store.RunFilter{
		ThreadID: threadID, Statuses: []string{event.StatusPending, event.StatusRunning}, Limit: 1,
	})
	if err == nil && len(active) > 0 {
		err = fmt.Errorf("thread %s: %w: run %s is active", threadID, store.ErrConflict, active[0].ID)
	}
	return err
}

// Execute drives a run that is this process's to its end. show gets every event in order of its id and must not block for
// long. Cancelling ctx ends the run as interrupted. A run that failed is an outcome; the error means that the end could
// not be recorded: the run is unfinished then, and [Manager.Resume] can go on with it.
func (m *Manager) Execute(ctx context.Context, run store.Run, show func(event.Event)) (Outcome, error) {
	var req Request
	if err := json.Unmarshal(run.Request, &req); err != nil {
		return Outcome{Run: run}, fmt.Errorf("decode request of run %s: %w", run.ID, err)
	}
	rec := newRecorder(m.cfg.Store, run, m.cfg.Now, show)
	ctx, leave := m.enter(ctx, run.ID, rec)
	defer leave()
	last, errRun := m.drive(ctx, Job{Run: run, Request: req}, rec)
	if err := rec.end(ending(ctx, run.ID, last, errRun)); err != nil {
		m.lose(run.ID, err)
		return Outcome{Run: run, State: last}, errors.Join(errRun, fmt.Errorf("record the end of run %s: %w", run.ID, err))
	}
	out := Outcome{State: last, Usage: rec.usage()}
	var err error
	if out.Run, err = m.cfg.Store.Run(context.WithoutCancel(ctx), run.ID); err != nil {
		return out, fmt.Errorf("read run %s: %w", run.ID, err)
	}
	return out, nil
}

// drive builds the agent for the job and runs it on the thread's state, from where an earlier attempt left off.
func (m *Manager) drive(ctx context.Context, job Job, rec *recorder) (last state.State, err error) {
	built, err := m.cfg.Build(ctx, job)
	if err != nil {
		return state.State{}, fmt.Errorf("build agent: %w", err)
	}
	defer func() { err = errors.Join(err, built.Close()) }()
	cp, err := m.cfg.Store.Checkpoint(ctx, built.Agent.Schema(), job.Run.ThreadID, "")
	if err == nil {
		err = cp.State.Check()
	}
	if err != nil {
		return cp.State, fmt.Errorf("load thread %s: %w", job.Run.ThreadID, err)
	}
	rt := &agent.Runtime{
		ThreadID: job.Run.ThreadID, RunID: job.Run.ID, UserID: job.Run.UserID,
		Config: built.Config, Emit: rec.emit, Commit: rec.commit, Now: m.cfg.Now,
		NewID: func() string { return id.New(m.cfg.Now()) },
	}
	if rt.Resume, err = m.past(ctx, cp, job); err != nil {
		return cp.State, fmt.Errorf("read where run %s left off: %w", job.Run.ID, err)
	}
	if rt.Resume == nil {
		if rt.Input, err = agent.AddMessages(cp.State, job.Request.Input, rt.NewID); err != nil {
			return cp.State, fmt.Errorf("input: %w", err)
		}
	}
	rec.running()
	return built.Agent.Run(ctx, rt, cp.State)
}

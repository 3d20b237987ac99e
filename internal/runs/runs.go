// Package runs owns the runs: it admits them, drives the agent, and writes what happens to the one log. It stands
// between the edges (terminal, HTTP) and the agent:
//
//	Admit   -> thread and run rows, the input's message ids, ownership: durable before anything else happens (admit.go)
//	Execute -> load the thread's state, run the agent, commit every step under the run's fence, end the run
//	Resume  -> take over a run whose owner is gone, and execute it on from its last committed step (resume.go)
//	Serve   -> start the runs that wait, stop those that shall, resume what other processes have left (serve.go)
//
// docs/runs.md has the states of a run and what moves it from one to the other.
//
// The recorder of a run numbers its events, keeps their order and shows each only after the commit that wrote it.
package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/bus"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/secrets"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// Causes to cancel a run's context with when its user wants it to stop.
var (
	// ErrCancelled ends the run as interrupted; what it has done stays.
	ErrCancelled = errors.New("cancelled by the user")
	// ErrRolledBack ends it as failed, and the thread gets the state that it had before. Files stay as they are.
	ErrRolledBack = errors.New("rolled back by the user")
)

// Job is an admitted run on its way to the agent.
type Job struct {
	Run     store.Run
	Request Request
	// Children starts runs below this one, while it is executed.
	Children *Children
}

// Built is an agent made for one job.
type Built struct {
	Agent *agent.Agent
	// Env is what the run's tools and hooks may use.
	Env tool.Env
	// Config bounds the run. Its breakpoints are the request's.
	Config agent.RunConfig
	// Check looks at what came of the run when the agent has come to its end; its error is the run's. nil finds
	// nothing.
	Check func(ctx context.Context, last state.State) error
	// Sent is the runtime's.
	Sent func(ctx context.Context, s *agent.Sent) json.RawMessage
	// Close gives back what the job holds, such as its sandbox. Called once, after the run, however it ended.
	Close func() error
}

// Feed takes the events of one attempt of a run, in order, for whoever follows it live. Show does not block.
type Feed interface {
	Show(ev event.Event)
	Close()
}

// Config is what a Manager needs. Store, Build and Owner are required.
type Config struct {
	Store store.Store
	// Build makes the agent for a job.
	Build func(ctx context.Context, job Job) (Built, error)
	// Owner names this process in the run rows. No other process, earlier ones included, has the same.
	Owner string
	// Parallel bounds the runs that are executed here side by side, when they come by [Manager.Submit] or
	// [Manager.Serve]; the others wait in the store. 0 means 2000.
	Parallel int
	// MaxPending bounds the runs that wait, in the whole store; 0 means 10,000.
	MaxPending int
	// ThreadMetadata is what a thread tells of its first run: a JSON object whose members the thread's metadata gets
	// that has none of the name. nil means nothing.
	ThreadMetadata func(req Request) json.RawMessage
	// Room says why no run can be taken in at present, such as a full disk; nil means that all can.
	Room func() error
	// Feed opens the live feed of an attempt; nil means that nobody follows.
	Feed func(run store.Run) Feed
	// Events, unless it is nil, sees the events of all runs that are executed here: of each run in their order, one at
	// a time.
	Events func(store.Run, event.Event)
	// Bus wakes the processes that share the store; nil means that there are no others.
	Bus bus.Bus
	// Notify tells the webhook of a run that it has ended; nil means that there are none. It is called until it
	// succeeds or has failed a few times, at least once however often a process dies, by a job of [Manager.Kinds].
	Notify func(ctx context.Context, run store.Run) error
	// Seal makes the URL of a user's webhook a text that the database may hold, and Unseal makes it the URL again;
	// nil leaves it.
	Seal, Unseal func(u access.User, text string) (string, error)
	// KeepSecrets are the statements that store a run's secrets with its admission; nil refuses runs that have some.
	KeepSecrets func(u access.User, runID, threadID string, v secrets.Values) ([]store.Statement, error)
	// Delete removes a thread that its run's request wants gone at the end, after Notify, however often a process dies
	// in between; nil keeps it.
	Delete func(ctx context.Context, u access.User, threadID string) error
	// Schema is every channel that a state can have, for looking at states without an agent: it tells which are
	// private. nil means the channels that every agent has.
	Schema state.Schema
	// LeaseLost hears that this process may have lost what it does under its lease; nil is nobody.
	LeaseLost func(why error)
	// Watch is told of the attempts that begin here and of the ends of runs; nil is nobody.
	Watch Watcher
	// Log hears of runs that are taken over or lost; nil discards.
	Log *slog.Logger
	Now func() time.Time
}

// Manager executes runs; [Manager.For] admits them. Its methods may be called from many goroutines.
type Manager struct {
	cfg    Config
	schema state.Schema  // of what every agent knows, for looking at states
	wake   chan struct{} // has room for one: there may be something to do for Serve

	updating [64]sync.Mutex // of the states of threads, by the hash of the id
	seed     maphash.Seed

	background sync.WaitGroup // the runs that Submit and Serve have begun

	takenOver atomic.Int64
	looks     atomic.Uint32 // what Serve was woken for, as look
	// queued grows when a run may have begun to wait; queueEmpty is what it was when last none did.
	queued, queueEmpty atomic.Int64

	mu     sync.Mutex
	counts map[string]int64           // of the runs that ended here, by status
	active map[string]*live           // the runs that are executed here, by id
	words  map[string][]chan struct{} // of runs that wait for others, by thread: each hears that somebody speaks to it
	lost   map[string]loss            // runs that were, and whose end could not be recorded, by id
	taken  int                        // of the places for runs that Submit and Serve begin
	turns  []chan struct{}            // of who waits for a place, in order; one is closed when it has one
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
	if cfg.Watch == nil {
		cfg.Watch = nobody{}
	}
	if cfg.LeaseLost == nil {
		cfg.LeaseLost = func(error) {}
	}
	if cfg.Room == nil {
		cfg.Room = func() error { return nil }
	}
	cfg.Parallel = cmp.Or(cfg.Parallel, 2000)
	cfg.MaxPending = cmp.Or(cfg.MaxPending, 10_000)
	schema := cfg.Schema
	if schema == nil {
		// a test holds that they are one set
		schema, _ = state.NewSchema(append(agent.Channels(), threadstate.Channels()...)...)
	}
	return &Manager{
		cfg: cfg, schema: schema, seed: maphash.MakeSeed(), wake: make(chan struct{}, 1),
		active: make(map[string]*live), counts: make(map[string]int64), lost: make(map[string]loss),
		words: make(map[string][]chan struct{}),
	}
}

// Stats are figures of this process.
type Stats struct {
	Active    int              // runs that are executed here
	Ended     map[string]int64 // runs that came to their end here since the start, by status
	TakenOver int64            // attempts begun here at runs that another process had left
}

// Stats returns the figures as they are now.
func (m *Manager) Stats() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Stats{Active: len(m.active), Ended: maps.Clone(m.counts), TakenOver: m.takenOver.Load()}
}

// Outcome is how a run ended.
type Outcome struct {
	Run   store.Run
	State state.State
	Usage message.Usage
	// Questions are what a child that has stopped to ask wants to know; see [Child.Wait].
	Questions []event.Interrupt
}

// Free returns store.ErrConflict if the thread has an active run, so that Admit would refuse another. It is for what
// must be there before the run, such as its uploads, and should not be written for one that is refused.
func (u *UserRuns) Free(ctx context.Context, threadID string) error {
	active, err := u.data.ListRuns(ctx, store.RunFilter{
		ThreadID: threadID, Statuses: []string{event.StatusPending, event.StatusRunning}, Limit: 1,
	})
	if err == nil && len(active) > 0 {
		err = fmt.Errorf("thread %s: %w: run %s is active", threadID, store.ErrConflict, active[0].ID)
	}
	return err
}

// Execute drives a run that is this process's to its end; it takes what Admit or a claim returned. show gets every
// event in order of its id and must not block for long; nil shows them to the feed alone. Cancelling ctx ends the run
// as interrupted, or as its cause says. A run that failed is an outcome; the error means that the end could not be
// recorded: the run is unfinished then, and [Manager.Resume] can go on with it.
func (m *Manager) Execute(ctx context.Context, run store.Run, show func(event.Event)) (Outcome, error) {
	return m.executeAt(ctx, run, show, nil)
}

// executeAt is Execute in a place.
func (m *Manager) executeAt(ctx context.Context, run store.Run, show func(event.Event), p *place) (Outcome, error) {
	out, err := m.execute(ctx, run, m.audience(run, show), seat{place: p})
	if err != nil {
		return out, err
	}
	if out.Run, err = m.of(run).data.Run(context.WithoutCancel(ctx), run.ID); err != nil {
		return out, fmt.Errorf("read run %s: %w", run.ID, err)
	}
	return out, nil
}

// execute is Execute, but that the outcome's run is as it was at the beginning.
func (m *Manager) execute(ctx context.Context, run store.Run, to audience, at seat) (Outcome, error) {
	defer to.leave()
	req, err := RequestOf(run)
	if err != nil {
		return m.unreadable(ctx, run, to.show, err)
	}
	job := Job{Run: run, Request: req}
	ctx = m.cfg.Watch.Begun(ctx, job)
	rec := newRecorder(m.system(), run, m.cfg.Now, to.show)
	if at.root == nil {
		at.root = rec
	} else {
		rec.root, rec.namespace = at.root, req.Namespace
	}
	ctx, leave := m.enter(ctx, run, rec)
	defer leave()
	job.Children = m.children(ctx, job, at, rec)
	last, errRun := m.drive(ctx, job, rec)
	job.Children.end()
	end := ending(ctx, run.ID, last, errRun)
	rec.asks = end.Status == event.StatusSuccess && Asks(last)
	last = rec.closeTasks(last, end)
	if err := m.finish(ctx, job, rec, end); err != nil {
		m.lose(run, err)
		return Outcome{Run: run, State: last},
			errors.Join(errRun, fmt.Errorf("record the end of run %s: %w", run.ID, err))
	}
	m.ended(ctx, job, End{end, rec.used().Usage})
	return Outcome{Run: run, State: last, Usage: rec.used().Usage}, nil
}

// audience is who sees what happens in an attempt of a run.
type audience struct {
	show  func(event.Event)
	leave func()
}

// audience is the live feed of the run, show, which may be nil, and who sees the events of all runs.
func (m *Manager) audience(run store.Run, show func(event.Event)) audience {
	var all []func(event.Event)
	leave := func() {}
	if m.cfg.Feed != nil {
		f := m.cfg.Feed(run)
		all, leave = append(all, f.Show), f.Close
	}
	if show != nil {
		all = append(all, show)
	}
	if m.cfg.Events != nil {
		all = append(all, func(ev event.Event) { m.cfg.Events(run, ev) })
	}
	return audience{func(ev event.Event) {
		for _, see := range all {
			see(ev)
		}
	}, leave}
}

// unreadable ends a run as failed whose request this program cannot read.
func (m *Manager) unreadable(ctx context.Context, run store.Run, show func(event.Event), why error) (Outcome, error) {
	end := event.Run{Status: event.StatusError, Error: why.Error()}
	rec := newRecorder(m.system(), run, m.cfg.Now, show)
	err := m.endBelow(ctx, run)
	if err == nil {
		err = rec.end(end, nil)
	}
	if err != nil {
		m.lose(run, err)
		return Outcome{Run: run}, errors.Join(why, err)
	}
	m.ended(ctx, Job{Run: run}, End{end, rec.used().Usage})
	run.Status, run.Error = end.Status, end.Error
	return Outcome{Run: run}, nil
}

// finish records the end. A run that is rolled back, or that was to answer other words and failed, gives the thread the
// state back that it had before.
func (m *Manager) finish(ctx context.Context, job Job, rec *recorder, end event.Run) error {
	run := job.Run
	rolledBack := end.Error == store.RolledBack && errors.Is(context.Cause(ctx), ErrRolledBack)
	failed := end.Status == event.StatusError && end.Error != store.Undelivered
	if !rolledBack && (!failed || !job.Request.isEdit()) {
		return rec.end(end, nil)
	}
	ctx = context.WithoutCancel(ctx)
	if err := rec.flush(ctx); err != nil {
		return err
	}
	step, err := m.undo(ctx, run)
	if err != nil {
		return fmt.Errorf("roll back: %w", err)
	}
	return rec.end(end, step)
}

// Again is what a client asks for that wants a run in the place of another one.
type Again struct {
	Thread string
	// Message is the answer that is to be given once more, or what a human said if there is a Text in its place; empty
	// is the last one.
	Message, Text string
	// Files is [FilesThen] for the files as they were before that turn.
	Files string
}

// ReplayEdit is the "replay_kind" in the metadata of a run that answers other words than those that were said.
const ReplayEdit = "edit"

func (r *Request) isEdit() bool {
	var about struct {
		Kind string `json:"replay_kind"`
	}
	return json.Unmarshal(r.Metadata, &about) == nil && about.Kind == ReplayEdit
}

// FilesThen is the "replay_files" in the metadata of a run that begins with the files as they were where it goes on
// from.
const FilesThen = "then"

// Replays is what a request's metadata says of a run that goes on from an earlier place.
type Replays struct {
	Files string `json:"replay_files"`
	// Run is the run in whose place it stands; empty if there is none.
	Run string `json:"regenerate_from_run_id"`
}

// Replays reads it.
func (r *Request) Replays() (out Replays) {
	_ = json.Unmarshal(r.Metadata, &out) // of other kinds they are none
	return out
}

// undo is the step that brings back the state before a run; nil if the run has changed nothing.
func (m *Manager) undo(ctx context.Context, run store.Run) (*store.Step, error) {
	data := m.of(run).data
	first, err := data.FirstCheckpoint(ctx, run.ID)
	if err != nil || first.ID == "" {
		return nil, err
	}
	// The head before the run, which need not be what the run stood on: it may have begun a branch.
	heads, err := data.Checkpoints(ctx, run.ThreadID, first.ID, 1)
	before := store.Checkpoint{Next: agent.Done}
	if err == nil && len(heads) > 0 {
		before, err = data.Checkpoint(ctx, m.schema, run.ThreadID, heads[0].ID)
	}
	return &store.Step{
		Parent: cmp.Or(before.ID, store.Origin), Next: before.Next, State: before.State, Now: m.cfg.Now(),
		Updates: []store.NodeUpdate{{Node: nodeRollback}},
	}, err
}

// nodeRollback is the node name of the checkpoint that a rollback makes.
const nodeRollback = "rollback"

// ended does what follows a run's end.
func (m *Manager) ended(ctx context.Context, job Job, end End) {
	m.mu.Lock()
	m.counts[end.Status]++
	m.mu.Unlock()
	m.cfg.Watch.Ended(ctx, job, end)
	m.roomForNext()
}

// drive builds the agent for the job and runs it on the thread's state, from where an earlier attempt left off.
func (m *Manager) drive(ctx context.Context, job Job, rec *recorder) (last state.State, err error) {
	rec.begin(job.Run) // is shown while the agent is built
	if err := job.Children.adopt(ctx); err != nil {
		return state.State{}, err
	}
	built, err := m.cfg.Build(ctx, job)
	if err != nil {
		return state.State{}, fmt.Errorf("build agent: %w", err)
	}
	defer func() { err = errors.Join(err, built.Close()) }()
	at, err := m.of(job.Run).begin(ctx, built.Agent.Schema(), job)
	if err != nil {
		rec.unbegun = at.from.RunID != job.Run.ID
		return at.from.State, err
	}
	m.began(job.Run, at.from)
	built.Config.InterruptBefore, built.Config.InterruptAfter = job.Request.InterruptBefore, job.Request.InterruptAfter
	rt := &agent.Runtime{
		ThreadID: job.Run.ThreadID, RunID: job.Run.ID, UserID: job.Run.UserID, Env: built.Env, Input: at.input,
		Resume: at.resume, Config: built.Config, Emit: rec.emit, Commit: rec.commit, Now: m.cfg.Now,
		NewID: m.newID, Sent: built.Sent, Steers: m.of(job.Run).steers(job.Run),
	}
	rec.standOn(at.parent, at.title)
	// the owner before did not come to it; the agent answers open calls
	if cause := causeOf(job.Run.Stop); cause != nil {
		m.stopHere(job.Run.ID, cause)
	}
	last, err = built.Agent.Run(ctx, rt, at.from.State)
	if end := ending(ctx, job.Run.ID, last, err); waits(end) || err == nil && Asks(last) {
		job.Children.rest(ctx)
	}
	if err == nil && built.Check != nil {
		err = built.Check(ctx, last)
	}
	return last, err
}

func (m *Manager) newID() string { return id.New(m.cfg.Now()) }

// RequestOf is what a run was asked for.
func RequestOf(run store.Run) (req Request, err error) {
	if err = json.Unmarshal(run.Request, &req); err != nil {
		err = fmt.Errorf("decode request of run %s: %w", run.ID, err)
	}
	return req, err
}

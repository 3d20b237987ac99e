package crash

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/middleware/danglingtoolcall"
	sandboxmw "github.com/pudu-ai/pudu/internal/middleware/sandbox"
	"github.com/pudu-ai/pudu/internal/middleware/threaddata"
	"github.com/pudu-ai/pudu/internal/middleware/toolerror"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/sandboxes/bwrap"
	"github.com/pudu-ai/pudu/internal/sandboxes/pool"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/tools/shell"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// workerEnv holds the order of a process that is to be a worker.
const workerEnv = "PUDU_CRASH_WORKER"

const (
	threadID = "thread"
	userID   = "user"
)

// order is what a worker is told.
type order struct {
	// Dir holds the effects, the thread's files and, with SQLite, the database.
	Dir string
	// URL is that of a PostgreSQL database, where Schema is the run's own; empty means SQLite.
	URL, Schema string
	// Lease is the length of a lease on PostgreSQL; 0 means the usual one.
	Lease time.Duration
	// Owner is the name of this process in the store.
	Owner string
	// Serve leaves the run to the manager's Serve, which goes on with it when the store was gone for a while.
	Serve bool
	// NoShell leaves the calls of bash out.
	NoShell bool
	// Way is how the run ends.
	Way way
	// Stuck makes the model hang after its first turn.
	Stuck bool
	// Die makes the worker kill itself around its writes.
	Die dying
	// VFS names a layer between SQLite and its files that this program has registered; empty means none.
	VFS string
	// Tree has the run delegate parts of its work to runs below it.
	Tree bool
	// Hold names a call that does not end by itself.
	Hold string
}

// orderOf reads the order of this process, if it is a worker.
func orderOf(env string) (o order, ok bool, err error) {
	raw, ok := os.LookupEnv(env)
	if ok {
		err = json.Unmarshal([]byte(raw), &o)
	}
	return o, ok, err
}

// storeConfig is where the order's data is.
func (o order) storeConfig() sqlstore.Config {
	return sqlstore.Config{
		Dir: filepath.Join(o.Dir, "data"), URL: o.URL, Schema: o.Schema, Lease: o.Lease, VFS: o.VFS,
		Logger: slog.New(slog.DiscardHandler),
	}
}

func (o order) turns() [][]call {
	all := o.Way.turns()
	if o.Tree {
		all = delegating()
	}
	if o.NoShell {
		for _, turn := range all {
			for i, c := range turn {
				if c.tool == "bash" {
					turn[i] = call{tool: "note"}
				}
			}
		}
	}
	return all
}

// workspace is the folder that bash works in.
func workspace(dir string) string { return filepath.Join(dir, "workspace") }

// worker is one process that executes the run.
type worker struct {
	order
	store   *watched
	manager *runs.Manager
	agent   *agent.Agent
	pool    *pool.Pool
	space   *pool.Space
	reader  *reader
}

// work executes the run of the order's folder to its end, or goes on with it.
func work(ctx context.Context, o order) (err error) {
	say(markStart)
	st, err := sqlstore.Open(ctx, o.storeConfig())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	say(markOpen)
	w := &worker{order: o, store: &watched{Store: st, die: newDeath(o.Die)}}
	if err := w.build(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.space.Close(), w.pool.Close()) }()
	w.manager = runs.NewManager(runs.Config{
		Store: w.store, Owner: o.Owner, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Build: func(_ context.Context, job runs.Job) (b runs.Built, err error) {
			b = runs.Built{Agent: w.agent, Config: w.Way.limits(), Close: w.close}
			if w.Tree {
				b.Agent, err = w.inTree(job)
			}
			return b, err
		},
	})
	release, err := w.manager.KeepLease(ctx)
	if err != nil {
		return err
	}
	defer release()
	run, err := w.execute(ctx)
	if err != nil {
		return err
	}
	say(markEnded, run.Status, run.Error)
	return nil
}

// build makes the agent: real middlewares, the script as its model, and the tools.
func (w *worker) build() error {
	if err := os.MkdirAll(workspace(w.Dir), 0o750); err != nil {
		return err
	}
	w.pool = pool.New(pool.Config{Provider: bwrap.New(bwrap.Config{})})
	mounts := []sandbox.Mount{{Host: workspace(w.Dir), Path: sandbox.Workspace}}
	files, err := sandbox.NewFiles(mounts, sandbox.FilesOptions{})
	if err != nil {
		return err
	}
	w.space = w.pool.Space(sandbox.Spec{ID: threadID, Mounts: mounts}, files, "")
	var tools []tool.Tool
	for _, t := range append(newTools(effects{filepath.Join(w.Dir, effectsName)}),
		shell.New(shell.Config{Space: w.space})) {
		tools = append(tools, marked{Tool: t, hold: w.Hold})
	}
	var m = robot{turns: w.turns(), stuck: w.Stuck}
	chain := []agent.Middleware{
		threaddata.New(), sandboxmw.New(sandboxmw.Config{Space: w.space, Release: w.space.Park}),
		danglingtoolcall.New(), stopper{way: w.Way, manager: func() *runs.Manager { return w.manager }},
	}
	if w.Way != wayFailed { // which needs an error that ends the run
		chain = append(chain, toolerror.New())
	}
	w.agent, err = agent.New(agent.Config{Model: m, Tools: tools}, chain...)
	return err
}

// close gives back what a run holds.
func (w *worker) close() error {
	w.space.Park()
	if w.Way != wayAnswer {
		time.Sleep(closing)
	}
	return nil
}

// schema is how a worker's states are read.
func (o order) schema() (state.Schema, error) {
	a, err := agent.New(agent.Config{Model: robot{}}, threaddata.New(), sandboxmw.New(sandboxmw.Config{}))
	if err != nil {
		return nil, err
	}
	return a.Schema(), nil
}

// execute admits the run, or takes it over, and returns it at its end.
func (w *worker) execute(ctx context.Context) (store.Run, error) {
	run, err := w.find(ctx)
	if err != nil || run.ID != "" && !run.Active() {
		return run, err
	}
	if w.reader, err = newReader(ctx, w.store.For(user()), w.agent.Schema()); err != nil {
		return run, err
	}
	if w.Serve {
		return w.serve(ctx, run)
	}
	var out runs.Outcome
	if run.ID == "" {
		if run, err = w.admit(ctx); err == nil {
			out, err = w.manager.Execute(ctx, run, w.reader.show)
		}
	} else if run, err = w.takeOver(ctx); err == nil {
		out, err = w.manager.Resume(ctx, run, w.reader.show)
	}
	return out.Run, err
}

// takeOver waits until the run is known to be nobody's and returns it.
func (w *worker) takeOver(ctx context.Context) (store.Run, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		list, err := w.manager.Unfinished(ctx)
		if err != nil || len(list) > 0 {
			return append(list, store.Run{})[0], err
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return store.Run{}, fmt.Errorf("wait for the run to be left: %w", err)
		}
	}
}

// user is whose run it is.
func user() access.User { return access.FromRow(userID) }

// find returns the thread's run, the zero value if there is none.
func (w *worker) find(ctx context.Context) (store.Run, error) {
	list, err := w.store.For(user()).ListRuns(ctx, store.RunFilter{ThreadID: threadID})
	if err != nil || len(list) == 0 {
		return store.Run{}, err
	}
	return list[0], nil
}

func (w *worker) admit(ctx context.Context) (store.Run, error) {
	req := runs.Request{ThreadID: threadID, Input: []message.Message{message.New(message.Human, "Do all of it.")}}
	return w.manager.For(user()).Admit(ctx, req)
}

// serve waits for the run's end while the manager sees to it.
func (w *worker) serve(ctx context.Context, run store.Run) (store.Run, error) {
	ctx, stop := context.WithCancel(ctx)
	served := make(chan struct{})
	defer func() {
		stop()
		<-served
	}()
	if run.ID == "" {
		var err error
		if run, err = w.admit(ctx); err != nil {
			close(served)
			return run, err
		}
		go func() {
			if _, err := w.manager.Execute(ctx, run, w.reader.show); err != nil {
				fmt.Fprintln(os.Stderr, "execute:", err)
			}
		}()
	}
	go func() {
		defer close(served)
		w.manager.Serve(ctx, func(store.Run) func(event.Event) { return w.reader.show })
	}()
	for {
		now, err := w.store.For(user()).Run(ctx, run.ID)
		if err == nil && !now.Active() && !w.manager.Active(run.ID) {
			return now, nil
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return run, err
		}
	}
}

// workerMain is the main function of a worker; it returns the exit code.
func workerMain(o order) int {
	o.Owner = cmp.Or(o.Owner, fmt.Sprint("worker ", os.Getpid()))
	if err := work(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		return 1
	}
	return 0
}

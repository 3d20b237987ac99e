package app

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
)

// runner carries runs out in this process.
type runner struct {
	engine *engine
	user   access.User // who asks
}

var _ cli.Runner = runner{}

// Run implements cli.Runner.
func (r runner) Run(ctx context.Context, req runs.Request, uploads map[string][]byte, show func(event.Event),
	_ func(string)) (runs.Outcome, error) {
	if err := r.engine.answers(req); err != nil {
		return runs.Outcome{}, err
	}
	if _, err := r.engine.agent(optionsOf(req), req.UserID); errors.Is(err, agents.ErrNotFound) {
		return runs.Outcome{}, err
	}
	if err := r.engine.manager.For(access.Default()).Free(ctx, req.ThreadID); err != nil {
		return runs.Outcome{}, err
	}
	if t, err := r.engine.mine().Thread(ctx, req.ThreadID); err == nil && t.Trashed() { // before anything is uploaded
		return runs.Outcome{}, fmt.Errorf("thread %s: %w: pudu threads restore %[1]s", t.ID, store.ErrTrashed)
	}
	for name, content := range uploads {
		if err := r.engine.upload(ctx, r.user, req.ThreadID, name, bytes.NewReader(content),
			int64(len(content))); err != nil {
			return runs.Outcome{}, fmt.Errorf("copy %s to the uploads: %w", name, err)
		}
	}
	mine := r.engine.manager.For(access.Default())
	by := audit.Local()
	req.Role, req.Via = by.Role, by.Via
	said, _ := mine.Decisions(ctx, req) // what cannot be read, the admission tells of
	run, err := mine.Admit(ctx, req)
	if err != nil {
		return runs.Outcome{}, err
	}
	r.engine.audit.Record(ctx, audit.Answers(by, req.ThreadID, said)...)
	return r.engine.manager.Execute(ctx, run, show)
}

// Say implements cli.Runner.
func (r runner) Say(ctx context.Context, req runs.Request) (string, error) {
	by := audit.Local()
	req.Role, req.Via = by.Role, by.Via
	run, err := r.engine.manager.For(access.Default()).Say(ctx, req)
	return run.ID, err
}

// Said implements cli.Runner.
func (r runner) Said(ctx context.Context, _, id string) (store.Run, error) {
	return r.engine.mine().Run(ctx, id)
}

// TakeBack implements cli.Runner.
func (r runner) TakeBack(ctx context.Context, threadID, id string) error {
	return r.engine.mine().TakeBack(ctx, threadID, id)
}

// errLeft ends the following of a run whose owner has died meanwhile.
var errLeft = errors.New("the run was left by its owner")

// Resume implements cli.Runner. A run that another process works on is followed, and taken over should that process
// die.
func (r runner) Resume(ctx context.Context, run store.Run, show func(event.Event),
	_ func(string)) (runs.Outcome, error) {
	m := r.engine.manager
	req, err := runs.RequestOf(run)
	if err != nil {
		return runs.Outcome{}, err
	}
	if err := r.engine.answers(req); err != nil { // the run stays unfinished until there is a model
		return runs.Outcome{}, err
	}
	var last event.ID
	for {
		out, err := m.Resume(ctx, run, show)
		if !errors.Is(err, store.ErrConflict) {
			return out, err
		}
		out, err = r.follow(ctx, run, last, func(ev event.Event) {
			last = ev.ID
			show(ev)
		})
		if !errors.Is(err, errLeft) {
			return out, err
		}
		if run, err = r.engine.mine().Run(ctx, run.ID); err != nil {
			return out, err
		}
	}
}

// follow shows the events of a run that another process works on, from the one behind after on, until it has ended, or
// with errLeft until nobody works on it any more.
func (r runner) follow(ctx context.Context, run store.Run, after event.ID,
	show func(event.Event)) (runs.Outcome, error) {
	watched, stop := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		for pause(watched, time.Second) == nil {
			list, err := r.engine.manager.Unfinished(watched)
			if err == nil && slices.ContainsFunc(list, func(u store.Run) bool { return u.ID == run.ID }) {
				err = errLeft
			}
			if err != nil {
				stop(err)
			}
		}
	})
	end, err := r.engine.hub.Follow(watched, r.user, run.ID, after, func(evs []event.Event) error {
		for _, ev := range evs {
			show(ev)
		}
		return nil
	})
	stop(nil)
	watching.Wait()
	if err != nil {
		return runs.Outcome{Run: run}, err
	}
	return runs.Ended(ctx, r.engine.mine(), end)
}

// ReadFile implements cli.Runner.
func (r runner) ReadFile(ctx context.Context, threadID, path string, limit int64) ([]byte, error) {
	files, err := r.engine.files(ctx, r.user, threadID)
	if err != nil {
		return nil, fmt.Errorf("open the files of thread %s: %w", threadID, err)
	}
	defer files.Close()
	return files.ReadFile(path, limit)
}

// newOwner names this process, as "host:pid:random": a pid comes again, the rest does not.
func newOwner() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s:%d:%s", strings.ReplaceAll(host, ":", "-"), os.Getpid(), rand.Text()[:8])
}

// holderOf returns the process that works on a run of the data folder: the run's owner, if it is alive and holds the
// folder.
func holderOf(dir string, run store.Run) string {
	parts := strings.Split(run.Owner, ":")
	if len(parts) < 2 || holder(dir) != "process "+parts[1] {
		return ""
	}
	pid, err := strconv.Atoi(parts[1])
	if err != nil || syscall.Kill(pid, 0) == syscall.ESRCH {
		return ""
	}
	return "process " + parts[1]
}

// holder names the process that has locked the data folder, or had.
func holder(dir string) string {
	held, err := os.ReadFile(filepath.Join(dir, sqlstore.LockName))
	if pid := strings.TrimSpace(string(held)); err == nil && pid != "" {
		return "process " + pid
	}
	return "another process"
}

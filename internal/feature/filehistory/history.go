// Package filehistory keeps what the files of a thread were: which call, upload or person changed what, and the bytes
// that were there before, so that a run or a single change can be undone and an earlier version can be read.
//
//	a tool call -> Call -> one look at all files (a stat each) -> what differs is read, copied and written into the run's log
//	a client    -> Changes, Versions, Content, Origins -> the log and the copies;  Undo -> a journal, then the files
//
// All of it lies beside the thread's files, in users/USER/threads/THREAD/history, which no sandbox sees: it is deleted,
// moved, backed up and restored together with them.
//
//	history/now              what the files were at the last look
//	history/runs/RUN.jsonl   what each call of a run changed, a line each; "between" is what was changed outside of runs
//	history/objects/..       contents, by their SHA-256
//	history/undo             the undo that is being done; it is gone when that is done
package filehistory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/lib/flock"
	"github.com/pudu-ai/pudu/internal/userdata"
)

// Config adjusts a [History]. Its zero value has the defaults.
type Config struct {
	Bounds Bounds
	// Quota is what the files of a thread and their copies may take together; 0 means 4 GiB. Copies give way to files.
	Quota int64
	// Watch is told of copies and restorations; nil is nobody.
	Watch Watcher
	Now   func() time.Time
	Log   *slog.Logger
}

// Watcher is told of what the history does.
type Watcher interface {
	// FileCopied is that a copy was made, FileNotKept that a file was changed of which none is kept.
	FileCopied(bytes int64)
	FileNotKept()
	// FilesRestored is that an undo has changed so many paths.
	FilesRestored(paths int)
}

type nobody struct{}

func (nobody) FileCopied(int64)  {}
func (nobody) FileNotKept()      {}
func (nobody) FilesRestored(int) {}

// History is that of all threads.
type History struct {
	cfg Config

	mu   sync.Mutex
	busy map[string]*calls // by the name of the thread's folder
}

// calls are those at work in a thread that may write.
type calls struct {
	open   int
	shared bool // more than one was open since none was
}

// New makes the history of a process's threads.
func New(c Config) *History {
	c.Bounds = c.Bounds.withDefaults()
	c.Quota = cmp.Or(c.Quota, 4<<30)
	if c.Watch == nil {
		c.Watch = nobody{}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &History{cfg: c, busy: make(map[string]*calls)}
}

// Of is the history of the files in a user's thread.
func (h *History) Of(place userdata.Space) *Thread { return &Thread{h: h, place: place} }

// Find finds the history of the files of a user's thread; that of a hidden thread is its root's.
type Find func(ctx context.Context, user access.User, threadID string) (*Thread, error)

// enter counts a call that may write; leave reports whether it was alone.
func (h *History) enter(thread string) (leave func() (alone bool)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.busy[thread]
	if c == nil {
		c = &calls{}
		h.busy[thread] = c
	}
	c.open++
	c.shared = c.shared || c.open > 1
	return func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		alone := !c.shared
		if c.open--; c.open == 0 {
			delete(h.busy, thread)
		}
		return alone
	}
}

// Thread is the history of one thread's files. It is safe for concurrent use.
type Thread struct {
	h     *History
	place userdata.Space

	mu   sync.Mutex // of last, and of all in it: who holds the lock of the file holds it too
	last *state     // as it was saved or loaded last
}

const (
	stateName = "now"
	lockName  = "lock"
	runsName  = "runs"
	undoName  = "undo"
	// lockTimeout bounds the wait for another look, or undo, of the same thread.
	lockTimeout = time.Minute
)

// session is work on a history that nobody else works on.
type session struct {
	t     *Thread
	ctx   context.Context
	root  *os.Root // the thread's folder
	dir   *os.Root // the history's
	state *state
}

// with has do work on the history, which is made if need be. An undo that was cut off is done first.
func (t *Thread) with(ctx context.Context, do func(*session) error) error {
	err := t.locked(ctx, true, func(s *session) error {
		if err := s.finishUndo(); err != nil {
			return err
		}
		return do(s)
	})
	if err != nil {
		return fmt.Errorf("history of thread %s: %w", t.place.Thread(), err)
	}
	return nil
}

// read has do read the history, if there is one.
func (t *Thread) read(ctx context.Context, do func(*session) error) error {
	root, err := t.place.Root(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = root.Lstat(userdata.History)
	root.Close()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return t.with(ctx, do)
}

func (t *Thread) locked(ctx context.Context, create bool, do func(*session) error) (err error) {
	s := &session{t: t, ctx: ctx}
	if s.root, err = t.place.Root(create); err != nil {
		return err
	}
	defer s.root.Close()
	if s.dir, err = openHistory(s.root); err != nil {
		return err
	}
	defer s.dir.Close()
	f, err := s.dir.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	bounded, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	if err := flock.Wait(bounded, f); err != nil {
		return fmt.Errorf("wait for other work on it: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.state, err = t.load(s.dir); err != nil {
		return err
	}
	if err = do(s); err != nil {
		t.last = nil // it may have got further than what is on disk
	}
	return err
}

func openHistory(root *os.Root) (*os.Root, error) {
	dir, err := root.OpenRoot(userdata.History)
	if errors.Is(err, fs.ErrNotExist) {
		if err = root.Mkdir(userdata.History, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
			dir, err = root.OpenRoot(userdata.History)
		}
	}
	return dir, err
}

// load reads the state, unless it is the one that this Thread has seen last.
func (t *Thread) load(dir *os.Root) (*state, error) {
	info, err := dir.Lstat(stateName)
	if err == nil && t.last != nil && t.last.isOf(info) {
		return t.last, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	st, err := readState(dir)
	if err != nil {
		return nil, err
	}
	st.info, t.last = info, st
	return st, nil
}

// save writes the state.
func (s *session) save() error {
	err := s.state.write(s.dir)
	if err == nil {
		s.state.info, err = s.dir.Lstat(stateName)
	}
	s.t.last = s.state
	if err != nil {
		s.t.last = nil // what is on disk counts
		return fmt.Errorf("note what the files are: %w", err)
	}
	return nil
}

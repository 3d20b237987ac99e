package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/archive"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// grace is how long a thread's folder may be there before the thread is.
const grace = time.Hour

// collection is one collecting of what has outlived its use. Whoever runs it owns the data folder, or knows that its
// store is shared; it can be stopped at any moment and run again.
type collection struct {
	store  store.Store
	dir    string
	keep   config.Retention
	rests  []kind // that are kept as long as logs
	now    time.Time
	shrink bool // see store.Retention
	dryRun bool

	root *os.Root
	out  cli.Collected
	// known counts the thread folders whose thread is there; orphans are the others.
	known   int
	orphans []string
}

// Collect implements cli.App.
func (a App) Collect(ctx context.Context, o cli.Options, dryRun bool) (cli.Collected, error) {
	open := a.openOwned
	if dryRun {
		open = func(ctx context.Context, o cli.Options) (*kept, error) { return a.openKept(ctx, o, true) }
	}
	k, err := open(ctx, o)
	if err != nil {
		return cli.Collected{}, err
	}
	c := &collection{store: k.store, dir: k.dir, keep: k.cfg.Retention, rests: leavings(k.cfg.ToolOutput), now: time.Now(), shrink: true, dryRun: dryRun}
	err = c.run(ctx)
	return c.out, errors.Join(err, k.store.Close())
}

func (c *collection) run(ctx context.Context) (err error) {
	if c.root, err = os.OpenRoot(c.dir); err != nil {
		return err
	}
	defer c.root.Close()
	if err := c.files(ctx); err != nil {
		return fmt.Errorf("collect files: %w", err)
	}
	c.out.Collected, err = c.store.Collect(ctx, store.Retention{
		Chunks: c.keep.Chunks.Before(c.now), Snapshots: c.keep.Snapshots.Before(c.now), Items: c.now,
		Shrink: c.shrink, DryRun: c.dryRun,
	})
	return err
}

// files goes through the thread folders.
func (c *collection) files(ctx context.Context) error {
	users, err := c.list("users")
	if err != nil {
		return err
	}
	for _, user := range users {
		threads, err := c.list(path.Join("users", user.Name(), "threads"))
		if err != nil {
			return err
		}
		for _, e := range threads {
			if err := errors.Join(ctx.Err(), c.folder(ctx, path.Join("users", user.Name(), "threads", e.Name()), e)); err != nil {
				return err
			}
		}
	}
	if c.old(archive.Staging) {
		c.remove(archive.Staging)
	}
	return c.removeOrphans()
}

// list reads a folder; one that is not there is empty.
func (c *collection) list(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(c.root.FS(), name)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() }), err
}

// folder looks at one thread's folder, or at what was left of one.
func (c *collection) folder(ctx context.Context, name string, e fs.DirEntry) error {
	if strings.HasPrefix(e.Name(), archive.Trash) {
		c.remove(name)
		return nil
	}
	if err := config.CheckThreadID(e.Name()); err != nil {
		return nil //nolint:nilerr // somebody else's
	}
	_, err := c.store.Thread(ctx, e.Name())
	if errors.Is(err, store.ErrNotFound) {
		if c.old(name, name+"/user-data", name+"/user-data/workspace", name+"/user-data/uploads", name+"/user-data/outputs") {
			c.orphans = append(c.orphans, name)
		}
		return nil
	}
	if err != nil {
		return err
	}
	c.known++
	return c.prune(ctx, name, e.Name())
}

// old reports whether the first of the names is there and none of them was changed within the grace.
func (c *collection) old(names ...string) bool {
	for i, name := range names {
		info, err := c.root.Lstat(name)
		if i == 0 && err != nil || err == nil && c.now.Sub(info.ModTime()) < grace {
			return false
		}
	}
	return true
}

// remove removes a tree and counts it. What cannot be removed stays for the next time.
func (c *collection) remove(name string) {
	if c.dryRun {
		c.out.Folders = append(c.out.Folders, name)
		return
	}
	if err := sandbox.RemoveAll(c.root, name); err != nil {
		c.out.Failed = append(c.out.Failed, err.Error())
		return
	}
	c.out.Folders = append(c.out.Folders, name)
}

// removeOrphans removes folders without a thread. If no folder has one, the database is more likely the wrong one.
func (c *collection) removeOrphans() error {
	if len(c.orphans) > 0 && c.known == 0 {
		c.out.Failed = append(c.out.Failed, fmt.Sprintf("no thread of this database has files, but %d folders of other threads are in %s: "+
			"they were left alone; are this data folder and this database a pair?", len(c.orphans), c.dir))
		return nil
	}
	for _, name := range c.orphans {
		if !c.dryRun {
			if err := bury(c.root, name); err != nil {
				c.out.Failed = append(c.out.Failed, err.Error())
				continue
			}
		}
		c.out.Folders = append(c.out.Folders, name)
	}
	return nil
}

// prune removes old outputs of commands and results of tools, and what writes that were cut off left, from a thread that is at rest.
func (c *collection) prune(ctx context.Context, folder, threadID string) error {
	if c.dryRun {
		return nil
	}
	active, err := c.store.ListRuns(ctx, store.RunFilter{
		ThreadID: threadID, Statuses: []string{event.StatusPending, event.StatusRunning}, Limit: 1,
	})
	if err != nil || len(active) > 0 {
		return err
	}
	files, err := filesIn(c.dir, folder, false)
	if err != nil || files == nil {
		return err
	}
	defer files.Close()
	removed, err := files.Sweep(ctx)
	c.out.Leftovers += removed
	if before := c.keep.Logs.Before(c.now); err == nil && !before.IsZero() {
		for _, k := range c.rests {
			n, size, errPrune := k.prune(files, before)
			c.out.Logs += n
			c.out.LogBytes += size
			err = errors.Join(err, errPrune)
		}
	}
	if err != nil && ctx.Err() == nil {
		c.out.Failed = append(c.out.Failed, fmt.Sprintf("thread %s: %v", threadID, err)) // an agent's folders may be as it likes
		return nil
	}
	return err
}

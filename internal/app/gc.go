package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/archive"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
)

// grace is how long a thread's folder may be there before the thread is.
const grace = time.Hour

// collection is one collecting of what has outlived its use. Whoever runs it owns the data folder, or knows that its
// store is shared; it can be stopped at any moment and run again.
type collection struct {
	store store.System
	// folders are those of threads; what has files here and is none of them is an orphan.
	folders *folders.Folders
	dir     string
	disk    userdata.Disk
	keep    config.Retention
	rests   []kind // that are kept as long as logs
	now     time.Time
	shrink  bool // see store.Retention
	dryRun  bool

	root *os.Root
	out  cli.Collected
	// known counts the places of files whose thread, or folder, is there; orphans are the others.
	known   int
	orphans []orphan
}

// orphan is a place of files that belongs to nothing.
type orphan interface {
	Name() string
	Remove() error
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
	c := &collection{
		store: k.store.System(), folders: folders.New(k.store), dir: k.dir, disk: k.disk, keep: k.cfg.Retention,
		rests: leavings(k.cfg.ToolOutput), now: time.Now(), shrink: true, dryRun: dryRun,
	}
	err = c.run(ctx)
	return c.out, errors.Join(err, k.store.Close())
}

// cleaning are the jobs of the system that drop what has outlived its use: files, and rows as the retention says.
func (e *engine) cleaning() []job.Kind {
	kind := func(name string, part func(*collection, context.Context) error) job.Kind {
		return job.Kind{Name: name, Every: 6 * time.Hour, Timeout: time.Hour,
			Run: func(ctx context.Context, _ job.Job) (func(job.Tx) error, error) {
				keep := e.now().cfg
				return nil, part(&collection{store: e.store.System(), folders: folders.New(e.store), dir: e.dir,
					disk: e.disk, keep: keep.Retention,
					rests: leavings(keep.ToolOutput), now: time.Now()}, ctx)
			}}
	}
	return []job.Kind{kind("clean-up", (*collection).files), kind("retention", (*collection).rows)}
}

func (c *collection) run(ctx context.Context) error {
	if err := c.files(ctx); err != nil {
		return err
	}
	return c.rows(ctx)
}

// rows drops what the retention says.
func (c *collection) rows(ctx context.Context) (err error) {
	c.out.Collected, err = c.store.Collect(ctx, store.Retention{
		Chunks: c.keep.Chunks.Before(c.now), Snapshots: c.keep.Snapshots.Before(c.now), Rows: c.now,
		Shrink: c.shrink, DryRun: c.dryRun,
	})
	return err
}

// files goes through the thread folders.
func (c *collection) files(ctx context.Context) (err error) {
	if c.root, err = os.OpenRoot(c.dir); err != nil {
		return err
	}
	defer c.root.Close()
	defer func() {
		if err != nil {
			err = fmt.Errorf("collect files: %w", err)
		}
	}()
	if !c.dryRun {
		if c.out.Folders, err = finishDeletions(ctx, c.store, c.disk); err != nil {
			return err
		}
	}
	threads, err := c.disk.Threads()
	if err != nil {
		return err
	}
	for _, f := range threads {
		if err := errors.Join(ctx.Err(), c.folder(ctx, f)); err != nil {
			return err
		}
	}
	if err := c.shared(ctx); err != nil {
		return err
	}
	if c.old(archive.Staging) {
		c.remove(archive.Staging, func() error { return sandbox.RemoveAll(c.root, archive.Staging) })
	}
	return c.removeOrphans()
}

// folder looks at one thread's folder, or at what was left of one.
func (c *collection) folder(ctx context.Context, f userdata.Folder) error {
	if userdata.Removed(f.Name()) {
		c.remove(f.Name(), f.Remove)
		return nil
	}
	t, err := c.store.Thread(ctx, f.Thread())
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if place, errUser := c.disk.User(access.FromRow(t.UserID)).Thread(t.ID); err == nil && errUser == nil &&
		place.Folder == f {
		c.known++
		return c.prune(ctx, f)
	}
	if c.old(f.Parts()...) {
		c.orphans = append(c.orphans, f)
	}
	return nil
}

// shared looks at the files of folders of threads.
func (c *collection) shared(ctx context.Context) error {
	list, err := c.disk.Shared()
	if err != nil || len(list) == 0 {
		return err
	}
	there := make(map[userdata.Shared]bool) // of a folder that is there
	for _, s := range list {
		there[s] = false
	}
	err = c.folders.Each(ctx, func(u access.User, id string) {
		if s, err := c.disk.User(u).Shared(id); err == nil {
			if _, ok := there[s]; ok {
				there[s] = true
			}
		}
	})
	if err != nil {
		return err
	}
	for _, s := range list {
		switch {
		case userdata.Removed(s.Name()):
			c.remove(s.Name(), s.Remove)
		case there[s]:
			c.known++
			err = errors.Join(err, c.sweep(ctx, s))
		case c.old(s.Parts()...):
			c.orphans = append(c.orphans, s)
		}
	}
	return err
}

// sweep removes what uploads that were cut off have left in a folder.
func (c *collection) sweep(ctx context.Context, s userdata.Shared) error {
	if c.dryRun {
		return nil
	}
	files, err := s.Files()
	if err != nil {
		return err
	}
	defer files.Close()
	removed, err := files.Sweep(ctx)
	c.out.Leftovers += removed
	return err
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

// remove removes what is at a path, by do, and counts it. What cannot be removed stays for the next time.
func (c *collection) remove(name string, do func() error) {
	if !c.dryRun {
		if err := do(); err != nil {
			c.out.Failed = append(c.out.Failed, err.Error())
			return
		}
	}
	c.out.Folders = append(c.out.Folders, name)
}

// removeOrphans removes folders without a thread. If no folder has one, the database is more likely the wrong one.
func (c *collection) removeOrphans() error {
	if len(c.orphans) > 0 && c.known == 0 {
		c.out.Failed = append(c.out.Failed,
			fmt.Sprintf("no thread of this database has files, but %d folders of others are in %s: "+
				"they were left alone; are this data folder and this database a pair?", len(c.orphans), c.dir))
		return nil
	}
	for _, f := range c.orphans {
		c.remove(f.Name(), f.Remove)
	}
	return nil
}

// prune removes old outputs of commands and results of tools, and what writes that were cut off left, from a thread
// that is at rest.
func (c *collection) prune(ctx context.Context, f userdata.Folder) error {
	if c.dryRun {
		return nil
	}
	active, err := c.store.ListRuns(ctx, store.RunFilter{
		ThreadID: f.Thread(), Statuses: []string{event.StatusPending, event.StatusRunning}, Limit: 1,
	})
	if err != nil || len(active) > 0 {
		return err
	}
	files, err := f.Open(false)
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
		// an agent's folders may be as it likes
		c.out.Failed = append(c.out.Failed, fmt.Sprintf("thread %s: %v", f.Thread(), err))
		return nil
	}
	return err
}

// finishDeletions removes the files of threads whose rows are gone, where a process was killed between the two, and
// returns their folders. Another process may be about to delete one whose rows are there, so that such a note is taken
// away when it is old.
func finishDeletions(ctx context.Context, s store.System, disk userdata.Disk) (gone []string, err error) {
	list, err := disk.Going()
	for i := 0; err == nil && i < len(list); i++ {
		_, err = s.Thread(ctx, list[i].Thread())
		switch {
		case errors.Is(err, store.ErrNotFound):
			gone, err = append(gone, list[i].Name()), list[i].Remove()
		case err == nil && list[i].GoingSince().Before(time.Now().Add(-grace)):
			err = list[i].Stay()
		}
	}
	if err != nil {
		err = fmt.Errorf("remove the files of deleted threads: %w", err)
	}
	return gone, err
}

// finishDeletions does what is left of deletions that were cut off. What keeps it from that does not keep the program
// from starting.
func (e *engine) finishDeletions(ctx context.Context) error {
	gone, err := finishDeletions(ctx, e.store.System(), e.disk)
	if len(gone) > 0 {
		e.log.Info("removed the files of deleted threads, which a process that was killed had left", "folders", gone)
	}
	if err != nil {
		e.log.Warn("deletions of threads that were cut off are not finished", "error", err)
	}
	return nil
}

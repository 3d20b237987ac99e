// Package bin is where threads go that a user deletes and may want back, and how those end that are not to last. A
// thread in the bin is in no list and cannot run; it is restored as it was, or deleted with its files when its time is
// over or the bin is emptied. A temporary thread is deleted some time after its last use. Where a thread stands is in
// its [store.Marks].
//
//	bin.New(cfg).For(user) -> Trash, Restore, Empty, List, Rename, Mark
//	bin.New(cfg).Kinds()   -> the jobs that delete what has had its time
//
// The gateway's routes of threads and the commands `pudu threads ...` call it.
package bin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

// MaxTitle bounds the title of a thread, in bytes.
const MaxTitle = 1000

// Config is what a Bin works with. Store, Schema and Drop are required.
type Config struct {
	Store store.Store
	// Schema has every channel that a state can have, the title among them.
	Schema state.Schema
	// Drop deletes a thread with its files if still says so of it, else it is [store.ErrConflict].
	Drop func(ctx context.Context, u access.User, id string, still func(store.Thread) bool) error
	// Stop makes the owner of a run look that was asked to stop; nil leaves that to the time at which it looks anyway.
	Stop func(ctx context.Context, u access.User, runID string) error
	// Keep is how long threads stay in the bin, and temporary ones after their last use; 0 is for ever.
	Keep func() (trashed, temporary time.Duration)
	// AtOnce says that who empties a bin also deletes what was in it: nobody does jobs there.
	AtOnce bool
	Now    func() time.Time
}

// Bin is everybody's.
type Bin struct{ Config }

// New makes a Bin.
func New(c Config) *Bin {
	if c.Keep == nil {
		c.Keep = func() (time.Duration, time.Duration) { return 0, 0 }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Bin{c}
}

// Ends is when a thread in the bin is deleted for good; zero is never.
func (b *Bin) Ends(t store.Thread) time.Time {
	keep, _ := b.Keep()
	if !t.Trashed() || keep == 0 {
		return time.Time{}
	}
	return t.TrashedAt.Add(keep)
}

// For is what one user has.
func (b *Bin) For(u access.User) *Mine { return &Mine{b, u, b.Store.For(u)} }

// Mine are one user's threads.
type Mine struct {
	bin  *Bin
	user access.User
	data store.UserData
}

// Trash puts a thread into the bin and stops what runs on it. One that is there already stays as long as it would have.
func (m *Mine) Trash(ctx context.Context, id string) (store.Thread, error) {
	t, err := m.data.PatchThread(ctx, id, store.ThreadPatch{Set: store.Trashed, TrashedAt: m.bin.Now()})
	if err != nil || m.bin.Stop == nil {
		return t, err
	}
	running, err := m.data.ListRuns(ctx, store.RunFilter{ThreadID: id, Statuses: []string{event.StatusRunning}})
	for _, run := range running {
		err = errors.Join(err, m.bin.Stop(ctx, m.user, run.ID))
	}
	return t, err
}

// Restore takes a thread out of the bin; one that is not there stays as it is.
func (m *Mine) Restore(ctx context.Context, id string) (store.Thread, error) {
	return m.data.PatchThread(ctx, id, store.ThreadPatch{Clear: store.Trashed})
}

// List lists the threads in the bin, the last deleted first, or those of another shelf, the last updated first. limit
// is 1 to 1001.
func (m *Mine) List(ctx context.Context, of store.Shelf, limit, offset int) ([]store.Thread, error) {
	f := store.ThreadFilter{Shelf: of, Limit: limit, Offset: offset}
	if of == store.InBin {
		f.Sort = "trashed_at"
	}
	return m.data.SearchThreads(ctx, f)
}

// Empty empties the bin and returns how many threads that are. None of them can be restored from here on; they are
// deleted by a job that is stored with this, or by [Bin.Sweep].
func (m *Mine) Empty(ctx context.Context) (int, error) {
	n, err := m.data.DoomThreads(ctx, m.bin.Now(), store.NewJob{Kind: jobEmpty, Key: "bin"})
	if err == nil && n > 0 && m.bin.AtOnce {
		err = m.bin.Sweep(ctx, store.Outlived{})
	}
	return n, err
}

// Marks changes where a thread stands; nil leaves it.
type Marks struct{ Archived, Temporary, Pinned *bool }

// Mark changes the marks of a thread. It does not count as an update of it.
func (m *Mine) Mark(ctx context.Context, id string, to Marks) (store.Thread, error) {
	var p store.ThreadPatch
	for mark, on := range map[store.Marks]*bool{store.Archived: to.Archived, store.Temporary: to.Temporary} {
		switch {
		case on == nil:
		case *on:
			p.Set |= mark
		default:
			p.Clear |= mark
		}
	}
	if to.Pinned != nil { // as DeerFlow's web client does
		p.Metadata = fmt.Appendf(nil, `{"deerflow_pinned":%v}`, *to.Pinned)
	}
	return m.data.PatchThread(ctx, id, p)
}

// renameTries is how often a title is written that meets other changes of the thread's state.
const renameTries = 4

// CheckTitle says what is wrong with a title.
func CheckTitle(title string) error {
	if title == "" || len(title) > MaxTitle {
		return fmt.Errorf("the title of a thread has 1 to %d bytes, not %d", MaxTitle, len(title))
	}
	return nil
}

// Rename gives a thread a title, in its state too, where clients read it. [store.ErrConflict] if it has an active run,
// which may write the title itself.
func (m *Mine) Rename(ctx context.Context, id, title string) (err error) {
	if err = CheckTitle(title); err == nil {
		for range renameTries {
			if err = m.rename(ctx, id, title); !errors.Is(err, store.ErrConflict) {
				break
			}
		}
	}
	if err != nil {
		return fmt.Errorf("rename thread %.80q: %w", id, err)
	}
	return nil
}

func (m *Mine) rename(ctx context.Context, id, title string) error {
	at, err := m.data.Checkpoint(ctx, m.bin.Schema, id, "")
	if err != nil {
		return err
	}
	update := threadstate.Title.Put(title)
	next, _, err := at.State.Apply(update)
	if err != nil {
		return err
	}
	_, err = m.data.Write(ctx, id, store.Step{
		Parent: cmp.Or(at.ID, store.Origin), OnHead: true, State: next, Next: at.Next, Title: &title, Now: m.bin.Now(),
		Updates: []store.NodeUpdate{{Node: "manual_state_update", Update: update}},
	})
	return err
}

// Package folders puts a user's threads into folders: a name, a colour, instructions for all runs of the threads in it,
// and files that all of them can read. A thread is in at most one. The gateway's routes below /folders and the command
// `pudu folders` change them; the program asks for the folder of a thread when it builds the agent of a run.
//
//	folders.New(db).For(user) -> Create, Folder, List, Update, Delete, Put, Remove, Of
//	userdata.Shared -> Room, Names: how much may still be put there, and what there is
package folders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// Bounds, in bytes, and of the threads that [Folder] names.
const (
	MaxName         = 200
	MaxInstructions = 16 << 10
	MaxThreads      = 1000
)

// Folder holds threads.
type Folder struct {
	ID   string
	Name string
	// Colour is empty, or #rrggbb.
	Colour       string
	Instructions string
	CreatedAt    time.Time
	UpdatedAt    time.Time
	// Threads are the ids of its threads, the last put first, at most [MaxThreads]; nil in a list.
	Threads []string
	// Count is how many of its threads are in lists: neither archived, temporary nor in the bin. [Mine.Of] does not
	// count.
	Count int
}

// Patch changes what is not nil.
type Patch struct{ Name, Colour, Instructions *string }

var colour = regexp.MustCompile(`^(#[0-9a-fA-F]{6})?$`)

// Check says what is wrong with a patch.
func (p Patch) Check() error {
	var errs []error
	if p.Name != nil && (*p.Name == "" || len(*p.Name) > MaxName) {
		errs = append(errs, fmt.Errorf("the name of a folder has 1 to %d bytes, not %d", MaxName, len(*p.Name)))
	}
	if p.Colour != nil && !colour.MatchString(*p.Colour) {
		errs = append(errs, fmt.Errorf("the colour of a folder is #rrggbb or empty, not %.40q", *p.Colour))
	}
	if p.Instructions != nil {
		errs = append(errs, database.CheckSize("instructions", len(*p.Instructions), MaxInstructions))
	}
	return errors.Join(errs...)
}

// Folders are everybody's folders.
type Folders struct{ db database.DB }

// New makes the folders of a store.
func New(st database.Store) *Folders { return &Folders{st.Feature(Feature().Name)} }

// For is what one user has.
func (s *Folders) For(u access.User) *Mine { return &Mine{s.db.For(u)} }

// Mine are one user's folders.
type Mine struct{ db database.Bound }

// Create adds a folder; [database.ErrQuota] if there are as many as may be.
func (m *Mine) Create(ctx context.Context, f Folder) error {
	err := errors.Join(database.CheckID("folder", f.ID), Patch{&f.Name, &f.Colour, &f.Instructions}.Check())
	if err == nil {
		_, err = m.change(ctx, "insert", f.ID, database.Plain(f.Name), f.Colour, database.Micros(f.CreatedAt),
			database.Micros(f.UpdatedAt), database.Plain(f.Instructions))
	}
	if err != nil {
		return fmt.Errorf("create folder %.40q: %w", f.ID, err)
	}
	return nil
}

// change runs a statement by itself.
func (m *Mine) change(ctx context.Context, statement string, args ...any) (n int64, err error) {
	err = m.db.Write(ctx, 0, func(tx database.Tx) (err error) {
		n, err = tx.Exec(statement, args...)
		return err
	})
	return n, err
}

// must changes something that has to be there; else it is [store.ErrNotFound].
func (m *Mine) must(ctx context.Context, statement string, args ...any) error {
	n, err := m.change(ctx, statement, args...)
	if err == nil && n == 0 {
		err = store.ErrNotFound
	}
	return err
}

func scan(r database.Row, counted bool) (f Folder, err error) {
	var created, updated int64
	into := []any{&f.ID, &f.Name, &f.Colour, &created, &updated, &f.Instructions}
	if counted {
		into = append(into, &f.Count)
	}
	err = r.Scan(into...)
	f.CreatedAt, f.UpdatedAt = database.TimeOf(created), database.TimeOf(updated)
	return f, err
}

// Folder returns a folder with its threads.
func (m *Mine) Folder(ctx context.Context, id string) (f Folder, err error) {
	err = m.db.Read(ctx, "folder", func(r database.Row) (bool, error) {
		f, err = scan(r, true)
		return false, err
	}, id)
	if err == nil && f.ID == "" {
		err = store.ErrNotFound
	}
	if err == nil {
		f.Threads = []string{}
		err = m.db.Read(ctx, "threads", func(r database.Row) (bool, error) {
			f.Threads = append(f.Threads, "")
			return true, r.Scan(&f.Threads[len(f.Threads)-1])
		}, id, MaxThreads)
	}
	if err != nil {
		return Folder{}, fmt.Errorf("read folder %.40q: %w", id, err)
	}
	return f, nil
}

// List returns folders by name. limit is 1 to 1001.
func (m *Mine) List(ctx context.Context, limit, offset int) (fs []Folder, err error) {
	if err = database.CheckPage(limit, 1001, offset); err == nil {
		err = m.db.Read(ctx, "list", func(r database.Row) (bool, error) {
			f, err := scan(r, true)
			fs = append(fs, f)
			return true, err
		}, limit, offset)
	}
	if err != nil {
		return nil, fmt.Errorf("list folders: %w", err)
	}
	return fs, nil
}

// Update changes a folder.
func (m *Mine) Update(ctx context.Context, id string, p Patch, now time.Time) error {
	err := p.Check()
	if err == nil {
		err = m.must(ctx, "update", id, plain(p.Name), p.Colour, plain(p.Instructions), database.Micros(now))
	}
	if err != nil {
		return fmt.Errorf("change folder %.40q: %w", id, err)
	}
	return nil
}

func plain(s *string) *string {
	if s != nil {
		clean := database.Plain(*s)
		return &clean
	}
	return nil
}

// Delete removes a folder. Its threads stay.
func (m *Mine) Delete(ctx context.Context, id string) error {
	if err := m.must(ctx, "delete", id); err != nil {
		return fmt.Errorf("delete folder %.40q: %w", id, err)
	}
	return nil
}

// Put puts a thread into a folder; it leaves the one that it was in. [store.ErrNotFound] if one of the two is not
// there.
func (m *Mine) Put(ctx context.Context, id, thread string, now time.Time) error {
	if err := m.must(ctx, "put", thread, id, database.Micros(now)); err != nil {
		return fmt.Errorf("put thread %.40q into folder %.40q: %w", thread, id, err)
	}
	return nil
}

// Remove takes a thread out of a folder; [store.ErrNotFound] if it is not in it.
func (m *Mine) Remove(ctx context.Context, id, thread string) error {
	if err := m.must(ctx, "remove", id, thread); err != nil {
		return fmt.Errorf("take thread %.40q out of folder %.40q: %w", thread, id, err)
	}
	return nil
}

// Of is the folder that a thread is in, without its threads; the zero Folder if it is in none. It is one look into two
// keys.
func (m *Mine) Of(ctx context.Context, thread string) (f Folder, err error) {
	err = m.db.Read(ctx, "of", func(r database.Row) (bool, error) {
		f, err = scan(r, false)
		return false, err
	}, thread)
	if err != nil {
		return Folder{}, fmt.Errorf("find the folder of thread %.40q: %w", thread, err)
	}
	return f, nil
}

// OfEach are the ids of the folders that threads are in, by the ids of the threads; those in none are not among them.
func (m *Mine) OfEach(ctx context.Context, threads []string) (map[string]string, error) {
	out := make(map[string]string)
	ids, err := json.Marshal(threads)
	if err == nil && len(threads) > 0 {
		err = m.db.Read(ctx, "of_each", func(r database.Row) (bool, error) {
			var thread, folder string
			err := r.Scan(&thread, &folder)
			out[thread] = folder
			return true, err
		}, string(ids))
	}
	if err != nil {
		return nil, fmt.Errorf("find the folders of %d threads: %w", len(threads), err)
	}
	return out, nil
}

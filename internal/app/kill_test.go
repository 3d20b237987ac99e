package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/bin"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/killtest"
	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
)

const (
	killThreads = 12 // of the user
	killFiles   = 40 // of each
)

// killed is what a process finds that is killed: a database and a data folder.
type killed struct{ Dir, URL string }

func (k killed) told() string {
	raw, _ := json.Marshal(k)
	return string(raw)
}

// ground is what one kill is about, opened.
type ground struct {
	killed
	database.Store

	disk userdata.Disk
	user access.User
}

func openGround(ctx context.Context, told string) (*ground, error) {
	g := &ground{user: access.FromRow("ann")}
	if err := json.Unmarshal([]byte(told), &g.killed); err != nil {
		return nil, err
	}
	c := sqlstore.Config{Dir: g.Dir, Features: feature.All()}
	if g.URL != "" {
		c = sqlstore.Config{URL: g.URL, Features: feature.All()}
	}
	g.disk = userdata.New(g.Dir)
	var err error
	g.Store, err = sqlstore.Open(ctx, c)
	return g, err
}

func (g *ground) bin() *bin.Bin {
	return bin.New(bin.Config{Store: g.Store, Schema: state.Schema{},
		Drop: func(ctx context.Context, u access.User, id string, still func(store.Thread) bool) error {
			return dropThread(ctx, g.For(u), g.disk, id, still, func(string) {})
		}})
}

// onBoth runs a test of kills on both databases.
func onBoth(t *testing.T, run func(t *testing.T, now killed)) {
	t.Helper()
	var pg pgtest.Lazy
	t.Cleanup(func() { _ = pg.Stop() })
	t.Run("sqlite", func(t *testing.T) { run(t, killed{Dir: t.TempDir()}) })
	t.Run("postgres", func(t *testing.T) {
		k := killed{Dir: t.TempDir()}
		if !killtest.Child() { // which is told of the database
			k.URL = pg.Database(t)
		}
		run(t, k)
	})
}

// clean opens what is killed, with nothing of the user's.
func clean(t *testing.T, k killed) *ground {
	t.Helper()
	g := must(t, k)
	_, err := g.System().DeleteUser(t.Context(), g.user)
	if err = errors.Join(err, g.disk.User(g.user).Remove()); err != nil {
		t.Fatal(err)
	}
	return g
}

// fill makes the threads, all with files.
func (g *ground) fill(ctx context.Context) error {
	for i := range killThreads {
		id, now := fmt.Sprint("t", i), time.Now()
		if err := g.For(g.user).CreateThread(ctx, store.Thread{ID: id, CreatedAt: now, UpdatedAt: now}); err != nil {
			return err
		}
		if err := g.write(id); err != nil {
			return err
		}
	}
	return nil
}

func (g *ground) write(id string) error {
	place, err := g.disk.User(g.user).Thread(id)
	if err != nil {
		return err
	}
	for i := range killFiles { // they need not be on the disk, as long as no machine fails
		name := fmt.Sprintf("%s/d%d/f%d", place.Mounts()[0].Host, i%4, i)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o750),
			os.WriteFile(name, []byte(name), 0o600)); err != nil {
			return err
		}
	}
	return nil
}

// count is how many files a thread has on disk.
func (g *ground) count(t *testing.T, id string) (n int) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(g.Dir, "users/ann/threads", id),
		func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				n++
			}
			return err
		})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return n
}

// work puts all threads into the bin, takes the odd ones out, and empties it.
func (g *ground) work(ctx context.Context, did func(string)) error {
	mine := g.bin().For(g.user)
	for i := range killThreads {
		id := fmt.Sprint("t", i)
		if _, err := mine.Trash(ctx, id); err != nil {
			return err
		}
		did("trash " + id)
		if i%2 == 1 {
			if _, err := mine.Restore(ctx, id); err != nil {
				return err
			}
			did("restore " + id)
		}
	}
	if _, err := mine.Empty(ctx); err != nil {
		return err
	}
	did("empty")
	if err := g.bin().Sweep(ctx, store.Outlived{}); err != nil {
		return err
	}
	did("sweep")
	return nil
}

// TestBinKilled: a process that puts threads into the bin, restores them and empties it is killed anywhere. What it
// said it has done stays, and the rest is done or not: a thread has its row and all its files, or neither of them.
func TestBinKilled(t *testing.T) {
	onBoth(t, func(t *testing.T, now killed) {
		killtest.Site{
			Before: func(int) string {
				g := clean(t, now)
				defer g.Close()
				if err := g.fill(t.Context()); err != nil {
					t.Fatal(err)
				}
				return now.told()
			},
			Work: func(ctx context.Context, told string, begin func(), did func(string)) error {
				g, err := openGround(ctx, told)
				if err != nil {
					return err
				}
				begin()
				return g.work(ctx, did)
			},
			After: func(kill int, parts []string, whole bool) {
				g := must(t, now)
				defer g.Close()
				g.look(t, parts)
				if t.Failed() {
					t.Fatalf("after kill %d; whole %v; the process had done %q", kill, whole, parts)
				}
			},
		}.Run(t)
	})
}

func must(t *testing.T, k killed) *ground {
	t.Helper()
	g, err := openGround(t.Context(), k.told())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// look looks at what a killed process has left, as it is and after what the next start does.
func (g *ground) look(t *testing.T, parts []string) {
	t.Helper()
	emptied := slices.Contains(parts, "empty")
	for i := range killThreads {
		id := fmt.Sprint("t", i)
		th, err := g.For(g.user).Thread(t.Context(), id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		there, files := err == nil, g.count(t, id)
		trashed, restored := slices.Contains(parts, "trash "+id), slices.Contains(parts, "restore "+id)
		switch {
		case there && files != killFiles:
			t.Errorf("%s is there with %d files", id, files)
		case !there && (i%2 == 1 || !trashed):
			t.Errorf("%s is gone", id)
		case there && trashed && i%2 == 0 && !th.Trashed():
			t.Errorf("%s was trashed and is not in the bin", id)
		case there && restored && th.Trashed():
			t.Errorf("%s was restored and is in the bin", id)
		}
	}
	if _, err := finishDeletions(t.Context(), g.System(), g.disk); err != nil {
		t.Fatal(err)
	}
	for i := range killThreads {
		id := fmt.Sprint("t", i)
		if _, err := g.For(g.user).Thread(t.Context(), id); err != nil && g.count(t, id) > 0 {
			t.Errorf("%s is gone and has files: who gets the id sees them", id)
		}
	}
	if err := g.bin().Sweep(t.Context(), store.Outlived{}); err != nil { // the job, which is a row
		t.Fatal(err)
	}
	left, err := g.bin().For(g.user).List(t.Context(), store.InBin, 100, 0)
	if err != nil || emptied && len(left) > 0 {
		t.Errorf("left in the bin: %d, %v", len(left), err)
	}
	if list, err := g.disk.Going(); err != nil || emptied && len(list) > 0 {
		t.Errorf("notes: %v, %v", list, err)
	}
	err = g.System().Verify(t.Context(), state.Schema{},
		store.Visitor{Problem: func(p store.Problem) { t.Errorf("fault: %+v", p) }})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDeletionCutOff: a process ends between the rows of a thread and its files. The next start removes them, and
// nobody who gets the id sees them; a thread whose rows are there keeps its own.
func TestDeletionCutOff(t *testing.T) {
	onBoth(t, func(t *testing.T, now killed) {
		g := clean(t, now)
		defer g.Close()
		if err := g.fill(t.Context()); err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() { _ = recover() }()
			_ = dropThread(t.Context(), g.For(g.user), g.disk, "t0", func(store.Thread) bool { return true },
				func(string) { panic("killed") })
		}()
		place, err := g.disk.User(g.user).Thread("t1")
		if err == nil {
			err = place.Going() // and was killed before the rows went
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := g.count(t, "t0"); n != killFiles {
			t.Fatalf("%d files are left; the test is none", n)
		}
		gone, err := finishDeletions(t.Context(), g.System(), g.disk)
		if err != nil || len(gone) != 1 || g.count(t, "t0") != 0 || g.count(t, "t1") != killFiles {
			t.Errorf("gone %q, %v; %d and %d files", gone, err, g.count(t, "t0"), g.count(t, "t1"))
		}
		if list, err := g.disk.Going(); err != nil || len(list) != 1 { // somebody may be deleting it
			t.Errorf("notes: %v, %v", list, err)
		}
		hoursAgo := time.Now().Add(-2 * grace)
		if err := os.Chtimes(filepath.Join(now.Dir, "users/ann/threads/.going-t1"), hoursAgo, hoursAgo); err != nil {
			t.Fatal(err)
		}
		gone, err = finishDeletions(t.Context(), g.System(), g.disk)
		if list, errNotes := g.disk.Going(); err != nil || errNotes != nil || len(gone)+len(list) > 0 ||
			g.count(t, "t1") != killFiles {
			t.Errorf("gone %q, notes %v; %v, %v", gone, list, err, errNotes)
		}
		err = dropThread(t.Context(), g.For(g.user), g.disk, "t1", func(store.Thread) bool { return false },
			func(string) {})
		if list, errNotes := g.disk.Going(); !errors.Is(err, store.ErrConflict) || errNotes != nil || len(list) > 0 {
			t.Errorf("%v; notes of what stays: %v, %v", err, list, errNotes)
		}
	})
}

// TestFolderFileKilled: a process that puts files into a folder of threads, replaces them and removes them is killed
// anywhere. Each file is as it was or as it is to be, and no list shows anything else.
func TestFolderFileKilled(t *testing.T) {
	const size, files = 300_000, 6
	content := func(version int) string { return strings.Repeat(fmt.Sprintf("version %d ", version), size/10) }
	onBoth(t, func(t *testing.T, now killed) {
		with := func(ctx context.Context, g *ground, do func(*sandbox.Files) error) error {
			list, err := filesOfFolder(ctx, folders.New(g.Store).For(g.user), g.disk.User(g.user), "f")
			if err == nil {
				err = errors.Join(do(list), list.Close())
			}
			return err
		}
		name := func(i int) string { return fmt.Sprintf("%s/sub/file%d", sandbox.Folder, i) }
		killtest.Site{
			Before: func(int) string {
				g := clean(t, now)
				defer g.Close()
				if err := folders.New(g.Store).For(g.user).
					Create(t.Context(), folders.Folder{ID: "f", Name: "f"}); err != nil {
					t.Fatal(err)
				}
				return now.told()
			},
			Work: func(ctx context.Context, told string, begin func(), did func(string)) error {
				g, err := openGround(ctx, told)
				if err != nil {
					return err
				}
				begin()
				return with(ctx, g, func(list *sandbox.Files) error {
					for version := range 4 {
						for i := range files {
							if _, err := list.WriteFrom(name(i), strings.NewReader(content(version)),
								1<<30); err != nil {
								return err
							}
							did(fmt.Sprint(i, " ", version))
							if i == 0 {
								if err := list.Remove(name(i)); err != nil {
									return err
								}
								did("0 gone")
							}
						}
					}
					return nil
				})
			},
			After: func(kill int, parts []string, _ bool) {
				g := must(t, now)
				defer g.Close()
				err := with(t.Context(), g, func(list *sandbox.Files) error {
					for i := range files {
						raw, err := list.ReadFile(name(i), 1<<30)
						if err != nil && !errors.Is(err, fs.ErrNotExist) {
							return err
						}
						last := -1 // the version that was said to be there
						for _, part := range parts {
							_, _ = fmt.Sscanf(part, fmt.Sprint(i, " %d"), &last)
						}
						got := string(raw)
						switch {
						case i == 0 && err != nil:
						case last < 0 && err != nil || last >= 0 && got == content(last) || got == content(last+1):
						default:
							t.Errorf("kill %d: file %d has %d bytes, %v; the last that was done is version %d", kill, i,
								len(got), err, last)
						}
					}
					n, _, _, err := folders.Room(t.Context(), list, 1<<30)
					shown, _, errNames := folders.Names(t.Context(), list, 100)
					// the folder, and one that was being written
					if len(shown) > files || n < folders.MaxFiles-files-2 {
						t.Errorf("kill %d: %q are shown, there is room for %d", kill, shown, n)
					}
					return errors.Join(err, errNames)
				})
				if err != nil {
					t.Fatal(err)
				}
			},
		}.Run(t)
	})
}

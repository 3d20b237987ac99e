package sqlstore

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/buffertest"
)

// TestDatabaseLost takes the files away from under an open store. It notices, refuses everything, touches nothing any
// more, and saves what it has open.
func TestDatabaseLost(t *testing.T) {
	tests := []struct {
		name   string
		lose   func(t *testing.T, file string)
		atOnce bool // the next write notices it, else the next look
		whole  bool // what was lost is open as a whole
		again  bool // the next start finds everything
	}{
		{"deleted", func(t *testing.T, file string) { must(t, os.Remove(file)) }, true, true, true},
		{"all of it deleted", func(t *testing.T, file string) {
			must(t, os.Remove(file), os.Remove(file+"-wal"), os.Remove(file+"-shm"))
		}, true, true, true},
		{"folder deleted", func(t *testing.T, file string) { must(t, os.RemoveAll(filepath.Dir(file))) }, true, false,
			false},
		{"moved", func(t *testing.T, file string) { must(t, os.Rename(file, file+".elsewhere")) }, true, true, true},
		{"log deleted", func(t *testing.T, file string) { must(t, os.Remove(file+"-wal")) }, true, true, false},
		{"emptied", func(t *testing.T, file string) { truncate(t, file, 0) }, true, false, false},
		{"cut off", func(t *testing.T, file string) { truncate(t, file, 3*pageSize) }, true, false, false},
		{"replaced by another", func(t *testing.T, file string) {
			_, other := written(t)
			must(t, os.Rename(other, file))
		}, true, true, false},
		{"replaced by a text", func(t *testing.T, file string) {
			must(t, os.WriteFile(file+".new", []byte("hello"), 0o600), os.Rename(file+".new", file))
		}, true, true, false},
		{"overwritten by an older one", func(t *testing.T, file string) {
			_, other := written(t)
			raw, err := os.ReadFile(other)
			must(t, err, os.WriteFile(file, append(raw, make([]byte, 1<<20)...), 0o600))
		}, false, false, false},
		{"overwritten by a text",
			func(t *testing.T, file string) { overwrite(t, file, 0, strings.Repeat("hello ", 100)) }, false, false,
			false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, file := written(t)
			for range 5 { // counts more changes than another that was just written
				raw(t, file, "CREATE TABLE x (y)")
				raw(t, file, "DROP TABLE x")
			}
			var log buffertest.Buffer
			s := openWith(t, Config{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			must(t, s.For(ann()).CreateThread(t.Context(), store.Thread{ID: "last"}))
			tt.lose(t, file)
			if tt.atOnce {
				if err := s.For(ann()).CreateThread(t.Context(), store.Thread{ID: "late"}); !errors.Is(err,
					store.ErrLost) {
					t.Errorf("the next write: %v", err)
				}
			}
			soon(t, "the loss is noticed", func() bool { return s.watch.err() != nil })
			for what, err := range map[string]error{
				"write": s.For(ann()).CreateThread(t.Context(), store.Thread{ID: "later"}),
				"read":  second(s.Thread(t.Context(), "last")), "dump": second(s.Dump(t.Context(), io.Discard)),
			} {
				if !errors.Is(err, store.ErrLost) || !errors.Is(err, store.ErrUnavailable) ||
					!strings.Contains(err.Error(), file) {
					t.Errorf("%s: %v", what, err)
				}
			}
			soon(t, "the end of saving", func() bool { return strings.Count(log.String(), "level=ERROR") == 2 })
			before := contents(t, dir)
			if err := s.Close(); !errors.Is(err, store.ErrLost) {
				t.Errorf("Close: %v", err)
			}
			if after := contents(t, dir); after != before {
				t.Errorf("closing changed what is left of\n%s to\n%s", before, after)
			}
			copies, _ := filepath.Glob(file + ".saved-*.bak")
			if len(copies) == 0 && tt.whole {
				t.Fatalf("nothing was saved\n%s", log.String())
			}
			if len(copies) == 0 {
				return
			}
			if !tt.again {
				dir = t.TempDir()
				must(t, os.Rename(copies[0], filepath.Join(dir, FileName)))
			}
			again := open(t, dir)
			defer again.Close()
			if _, err := again.Thread(t.Context(), "last"); err != nil {
				t.Errorf("what was committed last: %v\n%s", err, log.String())
			}
		})
	}
}

// TestFolderStaysLocked: who removes the lock file does not let a second owner in.
func TestFolderStaysLocked(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	defer s.Close()
	must(t, os.Remove(filepath.Join(dir, LockName)))
	wantOpen(t, Config{Dir: dir}, store.ErrLocked, dir, "another process")
	wantOpen(t, Config{Dir: dir}, store.ErrLocked, dir)
}

// TestWatchSeesNoLoss: what SQLite itself does with the file is no loss, at whatever moment one looks.
func TestWatchSeesNoLoss(t *testing.T) {
	s := open(t, t.TempDir())
	done := make(chan struct{})
	looked := make(chan error)
	go func() {
		for err := error(nil); ; err = errors.Join(s.watch.look(), s.watch.names()) {
			select {
			case <-done:
				looked <- err
				return
			default:
			}
			if err != nil {
				looked <- err
				return
			}
		}
	}()
	fill := func(query string) {
		must(t, s.write(t.Context(), 0, func(x *tx) error { return x.exec(query) }))
	}
	fill("CREATE TABLE filling (x)")
	for range 5 { // a few megabytes each, which SQLite moves from its log into the file
		fill("INSERT INTO filling VALUES (randomblob(4000000))")
		tk := newTalk(t, s, 1)
		tk.turn(50 << 10)
		must(t, s.For(ann()).DeleteThread(t.Context(), tk.thread))
		fill("DELETE FROM filling")
	}
	collect(t, s, store.Retention{Shrink: true})
	newTalk(t, s, 100).turn(1 << 20)
	close(done)
	must(t, <-looked, s.Close())
}

// TestLossInTheMiddleOfAWrite: what is saved waits for the transaction that was open when the loss was noticed.
func TestLossInTheMiddleOfAWrite(t *testing.T) {
	_, file := written(t)
	var log buffertest.Buffer
	s := openWith(t, Config{Dir: filepath.Dir(file), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	begun, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		ended <- s.writer.do(t.Context(), &job{run: func(t *tx) error {
			close(begun)
			<-goOn
			return t.exec("CREATE TABLE late (x)")
		}})
	}()
	<-begun
	must(t, os.Remove(file))
	soon(t, "the loss is noticed", func() bool { return strings.Contains(log.String(), "THE DATABASE IS LOST") })
	time.Sleep(50 * time.Millisecond) // what is saved would be begun by now
	close(goOn)
	if err := <-ended; !errors.Is(err, store.ErrUnknown) {
		t.Errorf("the write: %v", err)
	}
	soon(t, "the end of saving", func() bool { return strings.Count(log.String(), "level=ERROR") == 2 })
	if err := s.Close(); !errors.Is(err, store.ErrLost) {
		t.Errorf("Close: %v", err)
	}
	if !strings.Contains(log.String(), "start Pudu again") {
		t.Fatal(log.String())
	}
	raw(t, file, "DROP TABLE late")
	must(t, open(t, filepath.Dir(file)).Close())
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func second[T any](_ T, err error) error { return err }

func soon(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: it did not come", what)
		}
	}
}

// contents are the files of a folder with their sums.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(p)
		fmt.Fprintf(&b, "%s %x\n", e.Name(), sha256.Sum256(raw))
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return b.String()
}

// TestAnotherFileIsNotWatched: what takes the database's place before the watch begins is a loss as well.
func TestAnotherFileIsNotWatched(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pudu.db")
	must(t, os.WriteFile(file, []byte(strings.Repeat("hello ", 100)), 0o600))
	if w, err := newWatch(file); !errors.Is(err, store.ErrLost) || w != nil {
		t.Errorf("got %v, %v", w, err)
	}
}

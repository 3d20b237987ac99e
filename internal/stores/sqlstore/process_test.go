package sqlstore

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/store"
)

var discard = slog.New(slog.DiscardHandler)

// childEnv makes this test binary a process that owns a store, so that tests can kill it.
const childEnv = "PUDU_SQLSTORE_CHILD"

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "20"); err != nil { // make soak asks for more
		panic(err)
	}
	slog.SetDefault(discard)
	if text := os.Getenv(childEnv); text != "" {
		var c place
		err := json.Unmarshal([]byte(text), &c)
		if err == nil {
			err = child(Config{Features: feature.All(), Dir: c.Dir, URL: c.URL, Schema: c.Schema, Lease: c.Lease})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if err := pg.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// place is what of a Config is handed to a child.
type place struct {
	Dir, URL, Schema string
	Lease            time.Duration
}

const childThreads = 4

// child commits to several threads side by side, for ever, and prints "<thread> <checkpoint>" for each commit that
// was acknowledged. It renews its lease.
func child(cfg Config) error {
	ctx := context.Background()
	s, err := Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.Renew(ctx, "child"); err != nil {
		return err
	}
	go func() {
		for range time.Tick(testLease / 5) {
			s.Renew(ctx, "child") // what it says is not looked at: the fence must do
		}
	}()
	fmt.Println("ready")
	errs := make(chan error, childThreads)
	for i := range childThreads {
		go func() { errs <- commitForEver(ctx, s, fmt.Sprint(i)) }()
	}
	return <-errs
}

func commitForEver(ctx context.Context, s *Store, thread string) error {
	r, err := s.Run(ctx, "run-"+thread)
	if err != nil {
		if _, err := s.For(ann()).Admit(ctx, admission("run-"+thread, thread)); err != nil {
			return err
		}
	}
	f, err := s.ClaimRun(ctx, "run-"+thread, "child", r.Attempt, time.Now())
	if err != nil {
		return err
	}
	c, err := s.For(ann()).Checkpoint(ctx, schema, thread, "")
	if err != nil {
		return err
	}
	for n := c.Step; ; n++ {
		u := chats.Append(chat{ID: fmt.Sprint(n), Type: "human", Content: strings.Repeat("x", 200)})
		st, _, err := c.State.Apply(u.With(turns.Put(1)))
		if err != nil {
			return err
		}
		c.State = st
		id, err := s.Commit(ctx, f, store.Step{Next: "model", Now: time.Now(), State: st,
			Updates: []store.NodeUpdate{{Node: "model", Update: u.With(turns.Put(1))}}})
		if err != nil {
			return err
		}
		fmt.Println(thread, id)
	}
}

// startChild starts a process with a store of its own and waits until it has it.
func startChild(t *testing.T, cfg Config) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	text, err := json.Marshal(place{cfg.Dir, cfg.URL, cfg.Schema, cfg.Lease})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(cmd) })
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); line != "ready\n" {
		t.Fatalf("child said %q, %v", line, err)
	}
	return cmd, lines
}

func kill(cmd *exec.Cmd) {
	cmd.Process.Kill()
	cmd.Wait()
}

// TestKill kills the owner while it commits. What it acknowledged is there, and every thread's chain is whole.
func TestKill(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { testKill(t, Config{Dir: t.TempDir()}) })
	t.Run("postgres", func(t *testing.T) {
		cfg := postgresAt(t, t.TempDir())
		cfg.Lease = testLease // the child renews its lease as often as this one needs
		testKill(t, cfg)
	})
}

// kills is how often; make crash kills a thousand times.
const kills = 8

func testKill(t *testing.T, cfg Config) {
	acked := map[string][]string{} // thread -> checkpoints
	for round := range kills {
		cmd, out := startChild(t, cfg)
		for range rand.IntN(150) {
			line, err := out.ReadString('\n')
			if err != nil {
				t.Fatalf("round %d: child ended: %v", round, err)
			}
			note(acked, line)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(out) // acknowledged before the kill
		for line := range strings.Lines(string(rest)) {
			note(acked, line)
		}
		cmd.Wait()
		checkAcked(t, cfg, acked)
	}
	total := 0
	for _, ids := range acked {
		total += len(ids)
	}
	t.Logf("%d commits acknowledged over %d kills", total, kills)
}

func note(acked map[string][]string, line string) {
	thread, id, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	if ok && strings.HasSuffix(line, "\n") {
		acked[thread] = append(acked[thread], id)
	}
}

// checkAcked looks for every acknowledged checkpoint and follows each thread's chain to its start.
func checkAcked(t *testing.T, cfg Config, acked map[string][]string) {
	t.Helper()
	s := openWith(t, cfg)
	defer s.Close()
	checkChains(t, s, acked)
}

func checkChains(t *testing.T, s *Store, acked map[string][]string) {
	t.Helper()
	for thread, ids := range acked {
		// A server may still commit what it was asked for before the kill: what comes behind this head is left out.
		head, err := s.For(ann()).Checkpoint(t.Context(), schema, thread, "")
		if err != nil {
			t.Fatal(err)
		}
		have := map[string]bool{}
		before, want := "", ""
		for {
			cs, err := s.For(ann()).Checkpoints(t.Context(), thread, before, 1000)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cs {
				if c.ID > head.ID {
					continue
				}
				if have[c.ID] = true; want != "" && c.ID != want {
					t.Fatalf("thread %s: %s is missing from the chain", thread, want)
				}
				before, want = c.ID, c.ParentID
			}
			if len(cs) < 1000 {
				break
			}
		}
		if want != "" {
			t.Fatalf("thread %s: the chain ends before %s", thread, want)
		}
		for _, id := range ids {
			if !have[id] {
				t.Fatalf("thread %s: acknowledged checkpoint %s is lost", thread, id)
			}
		}
		if n := len(chats.Get(head.State)); n != len(have) || n != head.Step || turns.Get(head.State) != n {
			t.Fatalf("thread %s: %d messages, %d turns, step %d, %d checkpoints", thread, n, turns.Get(head.State),
				head.Step, len(have))
		}
	}
}

// TestWhatCannotBeLocked is told: a folder that is not there, and a lock file that the process's id cannot be written
// to.
func TestWhatCannotBeLocked(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	if _, err := lockDir(missing); !errors.Is(err, fs.ErrNotExist) ||
		!strings.HasPrefix(err.Error(), "lock "+missing+": ") {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), LockName)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := writePID(f); err == nil {
		t.Error("it was written to a file that is open for reading")
	}
}

// TestLockOfAnOwnerThatIsGone: what a killed process was starting has its locks until it runs a program of its own.
func TestLockOfAnOwnerThatIsGone(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	held, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, LockName)
	must(t, os.WriteFile(path, fmt.Appendln(nil, gone.Process.Pid), 0o600))
	time.AfterFunc(100*time.Millisecond, func() { _ = held() })
	unlock, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	begun := time.Now() // this process is there: nobody waits for it
	if _, err := lockDir(dir); !errors.Is(err, store.ErrLocked) || time.Since(begun) > lastBreath {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}

// TestLock: one owner at a time, named in the error; when it dies, however it does, the folder is free.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	cmd, out := startChild(t, Config{Dir: dir})
	wantOpen(t, Config{Dir: dir}, store.ErrLocked, dir, fmt.Sprintf("process %d", cmd.Process.Pid), "stop it")
	var drained sync.WaitGroup
	drained.Go(func() { io.Copy(io.Discard, out) })
	reader, err := Open(t.Context(), Config{Features: feature.All(), Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.ListRuns(t.Context(), store.RunFilter{}); err != nil {
		t.Error(err)
	}
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
	cmd.Process.Kill()
	drained.Wait()
	kill(cmd)

	s := open(t, dir)
	defer s.Close()
	wantOpen(t, Config{Dir: dir}, store.ErrLocked, fmt.Sprintf("process %d", os.Getpid()))
}

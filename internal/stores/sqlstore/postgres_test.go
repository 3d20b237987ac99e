package sqlstore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
)

// dial opens the store in a database of its own.
func dial(t *testing.T) *Store {
	t.Helper()
	s := openWith(t, Config{URL: pg.Database(t)})
	t.Cleanup(func() { s.Close() })
	return s
}

// admin runs a statement in a database, without the store.
func admin(t *testing.T, url, statement string) {
	t.Helper()
	d, err := newServer(Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	db := d.open(1, false)
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// ownServer is a server that the test may kill and stop.
func ownServer(t *testing.T) *pgtest.Server {
	t.Helper()
	server, err := pgtest.Start(t.Context(), pgtest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop() })
	return server
}

// stubborn commits until it is told to stop. After an error it looks at what is there, claims its run again and goes
// on.
type stubborn struct {
	t             *testing.T
	s             *Store
	thread        string
	acked         []string
	unknown, lost int
}

func (b *stubborn) run(stop <-chan struct{}, done *atomic.Int64) {
	for {
		fence, c, err := b.claim()
		for n := c.Step; err == nil; n++ {
			select {
			case <-stop:
				return
			default:
			}
			u := chats.Append(chat{ID: fmt.Sprint(n), Content: "hello"}).With(turns.Put(1))
			st, _, _ := c.State.Apply(u)
			var id string
			id, err = b.s.Commit(b.t.Context(), fence, store.Step{Next: "model", Now: time.Now(), State: st,
				Updates: []store.NodeUpdate{{Node: "model", Update: u}}})
			if err == nil {
				c.State = st
				b.acked = append(b.acked, id)
				done.Add(1)
			}
		}
		if errors.Is(err, store.ErrUnknown) {
			b.unknown++
		} else {
			b.lost++
		}
		if b.t.Context().Err() != nil || errors.Is(err, store.ErrFenced) || errors.Is(err, store.ErrCorrupt) {
			b.t.Error(err)
			return
		}
	}
}

func (b *stubborn) claim() (store.Fence, store.Checkpoint, error) {
	r, err := b.s.Run(b.t.Context(), "run-"+b.thread)
	if err != nil {
		return store.Fence{}, store.Checkpoint{}, err
	}
	fence, err := b.s.ClaimRun(b.t.Context(), r.ID, "me", r.Attempt, time.Now())
	if err != nil {
		return fence, store.Checkpoint{}, err
	}
	c, err := b.s.For(ann()).Checkpoint(b.t.Context(), schema, b.thread, "")
	return fence, c, err
}

// TestServerKilled: the server is killed while it commits. What was acknowledged is there, and the store works on
// without being opened again.
func TestServerKilled(t *testing.T) {
	server := ownServer(t)
	s := openWith(t, Config{URL: server.URL("postgres")})
	defer s.Close()
	var all []*stubborn
	for i := range 8 {
		b := &stubborn{t: t, s: s, thread: fmt.Sprint(i)}
		if _, err := s.For(ann()).Admit(t.Context(), admission("run-"+b.thread, b.thread)); err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var done atomic.Int64
	for _, b := range all {
		wg.Go(func() { b.run(stop, &done) })
	}
	progress := func() {
		for want, end := done.Load()+40,
			time.Now().Add(30*time.Second); done.Load() < want; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("nothing is committed any more")
			}
		}
	}
	const kills = 5
	for range kills {
		progress()
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	progress()
	close(stop)
	wg.Wait()
	acked, total, unknown, lost := map[string][]string{}, 0, 0, 0
	for _, b := range all {
		acked[b.thread] = b.acked
		total, unknown, lost = total+len(b.acked), unknown+b.unknown, lost+b.lost
	}
	checkChains(t, s, acked)
	if unknown+lost == 0 {
		t.Error("no commit noticed the kills")
	}
	t.Logf("%d commits acknowledged over %d kills of the server; %d had an unknown outcome, %d surely left nothing",
		total, kills, unknown, lost)
}

// TestServerHangs: a server that does not answer is told of in time, and used again when it does.
func TestServerHangs(t *testing.T) {
	server := ownServer(t)
	openWith(t, Config{URL: server.URL("postgres")}).Close() // makes the tables, which may take longer
	s := openWith(t, Config{URL: server.URL("postgres"), Timeout: 2 * time.Second})
	defer s.Close()
	s.tuning.patience, s.writer.tuning.patience = 0, 0
	tk := newTalk(t, s, 1)
	tk.begin("hello")
	if err := server.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"read":  func() error { _, err := s.Thread(t.Context(), tk.thread); return err },
		"write": func() error { return s.For(ann()).CreateThread(t.Context(), store.Thread{ID: "x"}) },
		"lease": func() error { _, err := s.Renew(t.Context(), "me"); return err },
	} {
		begun := time.Now()
		err := call()
		if err == nil || !strings.Contains(err.Error(), "did not answer in time") ||
			errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(begun); took > 15*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	if err := server.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	s.tuning.patience, s.writer.tuning.patience = patience, patience
	tk.human("on we go")
	if _, err := s.Renew(t.Context(), "me"); err != nil {
		t.Error(err)
	}
}

// TestServerGone: who has little patience hears at once that the server is gone, and nothing of his was written; others
// wait for it.
func TestServerGone(t *testing.T) {
	server := ownServer(t)
	s := openWith(t, Config{URL: server.URL("postgres")})
	defer s.Close()
	s.tuning.patience, s.writer.tuning.patience = time.Hour, time.Hour
	must(t, s.For(ann()).CreateThread(t.Context(), store.Thread{ID: "before"}), server.Kill())
	patient := make(chan error, 1)
	go func() { patient <- s.For(ann()).CreateThread(t.Context(), store.Thread{ID: "patient"}) }()
	ctx := store.WithPatience(t.Context(), 50*time.Millisecond)
	for what, err := range map[string]error{
		"admit": second(s.For(ann()).Admit(ctx, admission("run", "thread"))),
		"write": s.For(ann()).CreateThread(ctx, store.Thread{ID: "hasty"}), "read": second(s.Thread(ctx, "before")),
	} {
		if !errors.Is(err, store.ErrUnreachable) || errors.Is(err, store.ErrUnknown) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, server.Restart(t.Context()), <-patient)
	for _, id := range []string{"thread", "hasty"} {
		if _, err := s.Thread(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// terminate ends the session that runs the transaction, as an administrator or a failing network does.
func terminate(t *testing.T, s *Store, x *tx) {
	t.Helper()
	var pid int
	if err := x.scan("SELECT pg_backend_pid()", nil, &pid); err != nil {
		t.Fatal(err)
	}
	if _, err := s.leases.ExecContext(t.Context(), "SELECT pg_terminate_backend($1, 5000)", pid); err != nil {
		t.Fatal(err)
	}
}

// TestLostConnection: a job whose connection is lost is not run again. At its COMMIT the outcome is unknown.
func TestLostConnection(t *testing.T) {
	s := dial(t)
	for name, before := range map[string]bool{"at the commit": false, "before it": true} {
		runs := 0
		err := s.write(t.Context(), 0, func(x *tx) error {
			runs++
			if err := x.exec(insertThread, threadValues(store.Thread{ID: "t"})...); err != nil {
				return err
			}
			terminate(t, s, x)
			if before {
				return x.exec("UPDATE threads SET title = 'x'")
			}
			return nil
		})
		if err == nil || runs != 1 || errors.Is(err, store.ErrUnknown) == before {
			t.Errorf("%s: %d runs, %v", name, runs, err)
		}
		if _, err := s.Thread(t.Context(), "t"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: the thread: %v", name, err)
		}
	}
	if err := s.For(ann()).CreateThread(t.Context(), store.Thread{ID: "t"}); err != nil {
		t.Error(err)
	}
}

// TestLostWhileIdle: connections that were lost while nobody used them are replaced unnoticed.
func TestLostWhileIdle(t *testing.T) {
	s := dial(t)
	tk := newTalk(t, s, 1)
	for range 3 {
		admin(t, pg.Server(t).URL("postgres"),
			"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '"+
				s.dialect.(*server).config.Database+"'")
		tk.turn(300)
		if _, err := s.Renew(t.Context(), "me"); err != nil {
			t.Error(err)
		}
	}
}

// TestDeadlock: transactions that block each other are run again until all are through.
func TestDeadlock(t *testing.T) {
	url := pg.Database(t)
	for _, others := range []int{0, 3} { // alone, and with more jobs in the transaction
		stores := []*Store{openWith(t, Config{URL: url}), openWith(t, Config{URL: url})}
		a, b := fmt.Sprint("a", others), fmt.Sprint("b", others)
		for _, id := range []string{a, b} {
			if err := stores[0].For(ann()).CreateThread(t.Context(), store.Thread{ID: id}); err != nil {
				t.Fatal(err)
			}
		}
		var runs, met atomic.Int64
		var wg sync.WaitGroup
		for i, order := range [][2]string{{a, b}, {b, a}} {
			s := stores[i]
			for n := range others {
				wg.Go(func() {
					if err := s.For(ann()).CreateThread(t.Context(),
						store.Thread{ID: fmt.Sprint("other", i, n)}); err != nil {
						t.Error(err)
					}
				})
			}
			first := true
			wg.Go(func() {
				if err := s.write(t.Context(), 0, func(x *tx) error {
					runs.Add(1)
					if err := x.exec("UPDATE threads SET title = title || 'x' WHERE id = $1", order[0]); err != nil {
						return err
					}
					if first {
						met.Add(1)
					}
					for first && met.Load() < 2 {
						time.Sleep(time.Millisecond)
					}
					first = false
					return x.exec("UPDATE threads SET title = title || 'x' WHERE id = $1", order[1])
				}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if runs.Load() < 3 {
			t.Errorf("%d runs: there was no deadlock", runs.Load())
		}
		th, err := stores[0].Thread(t.Context(), a)
		if err != nil || th.Title != "xx" {
			t.Errorf("title %q, %v", th.Title, err)
		}
		for _, s := range stores {
			s.Close()
		}
	}
}

// TestStoppedInTransaction: a process that stops in the middle of a transaction holds no lock for longer than a lease.
func TestStoppedInTransaction(t *testing.T) {
	url := pg.Database(t)
	a, b := openWith(t, Config{URL: url, Lease: testLease}), openWith(t, Config{URL: url, Lease: testLease})
	defer a.Close()
	defer b.Close()
	tk := newTalk(t, a, 1)
	tk.begin("hello")
	c := &commit{fence: tk.fence, step: tk.step("model", "tools", turns.Put(1))}
	var err error
	if c.body, err = encodeStep(c.fence, c.step); err != nil {
		t.Fatal(err)
	}
	claimed := make(chan error)
	err = a.write(t.Context(), 0, func(x *tx) error {
		if err := writeStep(x, c); err != nil {
			return err
		}
		go func() {
			_, err := b.ClaimRun(t.Context(), tk.fence.RunID, "other", 1, tk.now)
			claimed <- err
		}()
		return <-claimed
	})
	if err == nil || errors.Is(err, store.ErrConflict) {
		t.Errorf("the stopped commit: %v", err)
	}
	if c, err := b.For(ann()).Checkpoint(t.Context(), schema, tk.thread, ""); err != nil || c.ID != "" {
		t.Errorf("head %q, %v", c.ID, err)
	}
}

// TestOpenDoesNotPause in a transaction, which the server would end: a busy machine may take its time between any two
// questions.
func TestOpenDoesNotPause(t *testing.T) {
	d, err := newServer(Config{URL: pg.Copy(t, migrated), Lease: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	db := d.open(1, false)
	defer db.Close()
	f := newFlaky()
	f.late = 3 * d.lease
	way := f.through(db, 1)
	defer way.Close()
	w, err := newWriter(t.Context(), way, d, d.tuning(), newBacklog(nil, Config{}), newNewsroom(nil, time.Now))
	if err != nil {
		t.Fatal(err)
	}
	w.close()
}

// TestFailedStatementEndsJob: a job that minds no error is still none: the server has undone what it did.
func TestFailedStatementEndsJob(t *testing.T) {
	for name, s := range map[string]*Store{"sqlite": open(t, t.TempDir()), "postgres": dial(t)} {
		t.Run(name, func(t *testing.T) {
			defer s.Close()
			careless := func(x *tx) error {
				x.exec(insertThread, threadValues(store.Thread{ID: "careless"})...)
				x.exec(insertThread, threadValues(store.Thread{ID: "careless"})...)
				return nil
			}
			for range 2 { // alone, then among others
				errs := make([]error, 20)
				var wg sync.WaitGroup
				for i := range errs {
					wg.Go(func() { errs[i] = s.write(t.Context(), 0, careless) })
				}
				wg.Wait()
				for _, err := range errs {
					if !errors.Is(err, store.ErrConflict) {
						t.Errorf("error = %v", err)
					}
				}
			}
			if _, err := s.Thread(t.Context(), "careless"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("the thread: %v", err)
			}
		})
	}
}

// TestCommitsAreDurable: a server that acknowledges before it has written is told to write first.
func TestCommitsAreDurable(t *testing.T) {
	url := pg.Database(t)
	d, err := newServer(Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	admin(t, url, "ALTER DATABASE "+d.config.Database+" SET synchronous_commit = off")
	s := openWith(t, Config{URL: url})
	defer s.Close()
	for _, k := range s.writer.workers[:1] {
		var got string
		if err := k.conn.QueryRowContext(t.Context(), "SHOW synchronous_commit").Scan(&got); err != nil || got != "on" {
			t.Errorf("synchronous_commit = %q, %v", got, err)
		}
	}
}

// TestStoppedOwner: a process that is stopped for longer than its lease, and wakes up, writes nothing more.
func TestStoppedOwner(t *testing.T) {
	cfg := postgresAt(t, t.TempDir())
	cmd, out := startChild(t, cfg)
	acked := map[string][]string{}
	for n := 0; n < 100 || len(acked) < childThreads; n++ { // each of its runs is begun
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		note(acked, line)
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s := openWith(t, cfg)
	defer s.Close()
	var rs []store.Run
	for end := time.Now().Add(time.Minute); len(rs) < childThreads; time.Sleep(10 * time.Millisecond) {
		var err error
		if rs, err = s.Abandoned(t.Context(), "me", 100); err != nil || time.Now().After(end) {
			t.Fatalf("%d runs are abandoned, %v", len(rs), err)
		}
	}
	heads := map[string]string{}
	for _, r := range rs {
		if _, err := s.ClaimRun(t.Context(), r.ID, "me", r.Attempt, time.Now()); err != nil {
			t.Fatal(err)
		}
		th, err := s.Thread(t.Context(), r.ThreadID)
		if err != nil {
			t.Fatal(err)
		}
		heads[r.ThreadID] = th.Head
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	drain(t, out, acked) // it ends by itself, at its next commit
	cmd.Wait()
	checkChains(t, s, acked)
	for thread, head := range heads {
		if th, err := s.Thread(t.Context(), thread); err != nil || th.Head != head {
			t.Errorf("thread %s: head %q, was %q when its run was claimed, %v", thread, th.Head, head, err)
		}
	}
}

func drain(t *testing.T, out *bufio.Reader, acked map[string][]string) {
	t.Helper()
	rest, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(rest)) {
		note(acked, line)
	}
}

// TestPasswordOfTheEnvironmentIsHidden: it stands beside the address, not in it.
func TestPasswordOfTheEnvironmentIsHidden(t *testing.T) {
	t.Setenv("PGPASSWORD", "s3cr3t")
	d, err := newServer(Config{URL: "postgres://ann@host/db"})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.hide(errors.New("the password s3cr3t is wrong")).Error(); got != "the password xxxxx is wrong" {
		t.Errorf("got %q", got)
	}
}

// TestPasswordIsNotShown: whatever goes wrong, neither the error nor the log shows the password.
func TestPasswordIsNotShown(t *testing.T) {
	server := pg.Server(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	closed.Close()
	good := server.TCPURL("postgres")
	u, err := url.Parse(good)
	must(t, err)
	const secret = "s3cr3t/päss:word"
	const escaped = "s3cr3t%2Fp%C3%A4ss%3Aword"
	tests := []struct {
		name, url string
		parts     []string
	}{
		{"wrong password", strings.Replace(good, "pudu%20test%20pass%2Fword", escaped, 1),
			[]string{u.Host, `refuses user "pudu"`, "PGPASSWORD"}},
		{"wrong user", strings.Replace(good, "pudu:pudu%20test%20pass%2Fword", "eve:"+escaped, 1),
			[]string{`refuses user "eve"`}},
		{"no such database", server.TCPURL("nowhere"), []string{"nowhere", "createdb"}},
		{"nobody listens", "postgres://ann:" + escaped + "@" + nobody + "/db",
			[]string{nobody, "cannot be reached", "check that it runs"}},
		{"no such host", "postgres://ann:" + escaped + "@no-such-host.invalid/db",
			[]string{"no-such-host.invalid", "cannot be reached"}},
		{"no such socket", "postgres:///db?user=ann&password=" + escaped + "&host=/nonexistent",
			[]string{"/nonexistent", "cannot be reached"}},
		{"password in the query", "postgres://127.0.0.1:1/db?user=ann&password=" + escaped,
			[]string{"cannot be reached"}},
		{"bad port", "postgres://ann:" + escaped + "@host:port/db", []string{"postgres://USER:PASSWORD@HOST"}},
		{"slash in the password", "postgres://ann:" + secret + "@host/db", []string{"%2F"}},
		{"other database", "mysql://ann:" + escaped + "@host/db", []string{"postgres://USER:PASSWORD@HOST"}},
		{"bad option", "postgres://ann:" + escaped + "@host/db?sslmode=" + escaped, []string{"cannot be read"}},
		{"missing certificate", "postgres://ann:" + escaped + "@host/db?sslmode=verify-full&sslrootcert=/nonexistent/" +
			escaped, []string{"cannot be read"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			begun := time.Now()
			s, err := Open(t.Context(),
				Config{Features: feature.All(), URL: tt.url, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if err == nil {
				s.Close()
				t.Fatal("Open succeeded")
			}
			if took := time.Since(begun); took > 8*time.Second {
				t.Errorf("it took %v", took)
			}
			for _, p := range tt.parts {
				if !strings.Contains(err.Error(), p) {
					t.Errorf("%q does not say %q", err, p)
				}
			}
			for _, form := range []string{secret, escaped, "s3cr3t", pgtest.Password, "test%20pass"} {
				for place, text := range map[string]string{"error": err.Error(), "details": fmt.Sprintf("%+v", err),
					"log": log.String()} {
					if strings.Contains(text, form) {
						t.Errorf("the %s shows the password: %s", place, text)
					}
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %q", err)
			}
		})
	}
}

// TestUnreachableHost: a host that never answers is given up after the deadline.
func TestUnreachableHost(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	begun := time.Now()
	wantOpen(t, Config{URL: "postgres://ann@" + l.Addr().String() + "/db"}, nil, l.Addr().String(),
		"did not answer in time")
	if took := time.Since(begun); took > openTimeout+3*time.Second {
		t.Errorf("it took %v", took)
	}
}

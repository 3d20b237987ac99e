package pgtest

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
)

// childEnv makes this test binary a program that starts a server, says where it is, and waits for its end.
const childEnv = "PUDU_PGTEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child()
	}
	os.Exit(m.Run())
}

func child() {
	s, err := Start(context.Background(), Config{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(s.dir, s.process.Process.Pid)
	select {}
}

func query(t *testing.T, url, text string) (n int, err error) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.QueryRowContext(t.Context(), text).Scan(&n)
	return n, err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestServer(t *testing.T) {
	defer goleak.VerifyNone(t)
	s, err := Start(t.Context(), Config{TCP: true, Settings: []string{"max_connections = 33"}})
	must(t, err)
	dir := s.dir
	defer s.Stop()

	start := time.Now()
	url, err := s.CreateDatabase(t.Context(), "first one")
	must(t, err)
	t.Logf("a database takes %v", time.Since(start))
	for _, u := range []string{url, s.TCPURL("first one")} {
		if n, err := query(t, u, "SELECT setting::int FROM pg_settings WHERE name = 'max_connections'"); err != nil ||
			n != 33 {
			t.Errorf("%s: %d, %v", u, n, err)
		}
	}
	if _, err := query(t, strings.Replace(s.TCPURL("postgres"), "word", "wrong", 1), "SELECT 1"); err == nil {
		t.Error("TCP took a wrong password")
	}
	if n, err := query(t, url,
		"SELECT count(*) FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes') AND setting = 'on'"); err != nil || n != 3 {
		t.Errorf("%d of 3 guarantees are on, %v", n, err)
	}

	// What was committed survives a kill and an orderly restart, at the same address.
	_, err = query(t, url, "WITH x AS (SELECT 1) SELECT 1 FROM x")
	must(t, err)
	db, err := sql.Open("pgx", url)
	must(t, err)
	_, err = db.ExecContext(t.Context(), "CREATE TABLE kept AS SELECT 42 AS n")
	must(t, err)
	must(t, db.Close())
	pid := s.process.Process.Pid
	family := append(children(pid), pid)
	if len(family) < 4 {
		t.Errorf("the server has only processes %v", family)
	}
	must(t, s.Kill())
	for _, p := range family {
		if running(p) {
			t.Errorf("process %d outlived the kill", p)
		}
	}
	if _, err := query(t, url, "SELECT 1"); err == nil {
		t.Error("a killed server answers")
	}
	for range 2 {
		start = time.Now()
		must(t, s.Restart(t.Context()))
		t.Logf("restart takes %v", time.Since(start))
		if n, err := query(t, url, "SELECT n FROM kept"); err != nil || n != 42 {
			t.Errorf("%d, %v", n, err)
		}
	}
	must(t, s.Stop())
	must(t, s.Stop())
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}

// TestOwnerKilled: nothing is left of a server whose owner was killed.
// Servers that begin with the cluster that is kept are copies of one, also those that start at once.
func TestKeptCluster(t *testing.T) {
	dir, err := os.MkdirTemp("", "pudu-kept-")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	must(t, os.Chmod(dir, 0o1777)) // the server is another user's where we are root
	t.Setenv(clusterEnv, filepath.Join(dir, "cluster"))
	ids := make([]int, 3)
	start := func(i int) {
		s, err := Start(t.Context(), Config{})
		if err != nil {
			t.Error(err)
			return
		}
		defer s.Stop()
		if ids[i], err = query(t, s.URL("postgres"), "SELECT system_identifier FROM pg_control_system()"); err != nil {
			t.Error(err)
		}
	}
	var both sync.WaitGroup
	for i := range 2 {
		both.Go(func() { start(i) })
	}
	both.Wait()
	t.Setenv(clusterEnv, "")
	start(2)
	if ids[0] == 0 || ids[1] != ids[0] || ids[2] == ids[0] {
		t.Errorf("the clusters are %d", ids)
	}
}

func TestOwnerKilled(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	dir, number, _ := strings.Cut(strings.TrimSpace(line), " ")
	pid, err := strconv.Atoi(number)
	must(t, err)
	if !running(pid) {
		t.Fatalf("child said %q, but there is no such process", line)
	}
	cmd.Process.Kill()
	_ = cmd.Wait() // says that it was killed
	must(t, gone([]int{pid}, 20*time.Second))
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is still there", dir)
		}
	}
}

// TestHang: a stopped server answers again when it goes on.
func TestHang(t *testing.T) {
	s, err := Start(t.Context(), Config{})
	must(t, err)
	defer s.Stop()
	must(t, s.Signal(syscall.SIGSTOP))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := s.exec(ctx, "SELECT 1"); err == nil {
		t.Error("a stopped server answers")
	}
	must(t, s.Signal(syscall.SIGCONT))
	must(t, s.exec(t.Context(), "SELECT 1"))
}

func TestBadSettingIsTold(t *testing.T) {
	_, err := Start(t.Context(), Config{Settings: []string{"no_such_thing = 1"}})
	if err == nil || !strings.Contains(err.Error(), "no_such_thing") {
		t.Errorf("error = %v", err)
	}
}

func TestLazy(t *testing.T) {
	var l Lazy
	must(t, l.Stop())
	defer func() { must(t, l.Stop()) }()
	start := time.Now()
	a := l.Database(t)
	first := time.Since(start)
	start = time.Now()
	b := l.Database(t)
	t.Logf("the first database takes %v, the second %v", first, time.Since(start))
	if a == b {
		t.Errorf("both databases are %s", a)
	}
	for _, u := range []string{a, b} {
		if _, err := query(t, u, "SELECT 1"); err != nil {
			t.Error(err)
		}
	}
}

// TestCopies: each copy has what was prepared, once for all, and nothing of another. One that fails keeps none from
// being made later.
func TestCopies(t *testing.T) {
	var l Lazy
	defer func() { must(t, l.Stop()) }()
	prepared := 0
	prepare := func(ctx context.Context, url string) error {
		prepared++
		_, err := query(t, url, "CREATE TABLE deer AS SELECT 7 AS n")
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return err
	}
	a, b := l.Copy(t, prepare), l.Copy(t, prepare)
	if _, err := query(t, a, "DELETE FROM deer"); !errors.Is(err, sql.ErrNoRows) {
		t.Error(err)
	}
	if n, err := query(t, b, "SELECT n FROM deer"); n != 7 || err != nil || prepared != 1 {
		t.Errorf("the second copy has %d, %v, and was prepared %d times", n, err, prepared)
	}
	busy, err := pgx.Connect(t.Context(), l.server.URL(l.prepared))
	must(t, err)
	if err := l.copyTo(t.Context(), "late"); err == nil {
		t.Error("what is in use was copied")
	}
	must(t, busy.Close(t.Context()))
	// the server may not have seen it go
	for err := errors.New("not tried"); err != nil; err = l.copyTo(t.Context(), "late") {
		must(t, t.Context().Err())
	}
	if n, err := query(t, l.server.URL("late"), "SELECT n FROM deer"); n != 7 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// TestKilledServersShareNothing: a segment of shared memory that stays is one of 4,096 that the system has.
func TestKilledServersShareNothing(t *testing.T) {
	s, err := Start(t.Context(), Config{})
	must(t, err)
	defer s.Stop()
	pid, err := os.ReadFile(s.data() + "/postmaster.pid")
	must(t, err)
	fields := strings.Fields(strings.Split(string(pid), "\n")[6])
	there := func() bool {
		list, err := os.ReadFile("/proc/sysvipc/shm")
		must(t, err)
		return regexp.MustCompile(`(?m)^ *-?\d+ +` + fields[1] + ` `).Match(list)
	}
	if !there() {
		t.Fatalf("%v is not listed", fields)
	}
	must(t, s.Kill())
	if there() {
		t.Errorf("%v is still there", fields)
	}
	must(t, s.Restart(t.Context()))
}

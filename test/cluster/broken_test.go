//go:build linux

package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/test/server"
)

const (
	// diskEnv makes TestTheDiskIsFull a process with mounts of its own; programsEnv is where it finds the server.
	diskEnv     = "PUDU_CLUSTER_DISK"
	programsEnv = "PUDU_CLUSTER_PROGRAMS"
)

// TestTheDiskIsFull: what cannot be written is not accepted, what was accepted comes to its end when there is room
// again, and those who follow miss nothing.
func TestTheDiskIsFull(t *testing.T) {
	if os.Getenv(diskEnv) != "" {
		onSmallDisk(t)
		return
	}
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), diskEnv+"=1", programsEnv+"="+programs)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	t.Logf("%s", out)
}

func onSmallDisk(t *testing.T) {
	p, m := alone(t)
	server.Must(t, os.Mkdir(p.dir, 0o700))
	server.Must(t, syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	server.Must(t, syscall.Mount("small", p.dir, "tmpfs", 0, "size=24m"))
	t.Cleanup(func() { _ = syscall.Unmount(p.dir, syscall.MNT_DETACH) }) // it goes with the process
	n := p.start(t, options{})
	var viewers []*reader
	for i := range 5 {
		v := follow(t, at(n), n.submit(fmt.Sprint("full-", i), plan{Plan: "full", Tools: i, Hold: "full"}, nil))
		v.More(5)
		viewers = append(viewers, v)
	}
	filler := filepath.Join(p.dir, "filler")
	server.Must(t, fill(filler))
	m.open("full")
	server.Eventually(t, "the server has tried in vain to go on with the runs", func() bool {
		return strings.Count(n.Out.String(), "take over unfinished run") >= len(viewers)
	})
	status, raw := request(t, http.MethodPost, n.URL+"/threads/refused/runs",
		order(plan{Plan: "refused", Padding: string(make([]byte, 100<<10))}, nil))
	t.Logf("a run that comes when the disk is full: HTTP %d %s", status, raw)
	if status != http.StatusServiceUnavailable || !strings.Contains(string(raw), "disk is full") ||
		strings.Contains(string(raw), p.dir) {
		t.Errorf("HTTP %d %.200s", status, raw)
	}
	if status, raw := request(t, http.MethodGet, n.URL+"/ready", ""); status != http.StatusServiceUnavailable ||
		!strings.Contains(string(raw), "disk is full") {
		t.Errorf("ready: HTTP %d %.200s", status, raw)
	}
	for _, path := range []string{"/ok", "/threads/full-1", "/threads/full-1/state", viewers[0].run.path()} {
		if status, raw := request(t, http.MethodGet, n.URL+path, ""); status != http.StatusOK {
			t.Errorf("reading %s from a full disk: HTTP %d %s", path, status, raw)
		}
	}
	for _, v := range viewers {
		if seen := v.Seen(); seen[len(seen)-1].End() {
			t.Errorf("run %s has ended", v.run.ID)
		}
	}
	server.Must(t, os.Remove(filler))
	mended := time.Now()
	for _, v := range viewers {
		v.End()
		v.check(n)
		if now := n.look(v.run); now.Status != "success" {
			t.Errorf("%+v", now)
		}
	}
	t.Logf("the last of the runs ended %v after there was room", time.Since(mended).Round(time.Millisecond))
	if m.asked("refused") > 0 {
		t.Error("the run that was refused was executed")
	}
	n.succeeds(n.submit("new", plan{Plan: "new", Words: 3}, nil))
}

// TestTheDatabaseIsDeleted: a server whose database goes away says so at once, and answers nothing as if it were well.
// What was committed is there after a restart, runs that were under way go on, and a folder without its database is not
// begun anew.
func TestTheDatabaseIsDeleted(t *testing.T) {
	t.Parallel()
	p, m := alone(t)
	n := p.start(t, options{})
	before := n.submit("before", plan{Plan: "before", Bash: "echo a report > /mnt/user-data/workspace/report"}, nil)
	n.succeeds(before)
	under := n.submit("under-way", plan{Plan: "under", Tools: 2, Hold: "under"}, nil)
	server.Eventually(t, "the run under way has asked the model", func() bool { return m.asked("under") > 0 })
	database := filepath.Join(p.dir, sqlstore.FileName)
	server.Must(t, os.Remove(database))
	refused := func(method, path, body string) {
		t.Helper()
		status, raw := request(t, method, n.URL+path, body)
		if status != http.StatusServiceUnavailable || !strings.Contains(string(raw), "deleted or replaced") ||
			strings.Contains(string(raw), p.dir) {
			t.Errorf("%s %s: HTTP %d %.300s", method, path, status, raw)
		}
	}
	refused(http.MethodPost, "/threads/after/runs", order(plan{Plan: "after"}, nil))
	refused(http.MethodPost, "/threads/after/runs/wait", order(plan{Plan: "after"}, nil))
	refused(http.MethodPost, "/threads/after/runs/stream", order(plan{Plan: "after"}, nil))
	refused(http.MethodGet, "/threads/before", "")
	refused(http.MethodGet, "/ready", "")
	m.open("under")
	server.Eventually(t, "all that was in it is saved",
		func() bool { return strings.Contains(n.Out.String(), "start Pudu again") })
	refused(http.MethodGet, under.path()+"/join", "")
	n.Signal(syscall.SIGTERM)
	<-n.Ended()

	again := p.start(t, options{})
	if now := again.look(before); now.Status != "success" {
		t.Errorf("%+v", now)
	}
	again.succeeds(under)
	if m.asked("after") > 0 {
		t.Error("a run that was refused was executed")
	}
	again.Term()

	server.Must(t, os.Remove(database))
	if out := p.launch(t, options{}).Refused(); !strings.Contains(out, "has the files of 1 thread,") ||
		!strings.Contains(out, "pudu restore") || !strings.Contains(out, "--adopt") {
		t.Errorf("the start without a database: %s", out)
	}
	if _, err := os.Lstat(database); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a start that was refused has made a database: %v", err)
	}
	adopted := p.start(t, options{args: []string{"--adopt"}})
	adopted.succeeds(adopted.submit("new", plan{Plan: "new", Words: 2}, nil))
}

// fill writes zeros until the disk is full.
func fill(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err = io.Copy(f, endless{}); !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk is not full: %w", err)
	}
	return nil
}

// endless reads as zeros.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// lock holds the database of a data folder so that no other process can write, until it is let go.
func lock(t *testing.T, p place) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(p.dir, sqlstore.FileName))
	server.Must(t, err)
	conn, err := db.Conn(context.Background())
	server.Must(t, err)
	_, err = conn.ExecContext(context.Background(), "BEGIN EXCLUSIVE")
	server.Must(t, err)
	return func() {
		_, err := conn.ExecContext(context.Background(), "ROLLBACK")
		server.Must(t, errors.Join(err, conn.Close(), db.Close()))
	}
}

// TestTheDatabaseIsLocked: a process that holds the database for a moment delays, one that holds it for long makes new
// work be refused. Nothing that was accepted is lost in either case.
func TestTheDatabaseIsLocked(t *testing.T) {
	t.Parallel()
	p, m := alone(t)
	n := p.start(t, options{})
	v := follow(t, at(n), n.submit("locked", plan{Plan: "locked", Tools: 1, Hold: "locked"}, nil))
	v.More(5)
	type reply struct {
		status int
		body   string
	}
	post := func(thread string) <-chan reply {
		got := make(chan reply, 1)
		go func() {
			status, raw := request(t, http.MethodPost, n.URL+"/threads/"+thread+"/runs",
				order(plan{Plan: thread, Words: 2}, nil))
			got <- reply{status, string(raw)}
		}()
		return got
	}
	readable := func() {
		for range 20 {
			n.api(http.MethodGet, "/threads/locked/state", "", nil)
		}
	}

	release := lock(t, p)
	short := post("short")
	v.More(20) // what is live goes on
	readable()
	select {
	case got := <-short:
		t.Errorf("a run was answered while the database was locked: %+v", got)
	default:
	}
	release()
	if got := <-short; got.status != http.StatusOK {
		t.Errorf("%+v", got)
	}

	release = lock(t, p)
	start := time.Now()
	long := post("long")
	m.open("locked") // its end cannot be written
	got := <-long
	t.Logf("after %v: %+v", time.Since(start).Round(time.Millisecond), got)
	if got.status < 500 {
		t.Errorf("%+v", got)
	}
	readable()
	release()
	v.End()
	v.check(n)
	if now := n.look(v.run); now.Status != "success" {
		t.Errorf("%+v", now)
	}
	if m.asked("long") > 0 {
		t.Error("the run that was refused was executed")
	}
	n.succeeds(n.submit("after", plan{Plan: "after", Words: 3}, nil))
}

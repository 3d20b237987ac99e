package runs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
)

// What a process of the test is told: the data folder that it works in, and at which side of which write it dies; 0 is
// never.
const (
	grantDir = "PUDU_TEST_GRANT_DIR"
	grantDie = "PUDU_TEST_GRANT_DIE"
	// grantWork is set for the work of TestAKillLosesNoSteer.
	grantWork = "PUDU_TEST_GRANT_STEER"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(grantDir); dir != "" {
		n, err := strconv.Atoi(os.Getenv(grantDie))
		if err == nil {
			work := grantOnce
			if os.Getenv(grantWork) != "" {
				work = steerOnce
			}
			err = work(context.Background(), dir, n)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// mortal is a store whose process kills itself before or after its n-th write.
type mortal struct {
	*sqlstore.Store

	left *atomic.Int64
}

// beside is done at both sides of a write.
func (m mortal) beside(write func() error) error {
	m.step()
	err := write()
	m.step()
	return err
}

// mortalAt is a store whose process dies at one side of a write; 0 is never.
func mortalAt(st *sqlstore.Store, die int) mortal {
	m := mortal{st, new(atomic.Int64)}
	m.left.Store(int64(die))
	return m
}

func (m mortal) step() {
	if m.left.Add(-1) == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // until the signal is here
	}
}

func (m mortal) For(u access.User) store.UserData { return mortalData{m.Store.For(u), m} }
func (m mortal) System() store.System             { return mortalSystem{m.Store.System(), m} }

type mortalData struct {
	store.UserData

	m mortal
}

func (d mortalData) Admit(ctx context.Context, a store.Admission) (r store.Run, err error) {
	err = d.m.beside(func() (err error) { r, err = d.UserData.Admit(ctx, a); return err })
	return r, err
}

type mortalSystem struct {
	store.System

	m mortal
}

func (s mortalSystem) ClaimRun(ctx context.Context, id, owner string, attempt int,
	now time.Time) (f store.Fence, err error) {
	err = s.m.beside(func() (err error) { f, err = s.System.ClaimRun(ctx, id, owner, attempt, now); return err })
	return f, err
}

func (s mortalSystem) Commit(ctx context.Context, f store.Fence, st store.Step) (cp string, err error) {
	err = s.m.beside(func() (err error) { cp, err = s.System.Commit(ctx, f, st); return err })
	return cp, err
}

func (s mortalSystem) CommitAll(ctx context.Context, f store.Fence, st []store.Step) (cps []string, err error) {
	err = s.m.beside(func() (err error) { cps, err = s.System.CommitAll(ctx, f, st); return err })
	return cps, err
}

// grantOnce is the process: it makes a run that asks, answers for the thread, and carries both out, however far they
// are.
func grantOnce(ctx context.Context, dir string, die int) error {
	st, err := sqlstore.Open(ctx, sqlstore.Config{Dir: dir, Features: feature.All()})
	if err != nil {
		return err
	}
	defer st.Close()
	g := &granting{site: &site{store: st}, grants: approval.NewGrants(st)}
	m := g.process(mortalAt(st, die), fmt.Sprint("process ", os.Getpid()))
	left, err := m.Unfinished(ctx)
	for _, run := range left {
		if err == nil {
			_, err = m.Resume(ctx, run, noShow)
		}
	}
	list, errList := st.For(user()).ListRuns(ctx, store.RunFilter{ThreadID: "a"})
	if err = errors.Join(err, errList); err != nil {
		return err
	}
	todo := []runs.Request{lines("a", "ls", "ls"), answer("a", `{"type":"approve","scope":"thread"}`)}
	for _, req := range todo[min(len(list), len(todo)):] {
		if _, err := m.For(user()).Run(ctx, req, noShow); err != nil {
			return err
		}
	}
	return nil
}

// TestAKillLeavesAnAnswerWithItsGrantOrNeither kills the process at both sides of each write. Then the grant is
// revoked, if it is there, and the next process goes on: it does not come back.
func TestAKillLeavesAnAnswerWithItsGrantOrNeither(t *testing.T) {
	granted := map[bool]int{}
	for n := 1; ; n++ {
		dir := t.TempDir()
		died := runGranter(t, dir, n)
		g := newGrantingAt(t, dir)
		list, err := g.store.For(user()).ListRuns(t.Context(), store.RunFilter{ThreadID: "a"})
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		have := g.list()
		if answered := len(list) == 2; answered != (len(have) == 1) {
			t.Errorf("killed at %d: %d runs, grants %q", n, len(list), have)
		}
		if !died {
			g.close()
			break
		}
		g.revokeAll()
		g.close()
		granted[len(have) == 1]++
		if runGranter(t, dir, 0) {
			t.Fatal("the second process was killed")
		}
		checkGranted(t, dir, n, len(have) == 1)
	}
	if granted[true] < 4 || granted[false] < 4 {
		t.Errorf("kills with the grant and without: %v", granted)
	}
}

// checkGranted looks at what is there at last: a grant that was revoked is revoked, and the second call was asked
// about.
func checkGranted(t *testing.T, dir string, n int, revoked bool) {
	t.Helper()
	g := newGrantingAt(t, dir)
	defer g.close()
	list, err := g.store.For(user()).ListRuns(t.Context(), store.RunFilter{ThreadID: "a"})
	if err != nil || len(list) != 2 {
		t.Fatalf("killed at %d: %d runs, %v", n, len(list), err)
	}
	grants, err := g.mine().List(t.Context(), true, 10, 0)
	if err != nil || len(grants) != 1 || grants[0].RevokedAt.IsZero() == revoked {
		t.Errorf("killed at %d: grants %+v, %v", n, grants, err)
	}
	switch status := list[0].Status; {
	case !revoked && status != event.StatusSuccess:
		t.Errorf("killed at %d: %s %s", n, status, list[0].Error)
	case revoked && status != event.StatusInterrupted && grants[0].Uses == 0 && status != event.StatusSuccess:
		t.Errorf("killed at %d: %s %s", n, status, list[0].Error)
	case revoked && status == event.StatusSuccess && grants[0].Uses == 0:
		t.Errorf("killed at %d: a call was made by a grant that was revoked before", n)
	}
}

// runGranter runs the process to its end, and reports whether it was killed.
func runGranter(t *testing.T, dir string, die int, more ...string) (died bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(append(os.Environ(), grantDir+"="+dir, grantDie+"="+strconv.Itoa(die)), more...)
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%v: %s", err, out)
	}
	return err != nil
}

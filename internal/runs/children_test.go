package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// family is a ward whose model also hands work to runs below:
//
//	"split a + b"  it has two runs do a and b, and says what came of them
//	"leave a"      it has a run do a and answers at once; "leave nothing" has none do anything, until the ward is told to let go
type family struct {
	*ward

	busy, most atomic.Int32 // model calls at once
}

func newFamily(t *testing.T) *family { return &family{ward: newWard(t)} }

func (f *family) model() fakeModel {
	other := f.ward.model()
	return func(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
		n := f.busy.Add(1)
		defer f.busy.Add(-1)
		f.most.Store(max(f.most.Load(), n))
		time.Sleep(2 * time.Millisecond)
		last := req.Messages[len(req.Messages)-1]
		if last.Role == message.Tool {
			var said []string
			for _, m := range req.Messages {
				if m.Role == message.Tool {
					said = append(said, m.Text())
				}
			}
			took := &message.Usage{InputTokens: 2, OutputTokens: 1, TotalTokens: 3}
			return chunks(message.Chunk{Text: strings.Join(said, ", "), FinishReason: "stop", Usage: took})
		}
		name, what, _ := strings.Cut(last.Text(), " ")
		if name != "split" && name != "leave" {
			return other(ctx, req)
		}
		c := message.Chunk{FinishReason: "tool_calls"}
		for i, part := range strings.Split(what, " + ") {
			args, _ := json.Marshal(map[string]string{"prompt": part})
			c.ToolCalls = append(c.ToolCalls, message.ToolCallChunk{Index: i, ID: fmt.Sprint("call-", i), Name: name,
				Args: string(args)})
		}
		return chunks(c)
	}
}

// tools are those of a run, for the test alone.
func (f *family) tools(below *runs.Children) []tool.Tool {
	type asked struct {
		Prompt string `json:"prompt"`
	}
	start := func(ctx context.Context, c *tool.Call, in asked) (*runs.Child, error) {
		return below.Start(ctx, c.ID, runs.Request{Input: []message.Message{message.New(message.Human, in.Prompt)}})
	}
	spec := tool.Spec{Name: "split", Description: "Has a run do it.", Effect: tool.Idempotent}
	split := tool.MustNew(spec, func(ctx context.Context, c *tool.Call, in asked) (*tool.Result, error) {
		child, err := start(ctx, c, in)
		if err != nil {
			return nil, err
		}
		out, err := child.Wait(ctx, nil)
		if err != nil {
			return nil, err
		}
		msgs := agent.Messages.Get(out.State)
		return tool.Text(out.Run.Status + " " + msgs[len(msgs)-1].Text()), nil
	})
	spec.Name = "leave"
	leave := tool.MustNew(spec, func(ctx context.Context, c *tool.Call, in asked) (*tool.Result, error) {
		if in.Prompt == "nothing" {
			select {
			case <-f.free:
				return tool.Text("done"), nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		_, err := start(ctx, c, in)
		<-f.begun
		return tool.Text("left"), err
	})
	return []tool.Tool{split, leave}
}

// process makes a process of the family, which serves until the test ends or it is killed.
func (f *family) process(st store.Store, owner string, parallel int) *runs.Manager {
	f.t.Helper()
	return f.processWith(st, owner, parallel, func(*runs.Config) {})
}

func (f *family) processWith(st store.Store, owner string, parallel int, change func(*runs.Config)) *runs.Manager {
	f.t.Helper()
	w := *f.ward
	w.store = st
	return w.serving(owner, func(c *runs.Config) {
		change(c)
		c.Parallel = parallel
		c.Build = func(_ context.Context, job runs.Job) (runs.Built, error) {
			a, err := agent.New(agent.Config{Model: f.model(), Tools: f.tools(job.Children)})
			return runs.Built{Agent: a, Close: func() error { return nil }}, err
		}
	})
}

// below lists the runs below one, by what they were asked.
func (f *family) below(st store.Store, run store.Run) map[string]store.Run {
	f.t.Helper()
	list, err := st.For(user()).ListRuns(f.t.Context(), store.RunFilter{Parent: run.ID})
	if err != nil {
		f.t.Fatal(err)
	}
	out := make(map[string]store.Run)
	for _, r := range list {
		req, err := runs.RequestOf(r)
		if err != nil {
			f.t.Fatal(err)
		}
		out[req.Input[0].Text()] = r
	}
	return out
}

// says is the last message of a run's thread.
func (f *family) says(st store.Store, run store.Run) string {
	f.t.Helper()
	out, err := runs.Ended(f.t.Context(), st.For(user()), run)
	if err != nil {
		f.t.Fatal(err)
	}
	msgs := agent.Messages.Get(out.State)
	return msgs[len(msgs)-1].Text()
}

// TestChildrenOnOnePlace: a run that waits for others holds no place, and they hold one in its stead.
func TestChildrenOnOnePlace(t *testing.T) {
	f := newFamily(t)
	m := f.process(f.store, "a", 1)
	order := ordered("split split split x + b")
	order.Role, order.Scopes, order.Via = access.Viewer, []string{"runs:write"}, "token ci"
	first := f.submit(m, order)
	second := ordered("split c + d")
	second.ThreadID = "second"
	other := f.submit(m, second)
	first, other = f.wants(first, event.StatusSuccess), f.wants(other, event.StatusSuccess)
	if got, want := f.says(f.store, first), "success success success done: x, success done: b"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := f.says(f.store, other), "success done: c, success done: d"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if n := f.most.Load(); n != 1 {
		t.Errorf("%d runs worked at once", n)
	}
	child := f.below(f.store, first)["split split x"]
	req, err := runs.RequestOf(child)
	if req.Role != order.Role || !slices.Equal(req.Scopes, order.Scopes) || req.Via != order.Via {
		t.Errorf("the child's %q %q %q is not its parent's", req.Role, req.Scopes, req.Via)
	}
	if err != nil || child.UserID != first.UserID || req.UserID != first.UserID || child.Depth != 1 ||
		len(req.Namespace) != 1 {
		t.Errorf("%+v %v", child, err)
	}
	grandchild := f.below(f.store, f.below(f.store, child)["split x"])["x"]
	if req, err = runs.RequestOf(grandchild); err != nil || grandchild.Root != first.ID || len(req.Namespace) != 3 {
		t.Errorf("%+v %v", grandchild, err)
	}
	threads, err := f.store.For(user()).SearchThreads(t.Context(), store.ThreadFilter{})
	if err != nil || len(threads) != 2 {
		t.Errorf("%d threads, %v", len(threads), err)
	}
}

// TestChildrenStopWithTheirRun: whatever stops or ends a run ends those below it first.
func TestChildrenStopWithTheirRun(t *testing.T) {
	for name, tt := range map[string]struct {
		asked, action     string
		status, belowEnds string
	}{
		"interrupt": {"split wait + split wait", store.StopInterrupt, event.StatusInterrupted, event.StatusInterrupted},
		"rollback":  {"split wait + split wait", store.StopRollback, event.StatusError, ""},
		"its end":   {"leave wait", "", event.StatusSuccess, event.StatusInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFamily(t)
			m := f.process(f.store, "a", 10)
			run := f.submit(m, ordered(tt.asked))
			if tt.action != "" {
				<-f.begun
				<-f.begun
				if _, err := m.For(user()).Cancel(t.Context(), run.ID, tt.action); err != nil {
					t.Fatal(err)
				}
			}
			run = f.wants(run, tt.status)
			below := f.below(f.store, run)
			if tt.belowEnds == "" && len(below) > 0 {
				t.Errorf("runs below are left: %v", below)
			}
			for what, r := range below {
				if r.Status != tt.belowEnds {
					t.Errorf("%s is %s", what, r.Status)
				}
				for _, deeper := range f.below(f.store, r) {
					if deeper.Status != tt.belowEnds {
						t.Errorf("below %s one is %s", what, deeper.Status)
					}
				}
			}
			if _, err := m.For(user()).Cancel(t.Context(), run.ID, store.StopInterrupt); err != nil {
				t.Error(err)
			}
			if err := f.store.For(user()).DeleteThread(t.Context(), "thread"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestChildStoppedAlone: its parent hears of it and goes on.
func TestChildStoppedAlone(t *testing.T) {
	f := newFamily(t)
	m := f.process(f.store, "a", 10)
	run := f.submit(m, ordered("split wait + b"))
	<-f.begun
	if _, err := m.For(user()).Cancel(t.Context(), f.below(f.store, run)["wait"].ID, store.StopInterrupt); err != nil {
		t.Fatal(err)
	}
	run = f.wants(run, event.StatusSuccess)
	if got := f.says(f.store, run); !strings.HasPrefix(got, "interrupted ") || !strings.HasSuffix(got, ", success "+
		"done: b") {
		t.Errorf("%q", got)
	}
}

// TestAChildThatNobodyWaitsForGoesOn with the next owner of its run too, which does not ask for it again.
func TestAChildThatNobodyWaitsForGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFamily(t)
		m := f.process(f.store, "a", 10)
		run := f.submit(m, ordered("leave wait + nothing"))
		time.Sleep(time.Second) // that it was left is known
		m.Stop()
		f.process(f.store, "b", 10)
		select {
		case <-f.begun:
		case <-time.After(time.Minute):
			t.Error("the run below does not go on")
		}
		close(f.free)
		f.wants(run, event.StatusSuccess)
		if child := f.below(f.store, run)["wait"]; child.Attempt != 2 {
			t.Errorf("the run below is %s in attempt %d", child.Status, child.Attempt)
		}
	})
}

// lapsesSlowly is a store that says once that a lease had run out, and takes its time when it is asked whose a run is
// now; it does not know.
type lapsesSlowly struct{ *lapses }

func (l lapsesSlowly) System() store.System { return l }

func (l lapsesSlowly) Run(context.Context, string) (store.Run, error) {
	time.Sleep(store.Beat / 10)
	return store.Run{}, errBroken
}

// TestARunThatIsLetGoOfIsNoAnswer: a process that lets go of trees writes nothing more of any of their runs, neither
// that one was stopped, because that above it stops, nor an error as what came of one. There are many trees, because it
// is chance in which of six orders it comes to the three runs of a tree.
func TestARunThatIsLetGoOfIsNoAnswer(t *testing.T) {
	const trees = 20
	synctest.Test(t, func(t *testing.T) {
		f := newFamily(t)
		l := &lapses{Store: f.store, system: f.store.System(), lapsed: make(chan struct{}, 1)}
		m := f.process(lapsesSlowly{l}, "a", 3*trees)
		release, err := m.KeepLease(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var list []store.Run
		for i := range trees {
			req := ordered("split split wait")
			req.ThreadID = fmt.Sprint("thread-", i)
			list = append(list, f.submit(m, req))
			<-f.begun
		}
		l.lapsed <- struct{}{}
		time.Sleep(2 * store.Beat)
		for m.Stats().Active > 0 {
			time.Sleep(time.Millisecond) // between two looks at a condition
		}
		m.Stop()
		release()
		f.process(f.store, "b", 3*trees)
		for range trees {
			select {
			case <-f.begun:
			case <-time.After(time.Minute):
				t.Fatal("not all of the runs at the bottom go on")
			}
		}
		close(f.free)
		for _, run := range list {
			run = f.wants(run, event.StatusSuccess)
			if got := f.says(f.store, run); got != "success success I begin and end" || run.Attempt != 2 {
				t.Errorf("%q in attempt %d", got, run.Attempt)
			}
		}
	})
}

// takenOver has one process begin a tree and another one go on with it, when the first is gone.
func takenOver(t *testing.T, f *family, first, second store.Store, gone func(*runs.Manager)) {
	m := f.process(first, "a", 10)
	run := f.submit(m, ordered("split split wait + b"))
	<-f.begun
	for deadline := time.Now().Add(10 * time.Second); f.below(first,
		run)["b"].Status != event.StatusSuccess; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("b does not end")
		}
	}
	before := f.below(first, run)
	gone(m)
	f.process(second, "b", 10)
	select {
	case <-f.begun: // the deepest one, again
	case <-time.After(20 * time.Second):
		run, err := second.For(user()).Run(t.Context(), run.ID)
		t.Fatalf("the deepest run does not go on; that at the top is %s in attempt %d, error %v", run.Status, run.Attempt,
			err)
	}
	close(f.free)
	f.store = second
	run = f.wants(run, event.StatusSuccess)
	if got, want := f.says(second, run), "success success I begin and end, success done: b"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	after := f.below(second, run)
	got := []int{len(after), run.Attempt, after["split wait"].Attempt, after["b"].Attempt, f.below(second,
		after["split wait"])["wait"].Attempt}
	if d := cmp.Diff([]int{2, 2, 2, 1, 2}, got); d != "" || after["split wait"].ID != before["split wait"].ID {
		t.Errorf("children and attempts (-want +got):\n%s", d)
	}
	told := make(map[string][]event.ID)
	evs, err := second.For(user()).Events(t.Context(), run.ID, event.ID{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range evs {
		if c, ok := ev.Data.(event.Child); ok {
			told[c.RunID] = append(told[c.RunID], c.At())
		}
	}
	for id, list := range told {
		if !slices.IsSortedFunc(list, event.ID.Compare) || len(slices.Compact(slices.Clone(list))) != len(list) {
			t.Errorf("of run %s was told: %v", id, list)
		}
	}
	if len(told) != 3 {
		t.Errorf("was told of %d runs", len(told))
	}
}

// TestChildrenGoOnAfterRestart: the next process goes on with the run and with those below it.
func TestChildrenGoOnAfterRestart(t *testing.T) {
	f := newFamily(t)
	takenOver(t, f, f.store, f.store, func(m *runs.Manager) { m.Stop() })
}

// TestChildrenGoOnElsewhere: where processes share a store, the one that takes over the run takes over those below it.
// The first loses its connections in the midst, as one that is killed does.
func TestChildrenGoOnElsewhere(t *testing.T) {
	var pg pgtest.Lazy
	t.Cleanup(func() {
		if err := pg.Stop(); err != nil {
			t.Error(err)
		}
	})
	url := pg.Database(t)
	open := func() store.Store {
		st, err := sqlstore.Open(t.Context(), sqlstore.Config{URL: url, Lease: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { st.Close() })
		return st
	}
	f := newFamily(t)
	first, second := open(), open()
	f.store = first
	if _, err := first.System().Renew(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	takenOver(t, f, first, second, func(*runs.Manager) {
		for id := range f.below(second, f.only(second)) {
			if left, err := second.System().Abandoned(t.Context(), "b", 10); err != nil || len(left) > 1 {
				t.Errorf("%s: %v, %v", id, left, err)
			}
		}
		if err := first.Close(); err != nil {
			t.Error(err)
		}
		if _, err := second.System().Renew(t.Context(), "b"); err != nil {
			t.Error(err)
		}
	})
}

// only is the run without a parent.
func (f *family) only(st store.Store) store.Run {
	f.t.Helper()
	list, err := st.For(user()).ListRuns(f.t.Context(), store.RunFilter{})
	if err != nil || len(list) != 1 {
		f.t.Fatal(list, err)
	}
	return list[0]
}

// TestChildrenThatStallEndWithTheirRun: a run that is given up ends all below it.
func TestChildrenThatStallEndWithTheirRun(t *testing.T) {
	f := newFamily(t)
	m := f.process(f.store, "a", 10)
	run := f.submit(m, ordered("split split wait"))
	<-f.begun
	m.Stop()
	for deadline := time.Now().Add(10 * time.Second); m.Active(run.ID); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the run does not stop")
		}
	}
	now, err := f.store.For(user()).Run(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.ward.process("b", nil).Fail(t.Context(), now, errors.New("enough")); err != nil {
		t.Fatal(err)
	}
	f.wants(run, event.StatusError)
	child := f.below(f.store, run)["split wait"]
	if deepest := f.below(f.store, child)["wait"]; child.Status != event.StatusInterrupted ||
		deepest.Status != event.StatusInterrupted {
		t.Errorf("the run below is %s, that below it %s", child.Status, deepest.Status)
	}
}

// doubtful is a store whose answer to the first request for a run below another is lost on the way.
type doubtful struct {
	store.Store
	system
	lost atomic.Bool
}

func (d *doubtful) System() store.System { return d }

func (d *doubtful) AdmitChild(ctx context.Context, f store.Fence, a store.Admission) (store.Run, error) {
	run, err := d.system.AdmitChild(ctx, f, a)
	if d.lost.CompareAndSwap(false, true) {
		return store.Run{}, store.ErrUnknown
	}
	return run, err
}

// TestAChildIsBegunOnce, also when nobody knows whether it was; the run above hears of its end at once.
func TestAChildIsBegunOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFamily(t)
		m := f.process(&doubtful{Store: f.store, system: f.store.System()}, "a", 10)
		begun := time.Now()
		run := f.wants(f.submit(m, ordered("split a")), event.StatusSuccess)
		if got := f.says(f.store, run); got != "success done: a" || len(f.below(f.store, run)) != 1 {
			t.Errorf("%q of %d runs", got, len(f.below(f.store, run)))
		}
		if took := time.Since(begun); took >= store.Beat/2 {
			t.Errorf("it took %v", took)
		}
	})
}

// TestChildrenDoNotStopWhereTheirRunIsTo: where to stop, and what is to follow, is said of the run that was asked for
// alone.
func TestChildrenDoNotStopWhereTheirRunIsTo(t *testing.T) {
	f := newFamily(t)
	req := ordered("split split b")
	req.InterruptAfter, req.OnCompletion = []string{agent.NodeTools}, runs.DeleteThread
	run := f.wants(f.submit(f.process(f.store, "a", 10), req), event.StatusInterrupted)
	if got := f.says(f.store, run); got != "success success done: b" {
		t.Errorf("it says %q", got)
	}
	if asked, err := runs.RequestOf(f.below(f.store, run)["split b"]); err != nil || asked.OnCompletion != "" {
		t.Errorf("below it is asked for %q, %v", asked.OnCompletion, err)
	}
}

// taken is a store that another process takes the runs below others from.
type taken struct {
	store.Store
	system
	gone atomic.Bool
}

func (s *taken) System() store.System { return s }

func (s *taken) CommitChild(ctx context.Context, root store.Fence, evs []event.Event, f store.Fence,
	steps []store.Step) ([]string, error) {
	if s.gone.Load() {
		return nil, errBroken
	}
	return s.system.CommitChild(ctx, root, evs, f, steps)
}

func (s *taken) ClaimRun(ctx context.Context, id, owner string, attempt int, now time.Time) (store.Fence, error) {
	if s.gone.Load() {
		return store.Fence{}, store.ErrConflict
	}
	return s.system.ClaimRun(ctx, id, owner, attempt, now)
}

// TestAChildThatAnotherTookIsLeft to that one: it works here no more.
func TestAChildThatAnotherTookIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFamily(t)
		st := &taken{Store: f.store, system: f.store.System()}
		f.submit(f.process(st, "a", 10), ordered("split wait"))
		<-f.begun
		st.gone.Store(true)
		close(f.free)
		select {
		case <-f.begun:
			t.Error("it works on")
		case <-time.After(time.Minute):
		}
	})
}

// stumbling is a store that once cannot write what a run below another did.
type stumbling struct {
	store.Store
	system
	stumbled atomic.Bool
}

func (s *stumbling) System() store.System { return s }

func (s *stumbling) CommitChild(ctx context.Context, root store.Fence, evs []event.Event, f store.Fence,
	steps []store.Step) ([]string, error) {
	if s.stumbled.CompareAndSwap(false, true) {
		return nil, errBroken
	}
	return s.system.CommitChild(ctx, root, evs, f, steps)
}

// TestAChildIsTakenUpAgain by its owner when what it did could not be written; the run above waits for its end.
func TestAChildIsTakenUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFamily(t)
		m := f.process(&stumbling{Store: f.store, system: f.store.System()}, "a", 10)
		run := f.wants(f.submit(m, ordered("split a")), event.StatusSuccess)
		child := f.below(f.store, run)["a"]
		if got := f.says(f.store, run); got != "success done: a" || child.Attempt != 2 || run.Attempt != 1 {
			t.Errorf("%q in attempt %d, that above in attempt %d", got, child.Attempt, run.Attempt)
		}
	})
}

// away is a store that cannot be reached for so many uses: what a run below another writes, and what its owner does to
// take it up again.
type away struct {
	store.Store
	system
	left atomic.Int64 // uses that fail
}

func (s *away) System() store.System { return s }

func (s *away) fails() bool { return s.left.Add(-1) >= 0 }

func (s *away) CommitChild(ctx context.Context, root store.Fence, evs []event.Event, f store.Fence,
	steps []store.Step) ([]string, error) {
	if s.fails() {
		return nil, errBroken
	}
	return s.system.CommitChild(ctx, root, evs, f, steps)
}

func (s *away) Run(ctx context.Context, id string) (store.Run, error) {
	if s.fails() {
		return store.Run{}, errBroken
	}
	return s.system.Run(ctx, id)
}

func (s *away) ClaimRun(ctx context.Context, id, owner string, attempt int, now time.Time) (store.Fence, error) {
	if attempt > 0 && s.fails() {
		return store.Fence{}, errBroken
	}
	return s.system.ClaimRun(ctx, id, owner, attempt, now)
}

// TestAChildIsNotGivenUp while its owner lives, however often the store cannot be reached.
func TestAChildIsNotGivenUp(t *testing.T) {
	for n := range 4 {
		t.Run(fmt.Sprint(n+1), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFamily(t)
				st := &away{Store: f.store, system: f.store.System()}
				m := f.process(st, "a", 10)
				run := f.submit(m, ordered("split wait"))
				<-f.begun
				st.left.Store(int64(n + 1))
				close(f.free)
				for st.left.Load() > 0 {
					time.Sleep(store.Beat)
				}
				<-f.begun // again: what it did could not be written
				run = f.wants(run, event.StatusSuccess)
				child := f.below(f.store, run)["wait"]
				if got := f.says(f.store, run); got != "success I begin and end" || run.Attempt != 1 {
					t.Errorf("%q in attempt %d; the run below is %s in attempt %d", got, run.Attempt, child.Status,
						child.Attempt)
				}
			})
		})
	}
}

// TestAChildThatIsToStopEnds with its run, also when that is said while the store cannot be reached.
func TestAChildThatIsToStopEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFamily(t)
		st := &away{Store: f.store, system: f.store.System()}
		m := f.process(st, "a", 10)
		run := f.submit(m, ordered("split wait"))
		<-f.begun
		st.left.Store(1000)
		close(f.free)
		time.Sleep(10 * store.Beat)
		if _, err := m.For(user()).Cancel(t.Context(), run.ID, store.StopInterrupt); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * store.Beat)
		st.left.Store(0)
		run = f.wants(run, event.StatusInterrupted)
		if got := f.below(f.store, run)["wait"].Status; got != event.StatusInterrupted || run.Attempt != 2 {
			t.Errorf("the run below is %s, after attempt %d", got, run.Attempt)
		}
	})
}

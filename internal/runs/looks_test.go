package runs_test

import (
	"context"
	"iter"
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
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// looked counts what is asked of a store.
type looked struct {
	store.Store
	system
	waiting, first atomic.Int64
}

func (l *looked) System() store.System { return l }

func (l *looked) Waiting(ctx context.Context, now time.Time, limit int) ([]store.Run, error) {
	l.waiting.Add(1)
	return l.system.Waiting(ctx, now, limit)
}

func (l *looked) For(u access.User) store.UserData { return lookedUser{l.Store.For(u), l} }

type lookedUser struct {
	store.UserData
	l *looked
}

func (u lookedUser) FirstCheckpoint(ctx context.Context, runID string) (store.Checkpoint, error) {
	u.l.first.Add(1)
	return u.UserData.FirstCheckpoint(ctx, runID)
}

// TestNobodyAsksForRunsThatWaitWhenNoneDoes: with thousands of runs a second that would be a good part of the work.
func TestNobodyAsksForRunsThatWaitWhenNoneDoes(t *testing.T) {
	w := newWard(t)
	l := &looked{Store: w.store, system: w.store.System()}
	m := w.serving("a", func(c *runs.Config) { c.Store = l })
	for range 5 {
		w.wants(w.submit(m, ordered("answer")), event.StatusSuccess)
	}
	if n := l.waiting.Load(); n > 0 {
		t.Errorf("the store was asked %d times", n)
	}
	before := w.waiting(m)
	req := ordered("answer")
	req.Strategy = store.Enqueue
	after := w.submit(m, req)
	close(w.free)
	w.wants(before, event.StatusSuccess)
	w.wants(after, event.StatusSuccess)
	if l.waiting.Load() == 0 {
		t.Error("the run that waited was started without asking")
	}
}

// TestTheBaseOfARunIsKnownWhereItIsExecuted compares what is in memory with what the store says.
func TestTheBaseOfARunIsKnownWhereItIsExecuted(t *testing.T) {
	w := newWard(t)
	l := &looked{Store: w.store, system: w.store.System()}
	here, elsewhere := w.serving("a", func(c *runs.Config) { c.Store = l }), w.process("b", nil)
	w.wants(w.submit(here, ordered("answer")), event.StatusSuccess)
	run := w.waiting(here)
	got, err := here.For(user()).Base(t.Context(), run, runs.Request{})
	if err != nil {
		t.Fatal(err)
	}
	if l.first.Load() > 0 {
		t.Error("the store was asked")
	}
	want, err := elsewhere.For(user()).Base(t.Context(), run, runs.Request{})
	if err != nil {
		t.Fatal(err)
	}
	if got.ID != want.ID || got.Step != want.Step || got.ThreadID != want.ThreadID {
		t.Errorf("the base is %s at step %d, want %s at %d", got.ID, got.Step, want.ID, want.Step)
	}
	if d := cmp.Diff(agent.Messages.Get(want.State), agent.Messages.Get(got.State)); d != "" {
		t.Errorf("state of the base (-want +got):\n%s", d)
	}
	close(w.free)
	w.wants(run, event.StatusSuccess)
}

// stuck holds commits up until it is told to let them pass.
type stuck struct {
	store.Store
	system
	pass chan struct{}
}

func (s *stuck) System() store.System { return s }

func (s *stuck) CommitAll(ctx context.Context, f store.Fence, steps []store.Step) ([]string, error) {
	<-s.pass
	return s.system.CommitAll(ctx, f, steps)
}

// TestARunThatOnlyReadsDoesNotOutrunTheDisk has a model that never has enough and a disk that stands still.
func TestARunThatOnlyReadsDoesNotOutrunTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWard(t)
		disk := &stuck{Store: w.store, system: w.store.System(), pass: make(chan struct{})}
		var reads atomic.Int64
		look := tool.MustNew(tool.Spec{Name: "count", Description: "Looks.", Effect: tool.ReadOnly},
			func(context.Context, *tool.Call, struct{}) (*tool.Result, error) {
				reads.Add(1)
				return tool.Text("seen"), nil
			})
		more := message.Chunk{ToolCalls: []message.ToolCallChunk{{ID: "c", Name: "count", Args: `{}`}},
			FinishReason: "tool_calls"}
		always := fakeModel(func(context.Context, *model.Request) iter.Seq2[message.Chunk,
			error] {
			return chunks(more)
		})
		a, err := agent.New(agent.Config{Model: always, Tools: []tool.Tool{look}})
		if err != nil {
			t.Fatal(err)
		}
		m := w.process("a", func(c *runs.Config) {
			c.Store = disk
			c.Build = func(context.Context, runs.Job) (runs.Built, error) {
				return runs.Built{Agent: a, Config: agent.RunConfig{MaxSteps: 500}, Close: func() error { return nil }},
					nil
			}
		})
		ended := make(chan error)
		go func() {
			_, err := m.For(user()).Run(t.Context(), ordered("go"), nil)
			ended <- err
		}()
		synctest.Wait()
		time.Sleep(5 * time.Second) // of the test's clock, while a commit may take 30
		if n := reads.Load(); n == 0 || n > 100 {
			t.Errorf("%d tools ran while nothing was written", n)
		}
		close(disk.pass)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// outrun is a store where another process is faster, the first time.
type outrun struct {
	store.Store
	system
	claims atomic.Int64
}

func (o *outrun) System() store.System { return o }

func (o *outrun) ClaimRun(ctx context.Context, id, owner string, attempt int, now time.Time) (store.Fence, error) {
	if o.claims.Add(1) == 1 {
		return store.Fence{}, store.ErrConflict
	}
	return o.system.ClaimRun(ctx, id, owner, attempt, now)
}

// TestARunThatAnotherTookKeepsNobodyWaiting: the next one that waits begins at once, not with the next look.
func TestARunThatAnotherTookKeepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWard(t)
		o := &outrun{Store: w.store, system: w.store.System()}
		m, stop := w.served("a", func(c *runs.Config) { c.Store = o })
		defer stop()
		req := ordered("answer")
		req.NotBefore = time.Now().Add(time.Minute)
		run := w.submit(m, req)
		for o.claims.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		outrunAt := time.Now()
		w.wants(run, event.StatusSuccess)
		if took := time.Since(outrunAt); took >= store.Beat/2 {
			t.Errorf("it began after %v", took)
		}
	})
}

// TestTheBaseOfARunThatGoesOn is where it began, and not where another process left it.
func TestTheBaseOfARunThatGoesOn(t *testing.T) {
	s := newSite(t, []string{"early"}, []string{"slow"})
	s.does("early")
	var run store.Run
	var second *runs.Manager
	base := func(m *runs.Manager) store.Checkpoint {
		cp, err := m.For(user()).Base(t.Context(), run, runs.Request{})
		if err != nil {
			t.Error(err)
		}
		return cp
	}
	var here store.Checkpoint
	begun := make(chan struct{})
	s.tool("slow", tool.Idempotent, func(ctx context.Context, nth int, _ *tool.Call) (*tool.Result, error) {
		if nth == 1 {
			close(begun)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		here = base(second)
		return tool.Text("done"), nil
	})
	run = s.dies(begun)
	second = s.process("second")
	want := base(s.process("elsewhere"))
	if out, err := second.Resume(t.Context(), run, noShow); err != nil || out.Run.Status != event.StatusSuccess {
		t.Fatalf("%+v, %v", out.Run, err)
	}
	if here.ID != want.ID || len(agent.Messages.Get(here.State)) != 0 {
		t.Errorf("the base is %q with %d messages, want %q", here.ID, len(agent.Messages.Get(here.State)), want.ID)
	}
}

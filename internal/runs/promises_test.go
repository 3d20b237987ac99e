package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/buses/memory"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// TestACancelOutlivesItsRunsOwner: whoever takes over a run that was told to stop stops it, also if nobody tells him
// again.
func TestACancelOutlivesItsRunsOwner(t *testing.T) {
	w := newWard(t)
	run := w.left()
	w.cancel(w.process("b", nil), run, store.StopInterrupt)
	close(w.free) // the model answers from here on
	run, err := w.store.For(user()).Run(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.process("c", nil).Resume(t.Context(), run, nil)
	if err != nil || out.Run.Status != event.StatusInterrupted || out.Run.StopReason != store.Cancelled {
		t.Errorf("run %s (%s), error %v", out.Run.Status, out.Run.StopReason, err)
	}
}

// TestNoRunBeginsAfterStop: one that was admitted before is left unfinished.
func TestNoRunBeginsAfterStop(t *testing.T) {
	w := newWard(t)
	m := w.process("a", nil)
	run, err := m.For(user()).Admit(t.Context(), ordered("answer"))
	if err != nil {
		t.Fatal(err)
	}
	m.Stop()
	if _, err := m.Execute(t.Context(), run, nil); !errors.Is(err, runs.ErrStopped) {
		t.Errorf("the run was executed: %v", err)
	}
	if run, err = w.store.For(user()).Run(t.Context(), run.ID); err != nil || run.Status != event.StatusRunning {
		t.Errorf("the run is %s, %v", run.Status, err)
	}
}

// unrenewed is a store that cannot be reached for leases, once that is said.
type unrenewed struct {
	store.Store
	system

	gone atomic.Bool
}

func (u *unrenewed) System() store.System { return u }

func (u *unrenewed) Renew(ctx context.Context, owner string) (bool, error) {
	if u.gone.Load() {
		return false, errors.New("no route to the database")
	}
	return u.system.Renew(ctx, owner)
}

// TestALeaseThatCannotBeRenewed: the runs go on for as long as the lease is known to last, and not longer: then they
// may be another's.
func TestALeaseThatCannotBeRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWard(t)
		u := &unrenewed{Store: w.store, system: w.store.System()}
		w.store = u
		m := w.process("a", nil)
		release, err := m.KeepLease(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		run, err := m.For(user()).Admit(t.Context(), ordered("wait"))
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := m.Execute(context.Background(), run, nil)
			ended <- err
		}()
		<-w.begun
		time.Sleep(2 * store.Lease) // renewed all the while
		u.gone.Store(true)
		last := time.Now()
		time.Sleep(store.Lease - 2*store.Beat)
		synctest.Wait()
		select {
		case err := <-ended:
			t.Fatalf("the run was left after %s: %v", time.Since(last), err)
		default:
		}
		select {
		case err := <-ended:
			if !errors.Is(err, store.ErrFenced) {
				t.Errorf("the run ended with %v", err)
			}
		case <-time.After(store.Lease):
			t.Error("the run is not left")
			close(w.free)
			<-ended
		}
		if left := time.Since(last); left > store.Lease {
			t.Errorf("the run was left after %s, the lease lasts %s", left, store.Lease)
		}
	})
}

// TestWhatARolledBackRunDidIsNotKnown to the next one: a call that it carried out with an answer asks again.
func TestWhatARolledBackRunDidIsNotKnown(t *testing.T) {
	s := newSite(t, []string{"ask", "hold"})
	answered := make(chan struct{})
	asks := func(run func(ctx context.Context) (*tool.Result, error)) func(context.Context, int,
		*tool.Call) (*tool.Result, error) {
		return func(ctx context.Context, _ int, c *tool.Call) (*tool.Result, error) {
			if c.Answer == nil {
				return nil, &tool.InterruptError{Questions: []tool.Question{{Value: json.RawMessage(`"may I?"`)}}}
			}
			return run(ctx)
		}
	}
	s.tool("ask", tool.SideEffects,
		asks(func(context.Context) (*tool.Result, error) { return tool.Text("asked"), nil }))
	s.tool("hold", tool.SideEffects, asks(func(ctx context.Context) (*tool.Result, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	m := s.process("one")
	if out := s.executes(m, request()); out.Run.Status != event.StatusInterrupted {
		t.Fatalf("run %+v", out.Run)
	}
	req := runs.Request{ThreadID: "thread", UserID: "user", Answers: map[string]json.RawMessage{
		"ask-0": json.RawMessage(`"yes"`), "hold-0": json.RawMessage(`"yes"`),
	}}
	run, err := m.For(user()).Admit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-answered
		if _, err := m.For(user()).Cancel(t.Context(), run.ID, store.StopRollback); err != nil {
			t.Error(err)
		}
	}()
	out, err := m.Execute(t.Context(), run, func(ev event.Event) {
		if end, ok := ev.Data.(event.ToolEnd); ok && end.CallID == "ask-0" {
			close(answered)
		}
	})
	if err != nil || out.Run.Error != store.RolledBack {
		t.Fatalf("run %+v, %v", out.Run, err)
	}
	snap, err := m.For(user()).Snapshot(t.Context(), "thread", "")
	if err != nil || len(snap.Questions) != 2 {
		t.Errorf("%d questions are open, %v", len(snap.Questions), err)
	}
	if out := s.executes(m, runs.Request{ThreadID: "thread", UserID: "user",
		Continue: true}); out.Run.Status != event.StatusInterrupted {
		t.Errorf("run %+v", out.Run)
	}
	if snap, err = m.For(user()).Snapshot(t.Context(), "thread", ""); err != nil || len(snap.Questions) != 2 {
		t.Errorf("%d questions are open after the next run, %v", len(snap.Questions), err)
	}
}

// keeps has a channel of its own that clients must not set, and one that they may.
type keeps struct{}

var (
	untrusted = state.LastValue[bool]("guardrail_untrusted").AsPrivate()
	colour    = state.LastValue[string]("colour")
)

func (keeps) Name() string                 { return "Keeps" }
func (keeps) Channels() []state.AnyChannel { return []state.AnyChannel{untrusted, colour} }
func (keeps) BeforeAgent(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	return agent.Command{}, nil
}

// TestAClientSetsNoPrivateChannel, neither with a run's input nor with a change of the state.
func TestAClientSetsNoPrivateChannel(t *testing.T) {
	b := newBed(t, fakeModel(counts), keeps{})
	values := map[string]json.RawMessage{"guardrail_untrusted": json.RawMessage("true"),
		"colour": json.RawMessage(`"red"`), "messages": json.RawMessage(`[]`)}
	run, err := b.manager.For(user()).
		Admit(t.Context(), runs.Request{ThreadID: "thread", UserID: "user", Values: values,
			Input: []message.Message{message.New(message.Human, "go")}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.manager.Execute(t.Context(), run, b.show)
	if err != nil {
		t.Fatal(err)
	}
	if untrusted.Get(out.State) || colour.Get(out.State) != "red" || len(agent.Messages.Get(out.State)) != 4 {
		t.Errorf("untrusted %v, colour %q, %d messages", untrusted.Get(out.State), colour.Get(out.State),
			len(agent.Messages.Get(out.State)))
	}
	schema, err := state.NewSchema(append(agent.Channels(), untrusted, colour)...)
	if err != nil {
		t.Fatal(err)
	}
	u, err := runs.Values(schema, values)
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := u.MarshalJSON(); err != nil || string(raw) != `[{"c":"colour","op":"put","v":"red"}]` {
		t.Errorf("%s, %v", raw, err)
	}
}

// TestTheUsageOfAShortRun is in its row, although it ends before usage is due.
func TestTheUsageOfAShortRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // whose clock stands still: the run takes no time at all
		b := newBed(t, fakeModel(counts))
		out := b.run(t.Context(), "go")
		var u message.Usage
		if err := json.Unmarshal(out.Run.Usage, &u); err != nil || !out.Run.UpdatedAt.Equal(out.Run.CreatedAt) {
			t.Fatalf("usage %s after %s: %v", out.Run.Usage, out.Run.UpdatedAt.Sub(out.Run.CreatedAt), err)
		}
		if d := cmp.Diff(message.Usage{InputTokens: 20, OutputTokens: 2, TotalTokens: 22}, u); d != "" {
			t.Error(d)
		}
	})
}

// TestACancelTravelsByTheBus: the process that executes the run hears of it at once, not when it looks next.
func TestACancelTravelsByTheBus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWard(t)
		wires := memory.New()
		defer wires.Close()
		joined := func(c *runs.Config) { c.Bus = wires }
		ctx, stop := context.WithCancel(context.Background())
		served := make(chan struct{})
		a := w.process("a", joined)
		go func() {
			defer close(served)
			a.Serve(ctx, nil)
		}()
		defer func() {
			stop()
			<-served
		}()
		run := w.waiting(a)
		synctest.Wait()
		asked := time.Now()
		w.cancel(w.process("b", joined), run, store.StopInterrupt)
		synctest.Wait() // the clock does not move meanwhile
		if now, err := w.store.For(user()).Run(t.Context(), run.ID); err != nil ||
			now.Status != event.StatusInterrupted || !time.Now().Equal(asked) {
			t.Errorf("the run is %s after %s, %v", now.Status, time.Since(asked), err)
		}
	})
}

// TestARunDoesNotBeginOnAStateThatItCannotRead, as one of another version may have written: it fails, and the state
// stays.
func TestARunDoesNotBeginOnAStateThatItCannotRead(t *testing.T) {
	b := newBed(t, fakeModel(counts), keeps{})
	b.run(t.Context(), "go")
	number := state.LastValue[int]("colour")
	schema, err := state.NewSchema(append(agent.Channels(), untrusted, number)...)
	if err != nil {
		t.Fatal(err)
	}
	data := b.store.For(user())
	head, err := data.Checkpoint(t.Context(), schema, "thread", "")
	if err != nil {
		t.Fatal(err)
	}
	update := number.Put(7)
	next, _, err := head.State.Apply(update)
	if err != nil {
		t.Fatal(err)
	}
	written, err := data.Write(t.Context(), "thread", store.Step{
		Parent: head.ID, Updates: []store.NodeUpdate{{Node: "another", Update: update}}, State: next, Next: agent.Done,
		Now: time.Now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	out := b.run(t.Context(), "again")
	if out.Run.Status != event.StatusError ||
		!strings.Contains(out.Run.Error, `load thread thread: state channel "colour": `) {
		t.Errorf("%s %q", out.Run.Status, out.Run.Error)
	}
	if head, err = data.Checkpoint(t.Context(), schema, "thread", ""); err != nil || head.ID != written ||
		number.Get(head.State) != 7 {
		t.Errorf("the head is %s, %d, %v", head.ID, number.Get(head.State), err)
	}
}

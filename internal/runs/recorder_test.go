package runs

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// shelf is a store that keeps the steps that are committed. Each commit waits for the gate, if there is one.
type shelf struct {
	store.System

	gate  chan struct{}
	steps []store.Step
}

func (s *shelf) CommitAll(_ context.Context, _ store.Fence, steps []store.Step) ([]string, error) {
	if s.gate != nil {
		<-s.gate
	}
	s.steps = append(s.steps, steps...)
	return make([]string, len(steps)), nil
}

// TestTheEndIsShownWhenItReturns, also if somebody else is at showing what came before.
func TestTheEndIsShownWhenItReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var shown []event.Kind
		r := newRecorder(&shelf{}, store.Run{ID: "run", Attempt: 1}, time.Now, func(ev event.Event) {
			<-gate
			shown = append(shown, ev.Data.Kind())
		})
		go r.emit("model", event.Chunk{MessageID: "m"})
		synctest.Wait() // it is being shown
		ended := make(chan []event.Kind, 1)
		go func() {
			if err := r.end(event.Run{Status: event.StatusSuccess}, nil); err != nil {
				t.Error(err)
			}
			ended <- shown
		}()
		synctest.Wait()
		if len(ended) > 0 {
			t.Error("it has returned before all was shown")
		}
		close(gate)
		if d := cmp.Diff([]event.Kind{event.KindChunk, event.KindRun}, <-ended); d != "" {
			t.Error(d)
		}
	})
}

// TestWhoWaitsForACommitMayLeave: the cause of his context's end is why. What he wanted committed is, all the same.
func TestWhoWaitsForACommitMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{gate: make(chan struct{})}
		r := newRecorder(s, store.Run{ID: "run", Attempt: 1}, time.Now, func(event.Event) {})
		first, second := make(chan error, 1), make(chan error, 1)
		say := func() agent.Step {
			return agent.Step{Next: agent.NodeModel, Events: []agent.Emitted{{Data: event.Custom{}}}}
		}
		go func() { first <- r.commit(t.Context(), say()) }()
		synctest.Wait()
		ctx, leave := context.WithCancelCause(t.Context())
		go func() { second <- r.commit(ctx, say()) }()
		synctest.Wait()
		why := errors.New("no more time")
		leave(why)
		if err := <-second; !errors.Is(err, why) {
			t.Errorf("the second ended with %v", err)
		}
		close(s.gate)
		if err := <-first; err != nil {
			t.Errorf("the first ended with %v", err)
		}
		synctest.Wait()
		if len(s.steps) != 2 {
			t.Errorf("%d steps are committed", len(s.steps))
		}
		gone := errors.New("another owner")
		r.detach(gone)
		r.detach(errors.New("a later reason"))
		for _, step := range []agent.Step{say(), {Next: agent.NodeModel, Lazy: true}, {Next: agent.Done}} {
			if err := r.commit(t.Context(), step); !errors.Is(err, gone) {
				t.Errorf("a step of a run that was let go of: %v", err)
			}
		}
		if r.emit("", event.Custom{}); len(s.steps) != 2 || len(r.queue) > 0 {
			t.Errorf("%d steps are committed, %d wait", len(s.steps), len(r.queue))
		}
	})
}

// TestUsageIsKeptOnceASecond, while the run goes on, if it has changed, whatever way the clock goes; and at the end.
func TestUsageIsKeptOnceASecond(t *testing.T) {
	now := time.Unix(1000, 0)
	s := &shelf{}
	before := message.Usage{InputTokens: 5, TotalTokens: 5}
	raw, err := json.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	r := newRecorder(s, store.Run{ID: "run", Attempt: 2, Usage: raw}, func() time.Time { return now },
		func(event.Event) {})
	for i, c := range []struct {
		after  time.Duration
		tokens int
		want   int // 0: nothing is kept
	}{
		{0, 1, 0}, {time.Second - 1, 2, 0}, {1, 3, 8}, {0, 4, 0}, {time.Second, 3, 0}, {0, 4, 9}, {-time.Second, 5, 10},
		{time.Hour, 5, 0},
	} {
		now = now.Add(c.after)
		took := message.Usage{InputTokens: c.tokens, TotalTokens: c.tokens}
		step := agent.Step{Next: agent.NodeModel, Spent: agent.Spent{Usage: took},
			Events: []agent.Emitted{{Data: event.Custom{}}}}
		if err := r.commit(t.Context(), step); err != nil {
			t.Fatal(err)
		}
		checkUsage(t, i, s.steps[len(s.steps)-1], event.StatusRunning, c.want)
	}
	r.spent = agent.Spent{Usage: message.Usage{InputTokens: 6, TotalTokens: 6}}
	if err := r.end(event.Run{Status: event.StatusError}, nil); err != nil {
		t.Fatal(err)
	}
	checkUsage(t, -1, s.steps[len(s.steps)-1], event.StatusError, 11)
}

// checkUsage looks at the tokens that a step keeps; 0 is a step that changes nothing of its run.
func checkUsage(t *testing.T, i int, step store.Step, status string, want int) {
	t.Helper()
	if want == 0 {
		if step.Run != nil {
			t.Errorf("%d: the run is changed: %+v", i, step.Run)
		}
		return
	}
	var u message.Usage
	if step.Run == nil || step.Run.Status != status || json.Unmarshal(step.Run.Usage, &u) != nil ||
		u.TotalTokens != want {
		t.Errorf("%d: the run is changed to %+v, with %+v", i, step.Run, u)
	}
}

// TestAStepThatIsHeldForTheEndLeadsOn when it is written before that: who goes on with a run that is being undone finds
// it under way. At the end it is the last one.
func TestAStepThatIsHeldForTheEndLeadsOn(t *testing.T) {
	for _, undone := range []bool{true, false} {
		s := &shelf{}
		r := newRecorder(s, store.Run{ID: "run", Attempt: 1}, time.Now, func(event.Event) {})
		said := agent.Messages.Append(message.New(message.AI, "done"))
		if err := r.commit(t.Context(),
			agent.Step{Next: agent.Done, Updates: []agent.NodeUpdate{{Node: "model", Update: said}}}); err != nil ||
			len(s.steps) > 0 {
			t.Fatalf("%d steps are committed, %v", len(s.steps), err)
		}
		want := agent.Done
		if undone {
			want = agent.NodeBeforeModel
			if err := r.flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.end(event.Run{Status: event.StatusError}, nil); err != nil {
			t.Fatal(err)
		}
		first, last := s.steps[0], s.steps[len(s.steps)-1]
		if first.Next != want || len(first.Updates) != 1 || last.Run == nil || (len(s.steps) == 2) != undone {
			t.Errorf("undone %t: %d steps, the first leads to %q", undone, len(s.steps), first.Next)
		}
	}
}

// TestAStepThatCannotBeEncoded is told to the agent, and nothing of it is committed or shown.
func TestAStepThatCannotBeEncoded(t *testing.T) {
	s := &shelf{}
	r := newRecorder(s, store.Run{ID: "run", Attempt: 1}, time.Now,
		func(ev event.Event) { t.Errorf("%v is shown", ev.Data.Kind()) })
	nan := state.LastValue[float64]("note").Put(math.NaN())
	err := r.commit(t.Context(), agent.Step{
		Next: agent.NodeModel, Updates: []agent.NodeUpdate{{Node: "model", Update: nan}},
		Events: []agent.Emitted{{Data: event.State{}}},
	})
	if err == nil || !strings.Contains(err.Error(), "encode update of model: ") || len(s.steps) > 0 {
		t.Errorf("%v, %d steps are committed", err, len(s.steps))
	}
}

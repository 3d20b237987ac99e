package runs_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
)

// brokenHook fails behind the answer of the model, which is not committed then.
type brokenHook struct{}

func (brokenHook) Name() string { return "Broken" }
func (brokenHook) AfterModel(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	return agent.Command{}, errors.New("the hook broke")
}

// half is a model that says half an answer and then waits for the run's end.
func half(ctx context.Context, _ *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		if yield(message.Chunk{Text: "half an ans"}, nil) {
			<-ctx.Done()
			yield(message.Chunk{}, ctx.Err())
		}
	}
}

// TestARunComesBackAsItEnded: the process dies while the resources of a run that has come to its end are closed, which
// takes a while. Who takes the run over ends it in the same way.
func TestARunComesBackAsItEnded(t *testing.T) {
	cancelled := func(action string) func(*site, *runs.Manager, store.Run) {
		return func(s *site, m *runs.Manager, run store.Run) {
			synctest.Wait() // the model has said the half
			if _, err := m.For(user()).Cancel(s.t.Context(), run.ID, action); err != nil {
				s.t.Error(err)
			}
		}
	}
	for name, c := range map[string]struct {
		model     fakeModel
		chain     []agent.Middleware
		steps     int
		check     error
		meanwhile func(*site, *runs.Manager, store.Run)
		want      event.Run
	}{
		"failed": {model: calls(nil), chain: []agent.Middleware{brokenHook{}},
			want: event.Run{Status: event.StatusError, Error: "Broken.after_model: the hook broke"}},
		"cancelled": {model: half, meanwhile: cancelled(store.StopInterrupt),
			want: event.Run{Status: event.StatusInterrupted, StopReason: store.Cancelled}},
		"rolled back": {model: half, meanwhile: cancelled(store.StopRollback),
			want: event.Run{Status: event.StatusError, Error: store.RolledBack, StopReason: store.Cancelled}},
		"undelivered": {model: calls([][]string{{"a"}, {"a"}}), steps: 1, check: runs.ErrUndelivered,
			want: event.Run{Status: event.StatusError, Error: store.Undelivered, StopReason: agent.ReasonTurns}},
		"limit": {model: calls([][]string{{"a"}, {"a"}}), steps: 1,
			want: event.Run{Status: event.StatusSuccess, StopReason: agent.ReasonTurns}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t)
				s.model, s.chain, s.steps, s.check = c.model, c.chain, c.steps, c.check
				s.does("a")
				first := s.process("first")
				s.closing = func() { // once
					s.closing = nil
					time.Sleep(time.Second)
					first.Stop()
				}
				run, err := first.For(user()).Admit(t.Context(), request())
				if err != nil {
					t.Fatal(err)
				}
				if c.meanwhile != nil {
					go c.meanwhile(s, first, run)
				}
				if _, err := first.Execute(t.Context(), run, noShow); !errors.Is(err, runs.ErrStopped) {
					t.Fatalf("the first process ended with %v", err)
				}
				if run, err = s.store.For(user()).Run(t.Context(), run.ID); err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithTimeout(t.Context(), time.Hour)
				defer stop()
				out, err := s.process("second").Resume(ctx, run, noShow)
				if err != nil {
					t.Fatal(err)
				}
				got := event.Run{Status: out.Run.Status, Error: out.Run.Error, StopReason: out.Run.StopReason}
				if d := cmp.Diff(c.want, got); d != "" {
					t.Errorf("(-as it ended +as it came back)\n%s", d)
				}
			})
		})
	}
}

package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/middleware/title"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// titled writes the title that it is told to, at each model call.
type titled struct{ title string }

func (*titled) Name() string { return "Titled" }
func (m *titled) BeforeModel(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	return agent.Command{Update: threadstate.Title.Put(m.title)}, nil
}

// retitling counts the steps that write a title.
type retitling struct {
	store.Store
	system
	steps int
}

func (r *retitling) System() store.System { return r }

func (r *retitling) CommitAll(ctx context.Context, f store.Fence, steps []store.Step) ([]string, error) {
	for _, s := range steps {
		if s.Title != nil {
			r.steps++
		}
	}
	return r.system.CommitAll(ctx, f, steps)
}

// listed is what the list of threads shows.
func listed(t *testing.T, st store.Store) string {
	t.Helper()
	list, err := st.For(user()).SearchThreads(t.Context(), store.ThreadFilter{})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d threads, error %v", len(list), err)
	}
	return list[0].Title
}

// TestTheListShowsTheTitleOfTheState: the user's words before there is one, and each new one, written once.
func TestTheListShowsTheTitleOfTheState(t *testing.T) {
	s := newSite(t)
	s.model = fakeModel(counts)
	s.does("count")
	mw, counter := &titled{}, &retitling{Store: s.store, system: s.store.System()}
	s.store, s.chain = counter, []agent.Middleware{mw}
	m := s.process("p")
	run := func(title string) {
		t.Helper()
		mw.title = title
		if out, err := m.For(user()).Run(t.Context(), request(), noShow); err != nil ||
			out.Run.Status != event.StatusSuccess {
			t.Fatalf("run %+v, error %v", out.Run, err)
		}
	}
	for _, c := range []struct {
		title, want string
		steps       int
	}{{"", "go", 0}, {"Deer", "Deer", 1}, {"Deer", "Deer", 1}, {"Deer in winter", "Deer in winter", 2}} {
		run(c.title)
		if got := listed(t, s.store); got != c.want || counter.steps != c.steps {
			t.Errorf("the state says %q, the list %q, written %d times, want %d", c.title, got, counter.steps, c.steps)
		}
	}
	if _, err := m.For(user()).UpdateState(t.Context(), "thread",
		runs.StateUpdate{Values: map[string]json.RawMessage{"title": []byte(`"Mine"`)},
			Title: new("Mine")}); err != nil {
		t.Fatal(err)
	}
	if run("Mine"); listed(t, s.store) != "Mine" || counter.steps != 2 {
		t.Errorf("the title that the user gave became %q", listed(t, s.store))
	}
}

// TestARollbackBringsBackTheTitle of the state before the run.
func TestARollbackBringsBackTheTitle(t *testing.T) {
	s := newSite(t, []string{"a"})
	s.does("a")
	mw := &titled{title: "Before"}
	s.chain = []agent.Middleware{mw}
	m := s.process("p")
	if _, err := m.For(user()).Run(t.Context(), request(), noShow); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	s.model = fakeModel(func(ctx context.Context, _ *model.Request) iter.Seq2[message.Chunk, error] {
		cancel(runs.ErrRolledBack)
		<-ctx.Done()
		return func(yield func(message.Chunk, error) bool) { yield(message.Chunk{}, ctx.Err()) }
	})
	mw.title = "Meanwhile"
	if _, err := s.process("q").For(user()).Run(ctx, request(), noShow); err != nil {
		t.Fatal(err)
	}
	if got := listed(t, s.store); got != "Before" {
		t.Errorf("the thread is called %q", got)
	}
}

// patient answers when everybody else has done what there is to do.
type patient struct{}

func (patient) Name() string { return "Patient" }
func (patient) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	synctest.Wait()
	return next(ctx, req)
}

// dying is a store that a process loses before it has written a title.
type dying struct {
	store.Store
	system
	title string
}

func (d *dying) System() store.System { return d }

func (d *dying) CommitAll(ctx context.Context, f store.Fence, steps []store.Step) ([]string, error) {
	for _, s := range steps {
		if s.Title != nil && *s.Title == d.title {
			return nil, store.ErrUnknown
		}
	}
	return d.system.CommitAll(ctx, f, steps)
}

// TestTheTokensOfATitleAreCountedOnce whether the process dies before the title is written, and the hook runs again, or
// behind it. The run's row and what the budget sees agree.
func TestTheTokensOfATitleAreCountedOnce(t *testing.T) {
	for _, c := range []struct {
		name    string
		written bool
		asked   int
	}{{"before", false, 2}, {"behind", true, 1}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, []string{"a"}, []string{"a"})
				asked := 0
				side := fakeModel(func(context.Context, *model.Request) iter.Seq2[message.Chunk, error] {
					asked++
					return chunks(message.Chunk{Text: "Deer", Usage: &message.Usage{InputTokens: 7, TotalTokens: 7},
						FinishReason: "stop"})
				})
				s.chain = []agent.Middleware{title.New(title.Config{Model: side, ModelName: "small"}), patient{}}
				begun := s.hangs("a", tool.SideEffects)
				var run store.Run
				if whole := s.store; c.written {
					run = s.dies(begun)
				} else {
					s.store = &dying{whole, whole.System(), "Deer"}
					if _, err := s.process("first").For(user()).Run(t.Context(), request(), noShow); !errors.Is(err,
						store.ErrUnknown) {
						t.Fatalf("the first process ended with %v", err)
					}
					s.store = whole
					run = s.unfinished("second")
				}
				out, err := s.process("second").Resume(t.Context(), run, noShow)
				if err != nil || out.Run.Status != event.StatusSuccess {
					t.Fatalf("run %+v, error %v", out.Run, err)
				}
				var row message.Usage
				if err := json.Unmarshal(out.Run.Usage, &row); err != nil || row.TotalTokens != 3*11+7 {
					t.Errorf("the row has %+v, error %v", row, err)
				}
				want := map[string]message.Usage{"small": {InputTokens: 7, TotalTokens: 7}}
				if diff := cmp.Diff(want, threadstate.SideUsage(out.State, run.ID)); diff != "" ||
					listed(t, s.store) != "Deer" || asked != c.asked {
					t.Errorf("the thread is called %q, asked %d times, %s", listed(t, s.store), asked, diff)
				}
			})
		})
	}
}

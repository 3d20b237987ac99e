package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

func alive(store.Run) error { return nil }

// chats is a site whose first tool says more than anybody reads at once, and then asks.
func chats(t *testing.T) (*site, runs.Outcome) {
	t.Helper()
	s := newSite(t, []string{"chat"})
	s.tool("chat", tool.SideEffects, func(_ context.Context, _ int, c *tool.Call) (*tool.Result, error) {
		if c.Answer == nil {
			for i := range 1100 {
				c.Emit(map[string]int{"word": i})
			}
			return nil, &tool.InterruptError{Value: json.RawMessage(`"enough?"`)}
		}
		return tool.Text("said " + string(c.Answer)), nil
	})
	out := s.executes(s.process("one"), request())
	if out.Run.Status != event.StatusInterrupted {
		t.Fatalf("run %+v", out.Run)
	}
	return s, out
}

// TestFollowShowsTheWholeLog of a run, from any event on, and how it ended.
func TestFollowShowsTheWholeLog(t *testing.T) {
	s, want := chats(t)
	var all []event.Event
	out, err := runs.Follow(t.Context(), s.store.For(user()), want.Run.ID, event.ID{}, alive, func(ev event.Event) { all = append(all, ev) })
	if err != nil {
		t.Fatal(err)
	}
	words := 0
	for i, ev := range all {
		if i > 0 && ev.ID.Compare(all[i-1].ID) <= 0 {
			t.Fatalf("event %s comes after %s", ev.ID, all[i-1].ID)
		}
		if ev.Data.Kind() == event.KindCustom {
			words++
		}
	}
	if last, ok := all[len(all)-1].Data.(event.Run); !ok || last.Status != event.StatusInterrupted || words != 1100 {
		t.Errorf("the last of %d events is %+v", len(all), all[len(all)-1])
	}
	if d := cmp.Diff(want.Run, out.Run); d != "" || out.Usage != want.Usage || out.Usage.TotalTokens == 0 {
		t.Errorf("usage %+v, run (-want +got)\n%s", out.Usage, d)
	}
	if d := cmp.Diff(agent.Messages.Get(want.State), agent.Messages.Get(out.State)); d != "" {
		t.Errorf("state (-want +got)\n%s", d)
	}
	var rest []event.Event
	if _, err := runs.Follow(t.Context(), s.store.For(user()), want.Run.ID, all[700].ID, alive, func(ev event.Event) { rest = append(rest, ev) }); err != nil {
		t.Fatal(err)
	}
	if len(rest) != len(all)-701 || rest[0].ID != all[701].ID {
		t.Errorf("%d events are shown behind the 700th of %d", len(rest), len(all))
	}
	if _, err := runs.Follow(t.Context(), s.store.For(user()), "no such run", event.ID{}, alive, noShow); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of no run: %v", err)
	}
}

// TestAQuestionBehindALongLog is found, and its answer reaches the call.
func TestAQuestionBehindALongLog(t *testing.T) {
	s, _ := chats(t)
	m := s.process("two")
	if at, err := m.For(user()).Snapshot(t.Context(), "thread", ""); err != nil || len(at.Questions) != 1 || at.Questions[0].CallID != "chat-0" {
		t.Errorf("questions %+v, %v", at.Questions, err)
	}
	out := s.executes(m, decided(`"yes"`))
	if got := s.results(); out.Run.Status != event.StatusSuccess || got["chat-0"] != `said "yes"` {
		t.Errorf("run %+v, results %v", out.Run, got)
	}
}

// TestFollowOfARunUnderWay: what is written is shown at once, who follows asks once a second whether to go on, and goes when the
// run has ended, when he is told to, or when his own context ends.
func TestFollowOfARunUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWard(t)
		run := w.waiting(w.process("a", nil))
		asked := 0
		dead := errors.New("nobody works at it")
		begun := time.Now()
		out, err := runs.Follow(t.Context(), w.store.For(user()), run.ID, event.ID{}, func(r store.Run) error {
			if asked++; r.ID != run.ID {
				t.Errorf("asked about run %s", r.ID)
			}
			if asked < 4 {
				return nil
			}
			return dead
		}, noShow)
		if !errors.Is(err, dead) || out.Run.ID != run.ID || asked != 4 || time.Since(begun) != 3*time.Second {
			t.Errorf("asked %d times in %v, %v", asked, time.Since(begun), err)
		}
		ctx, stop := context.WithCancelCause(t.Context())
		why := errors.New("seen enough")
		time.AfterFunc(1050*time.Millisecond, func() { stop(why) }) // between two looks
		if out, err := runs.Follow(ctx, w.store.For(user()), run.ID, event.ID{}, alive, noShow); !errors.Is(err, why) || out.Run.ID != run.ID {
			t.Errorf("run %s, %v", out.Run.ID, err)
		}
		time.AfterFunc(2*time.Second, func() { close(w.free) })
		begun = time.Now()
		var shown []time.Duration
		out, err = runs.Follow(t.Context(), w.store.For(user()), run.ID, event.ID{Attempt: 1, N: 2}, alive, func(event.Event) {
			shown = append(shown, time.Since(begun).Round(time.Second/2))
		})
		if err != nil || out.Run.Status != event.StatusSuccess {
			t.Errorf("run %+v, %v", out.Run, err)
		}
		if len(shown) == 0 || shown[0] != 2*time.Second {
			t.Errorf("events were shown after %v", shown)
		}
	})
}

// TestWorking: of the calls of the last step, those that have begun and not ended, in the order of their ids.
func TestWorking(t *testing.T) {
	s := newSite(t, []string{"early"}, []string{"slow", "quick", "look"})
	s.does("early")
	s.does("quick")
	slow, look := s.hangs("slow", tool.SideEffects), s.hangs("look", tool.SideEffects)
	begun := make(chan struct{})
	var open []string
	working := func(run store.Run) []string {
		t.Helper()
		calls, err := runs.Working(t.Context(), s.store.For(user()), run)
		if err != nil {
			t.Error(err)
		}
		var ids []string
		for _, c := range calls {
			ids = append(ids, c.CallID)
		}
		return ids
	}
	go func() {
		<-slow
		<-look
		s.waitForEnd("quick-1")
		list, err := s.store.For(user()).ListRuns(t.Context(), store.RunFilter{})
		if err != nil {
			t.Error(err)
		} else {
			open = working(list[0])
			list[0].ID = "another run"
			if other := working(list[0]); other != nil {
				t.Errorf("another run is at %q", other)
			}
		}
		close(begun)
	}()
	run := s.dies(begun)
	if d := cmp.Diff([]string{"look-1", "slow-1"}, open); d != "" {
		t.Error(d)
	}
	out, err := s.process("second").Resume(t.Context(), run, noShow)
	if err != nil || out.Run.Status != event.StatusSuccess {
		t.Fatalf("run %+v, %v", out.Run, err)
	}
	if got := working(out.Run); got != nil {
		t.Errorf("a run at its end is at %q", got)
	}
	fresh, err := s.process("third").For(user()).Admit(t.Context(), runs.Request{ThreadID: "new", UserID: "user", Input: []message.Message{message.New(message.Human, "go")}})
	if err != nil {
		t.Fatal(err)
	}
	if got := working(fresh); got != nil {
		t.Errorf("a run that has not begun is at %q", got)
	}
}

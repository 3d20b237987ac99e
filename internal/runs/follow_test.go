package runs_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// chats is a site whose first tool says more than anybody reads at once, and then asks.
func chats(t *testing.T) (*site, runs.Outcome) {
	t.Helper()
	s := newSite(t, []string{"chat"})
	s.tool("chat", tool.SideEffects, func(_ context.Context, _ int, c *tool.Call) (*tool.Result, error) {
		if c.Answer == nil {
			for i := range 1100 {
				c.Emit(map[string]int{"word": i})
			}
			return nil, &tool.InterruptError{Questions: []tool.Question{{Value: json.RawMessage(`"enough?"`)}}}
		}
		return tool.Text("said " + string(c.Answer)), nil
	})
	out := s.executes(s.process("one"), request())
	if out.Run.Status != event.StatusInterrupted {
		t.Fatalf("run %+v", out.Run)
	}
	return s, out
}

// TestAQuestionBehindALongLog is found, and its answer reaches the call.
func TestAQuestionBehindALongLog(t *testing.T) {
	s, _ := chats(t)
	m := s.process("two")
	if at, err := m.For(user()).Snapshot(t.Context(), "thread", ""); err != nil || len(at.Questions) != 1 ||
		at.Questions[0].CallID != "chat-0" {
		t.Errorf("questions %+v, %v", at.Questions, err)
	}
	out := s.executes(m, decided(`"yes"`))
	if got := s.results(); out.Run.Status != event.StatusSuccess || got["chat-0"] != `said "yes"` {
		t.Errorf("run %+v, results %v", out.Run, got)
	}
}

// TestWorking: of the calls of the last step, those that have begun and not ended, in the order of their ids.
func TestWorking(t *testing.T) {
	s := newSite(t, []string{"early"}, []string{"slow", "quick", "look"})
	s.does("early")
	s.does("quick")
	slow, look := s.hangs("slow", tool.SideEffects), s.hangs("look", tool.SideEffects)
	begun := make(chan struct{})
	var open []string
	working := func(run store.Run) (ids []string) {
		t.Helper()
		for range 10 { // in the same order each time
			calls, err := runs.Working(t.Context(), s.store.For(user()), run)
			if err != nil {
				t.Error(err)
			}
			before := ids
			ids = nil
			for _, c := range calls {
				ids = append(ids, c.CallID)
			}
			if before != nil && !slices.Equal(before, ids) {
				t.Errorf("%q after %q", ids, before)
			}
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
	fresh, err := s.process("third").For(user()).Admit(t.Context(),
		runs.Request{ThreadID: "new", UserID: "user", Input: []message.Message{message.New(message.Human, "go")}})
	if err != nil {
		t.Fatal(err)
	}
	if got := working(fresh); got != nil {
		t.Errorf("a run that has not begun is at %q", got)
	}
}

package runs_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/config"
	rules "github.com/pudu-ai/pudu/internal/feature/guardrail"
	"github.com/pudu-ai/pudu/internal/middleware/guardrail"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/tool"
)

// guarded is a process in which a person must approve every call but those of "look".
func (s *site) guarded(owner string) *runs.Manager {
	s.t.Helper()
	provider, err := rules.NewRules([]config.GuardrailRule{{Tools: config.Words{"look"}, Action: "allow"},
		{Action: "ask"}})
	if err != nil {
		s.t.Fatal(err)
	}
	a, err := agent.New(agent.Config{Model: s.model, Tools: s.tools},
		guardrail.New(guardrail.Config{Provider: provider}))
	if err != nil {
		s.t.Fatal(err)
	}
	return runs.NewManager(runs.Config{Store: s.store, Owner: owner, Now: s.now,
		Build: func(context.Context, runs.Job) (runs.Built, error) {
			return runs.Built{Agent: a, Close: func() error { return nil }}, nil
		}})
}

func (s *site) executes(m *runs.Manager, req runs.Request) runs.Outcome {
	s.t.Helper()
	run, err := m.For(user()).Admit(s.t.Context(), req)
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := m.Execute(s.t.Context(), run, noShow)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func decided(text string) runs.Request {
	return runs.Request{ThreadID: "thread", UserID: "user", Resume: json.RawMessage(text)}
}

func TestApprovalsAreGivenToAnotherProcess(t *testing.T) {
	s := newSite(t, []string{"push", "look", "drop"})
	s.does("push")
	s.does("look")
	s.does("drop")
	if out := s.executes(s.guarded("first"), request()); out.Run.Status != event.StatusInterrupted {
		t.Fatalf("run %+v", out.Run)
	}
	if diff := cmp.Diff(map[string]int{"look": 1}, s.calls); diff != "" {
		t.Fatalf("before the approval: %s", diff)
	}
	second := s.guarded("second")
	asked, err := second.For(user()).Snapshot(t.Context(), "thread", "")
	if err != nil || len(asked.Questions) != 2 ||
		!strings.Contains(string(asked.Questions[1].Value), `{"action_requests":[{"name":"drop","args":{},`) {
		t.Fatalf("%+v, %v", asked.Questions, err)
	}
	out := s.executes(second, decided(`{"decisions":[{"type":"approve"},{"type":"reject","message":"no way"}]}`))
	want := map[string]string{"push-0": "push done", "look-0": "look done",
		"drop-0": "The user did not allow this call; it was not executed. They say: no way"}
	if diff := cmp.Diff(want, s.results()); diff != "" || out.Run.Status != event.StatusSuccess {
		t.Errorf("%s, run %+v", diff, out.Run)
	}
	if diff := cmp.Diff(map[string]int{"push": 1, "look": 1}, s.calls); diff != "" {
		t.Error(diff)
	}
}

func TestApprovalsComeOneByOne(t *testing.T) {
	s := newSite(t, []string{"push", "drop"})
	s.does("push")
	s.does("drop")
	m := s.guarded("first")
	s.executes(m, request())
	for n, approved := range []int{1, 2} {
		asked, err := m.For(user()).Snapshot(t.Context(), "thread", "")
		if err != nil || len(asked.Questions) != 2-n {
			t.Fatalf("%d questions, %v", len(asked.Questions), err)
		}
		last := asked.Questions[len(asked.Questions)-1]
		s.executes(m, decided(`{"`+last.InterruptID+`":{"decisions":[{"type":"approve"}]}}`))
		if len(s.calls) != approved {
			t.Errorf("%d approvals, calls %v", approved, s.calls)
		}
	}
}

func TestDecisionsThatDoNotFitTheQuestionsRunNothing(t *testing.T) {
	s := newSite(t, []string{"push", "drop"})
	s.does("push")
	s.does("drop")
	m := s.guarded("first")
	s.executes(m, request())
	for answer, want := range map[string]string{
		`{"decisions":[{"type":"approve"}]}`: "2 calls wait for approval and the answer has 1 decisions",
		`"yes"`:                              "2 calls wait for an answer",
	} {
		if out := s.executes(m, decided(answer)); out.Run.Status != event.StatusError ||
			!strings.Contains(out.Run.Error, want) || len(s.calls) != 0 {
			t.Errorf("%s: %s %q, calls %v", answer, out.Run.Status, out.Run.Error, s.calls)
		}
	}
}

// TestAnApprovalOutlivesTheProcess: the process dies while the approved call runs; nobody is asked again.
func TestAnApprovalOutlivesTheProcess(t *testing.T) {
	s := newSite(t, []string{"push"})
	begun := s.hangs("push", tool.Idempotent)
	first := s.guarded("first")
	s.executes(first, request())
	run, err := first.For(user()).Admit(t.Context(), decided(`{"decisions":[{"type":"approve"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-begun
		first.Stop()
	}()
	if _, err := first.Execute(t.Context(), run, noShow); err == nil {
		t.Fatal("the process lived")
	}
	out, err := s.guarded("second").Resume(t.Context(), s.unfinished("second"), noShow)
	if err != nil || out.Run.Status != event.StatusSuccess {
		t.Fatalf("run %+v, error %v", out.Run, err)
	}
	if diff := cmp.Diff(map[string]string{"push-0": "push done"}, s.results()); diff != "" {
		t.Error(diff)
	}
}

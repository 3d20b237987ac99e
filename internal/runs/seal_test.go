package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// TestTheURLOfAWebhookIsSealed: the database has it sealed for its user alone, who is called has it as it was given; a
// run whose URL cannot be sealed is not taken in.
func TestTheURLOfAWebhookIsSealed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWard(t)
		var called []string
		var m *runs.Manager
		broken := false
		m, stop := w.served("a", func(c *runs.Config) {
			c.Seal = func(u access.User, text string) (string, error) {
				if broken {
					return "", errors.New("no key")
				}
				return "sealed for " + u.ID() + ":" + strings.ToUpper(text), nil
			}
			c.Unseal = func(u access.User, text string) (string, error) {
				text, ok := strings.CutPrefix(text, "sealed for "+u.ID()+":")
				if !ok {
					return "", errors.New("it is another's")
				}
				return strings.ToLower(text), nil
			}
			c.Notify = func(_ context.Context, run store.Run) error {
				req, err := runs.RequestOf(run)
				if err != nil {
					return err
				}
				url, err := m.Webhook(run, req)
				called = append(called, url)
				return err
			}
		})
		defer stop()
		req := ordered("answer")
		req.Webhook = "http://hook/secret"
		run := w.submit(m, req)
		w.wants(run, event.StatusSuccess)
		w.wants(w.submit(m, ordered("answer")), event.StatusSuccess) // without a webhook nothing is sealed
		time.Sleep(time.Minute)
		kept, err := w.store.For(user()).Run(t.Context(), run.ID)
		if err != nil || strings.Contains(string(kept.Request), "secret") ||
			!strings.Contains(string(kept.Request), "sealed for user:HTTP") {
			t.Errorf("the database has %s, %v", kept.Request, err)
		}
		if d := cmp.Diff([]string{"http://hook/secret"}, called); d != "" {
			t.Errorf("called (-want +got):\n%s", d)
		}
		broken = true
		if run, err := m.For(user()).Submit(t.Context(), req); err == nil || !strings.Contains(err.Error(), "no key") {
			t.Errorf("a run was taken in: %+v, %v", run, err)
		}
	})
}

// TestDecisionsOfARequest: what it says about the calls that wait for approval, by their ids; of what answers nothing
// there is none.
func TestDecisionsOfARequest(t *testing.T) {
	s := newSite(t, []string{"push", "drop"})
	s.does("push")
	s.does("drop")
	m := s.guarded("first")
	s.executes(m, request())
	want := map[string]string{"push-0": "approve", "drop-0": "reject"}
	got, err := m.For(user()).Decisions(t.Context(), decided(`{"decisions":[{"type":"approve"},{"type":"reject"}]}`))
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	if got, err := m.For(user()).Decisions(t.Context(), request()); err != nil || len(got) > 0 {
		t.Errorf("of no answer: %v, %v", got, err)
	}
	one := runs.Request{ThreadID: "thread", UserID: "user",
		Answers: map[string]json.RawMessage{"drop-0": json.RawMessage(`{"decisions":[{"type":"reject"}]}`)}}
	if got, err := m.For(user()).Decisions(t.Context(), one); err != nil ||
		cmp.Diff(map[string]string{"drop-0": "reject"}, got) != "" {
		t.Errorf("one answer: %v, %v", got, err)
	}
	if got, err := m.For(user()).Decisions(t.Context(), decided(`"yes"`)); err == nil {
		t.Errorf("an answer that fits none: %v", got)
	}
}

// TestACallThatAsksSeveralThings: its questions are open side by side until each is answered, by whichever run; answers
// are by their ids, and what is written of them names each. An answer that fits none leaves all open.
func TestACallThatAsksSeveralThings(t *testing.T) {
	s := newSite(t, []string{"ask", "more"})
	var known sync.Map // to who has asked, such as a run below
	for _, name := range []string{"ask", "more"} {
		s.tool(name, tool.Idempotent, func(_ context.Context, _ int, c *tool.Call) (*tool.Result, error) {
			var open []tool.Question
			for id := range c.Answers {
				known.Store(id, true)
			}
			for i := range 3 {
				id := fmt.Sprint(c.ID, " ", i)
				if _, ok := known.Load(id); !ok {
					open = append(open,
						tool.Question{ID: id, Value: approval.Ask(tool.Call{Name: "bash"}, "", "").Questions[0].Value})
				}
			}
			if len(open) > 0 {
				return nil, &tool.InterruptError{Questions: open}
			}
			return tool.Text("done"), nil
		})
	}
	m := s.process("one")
	asked := func(want ...string) {
		t.Helper()
		snap, err := m.For(user()).Snapshot(t.Context(), "thread", "")
		var got []string
		for _, q := range snap.Questions {
			got = append(got, q.InterruptID)
		}
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Fatalf("%v (-want +got):\n%s", err, d)
		}
	}
	approve := func(ids ...string) runs.Request {
		answers := make(map[string]json.RawMessage)
		for _, id := range ids {
			answers[id] = json.RawMessage(`{"decisions":[{"type":"approve"}]}`)
		}
		raw, _ := json.Marshal(answers)
		return decided(string(raw))
	}
	all := []string{"ask-0 0", "ask-0 1", "ask-0 2", "more-0 0", "more-0 1", "more-0 2"}
	s.executes(m, request())
	asked(all...)
	if out := s.executes(m, approve("ask-0 9")); out.Run.Status != event.StatusError {
		t.Errorf("an answer to nothing: %+v", out.Run)
	}
	asked(all...)
	two := approve("ask-0 0", "more-0 2")
	said, err := m.For(user()).Decisions(t.Context(), two)
	if d := cmp.Diff(map[string]string{"ask-0/ask-0 0": "approve", "more-0/more-0 2": "approve"}, said); err != nil ||
		d != "" {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	s.executes(m, two)
	asked("ask-0 1", "ask-0 2", "more-0 0", "more-0 1")
	s.executes(m, approve("ask-0 2", "ask-0 1"))
	asked("more-0 0", "more-0 1")
	if out := s.executes(m, approve("more-0 0", "more-0 1")); out.Run.Status != event.StatusSuccess {
		t.Errorf("%+v", out.Run)
	}
	asked()
}

// TestAnInputThatCannotBeMade ends its run, which asks no model.
func TestAnInputThatCannotBeMade(t *testing.T) {
	b := newBed(t, fakeModel(nil))
	gone := message.New(message.Remove, "")
	gone.ID = "m9"
	run, err := b.manager.For(user()).
		Admit(t.Context(), runs.Request{ThreadID: "thread", UserID: "user", Input: []message.Message{gone}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.manager.Execute(t.Context(), run, b.show)
	if err != nil || out.Run.Status != event.StatusError || !strings.Contains(out.Run.Error, "input: ") {
		t.Errorf("%+v, %v", out.Run, err)
	}
}

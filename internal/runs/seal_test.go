package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// TestTheURLOfAWebhookIsSealed: the database has it sealed for its user alone, who is called has it as it was given; a run
// whose URL cannot be sealed is not taken in.
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
		if err != nil || strings.Contains(string(kept.Request), "secret") || !strings.Contains(string(kept.Request), "sealed for user:HTTP") {
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

// TestDecisionsOfARequest: what it says about the calls that wait for approval, by their ids; of what answers nothing there is none.
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
	one := runs.Request{ThreadID: "thread", UserID: "user", Answers: map[string]json.RawMessage{"drop-0": json.RawMessage(`{"decisions":[{"type":"reject"}]}`)}}
	if got, err := m.For(user()).Decisions(t.Context(), one); err != nil || cmp.Diff(map[string]string{"drop-0": "reject"}, got) != "" {
		t.Errorf("one answer: %v, %v", got, err)
	}
	if got, err := m.For(user()).Decisions(t.Context(), decided(`"yes"`)); err == nil {
		t.Errorf("an answer that fits none: %v", got)
	}
}

// TestAnInputThatCannotBeMade ends its run, which asks no model.
func TestAnInputThatCannotBeMade(t *testing.T) {
	b := newBed(t, fakeModel(nil))
	gone := message.New(message.Remove, "")
	gone.ID = "m9"
	run, err := b.manager.For(user()).Admit(t.Context(), runs.Request{ThreadID: "thread", UserID: "user", Input: []message.Message{gone}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.manager.Execute(t.Context(), run, b.show)
	if err != nil || out.Run.Status != event.StatusError || !strings.Contains(out.Run.Error, "input: ") {
		t.Errorf("%+v, %v", out.Run, err)
	}
}

package runs_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

// lastWord is a last node that fails the first time.
type lastWord struct{ asked *int }

var _ agent.AfterAgentHook = lastWord{}

func (lastWord) Name() string { return "LastWord" }
func (l lastWord) AfterAgent(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	if *l.asked++; *l.asked == 1 {
		return agent.Command{}, errors.New("not yet")
	}
	return agent.Command{}, nil
}

// TestARunThatFailedInItsLastNodeGoesOn there. With one that succeeded there is nothing to go on with, also when it was
// deleted.
func TestARunThatFailedInItsLastNodeGoesOn(t *testing.T) {
	var asked int
	b := newBed(t, fakeModel(counts), lastWord{&asked})
	goOn := func() runs.Outcome {
		run, err := b.manager.For(user()).
			Admit(t.Context(), runs.Request{ThreadID: "thread", UserID: "user", Continue: true})
		if err != nil {
			t.Fatal(err)
		}
		out, err := b.manager.Execute(t.Context(), run, b.show)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	failed := b.run(t.Context(), "go")
	if failed.Run.Status != event.StatusError || asked != 1 {
		t.Fatalf("%s, %d", failed.Run.Status, asked)
	}
	again := goOn()
	if again.Run.Status != event.StatusSuccess || asked != 2 {
		t.Errorf("it goes on with %s (%s), its last node was entered %d times", again.Run.Status, again.Run.Error,
			asked)
	}
	ended := b.run(t.Context(), "go")
	if none := goOn(); !strings.Contains(none.Run.Error, runs.ErrNothingToDo.Error()) {
		t.Errorf("after its end: %s %q", none.Run.Status, none.Run.Error)
	}
	if err := b.store.For(user()).DeleteRun(t.Context(), ended.Run.ID); err != nil {
		t.Fatal(err)
	}
	if none := goOn(); !strings.Contains(none.Run.Error, runs.ErrNothingToDo.Error()) || asked != 3 {
		t.Errorf("after it was deleted: %s %q, %d", none.Run.Status, none.Run.Error, asked)
	}
}

// TestARunThatIsToBeginNowhere fails, and says what there is no node of.
func TestARunThatIsToBeginNowhere(t *testing.T) {
	b := newBed(t, fakeModel(counts))
	run, err := b.manager.For(user()).
		Admit(t.Context(), runs.Request{ThreadID: "thread", UserID: "user", Goto: "nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.manager.Execute(t.Context(), run, b.show)
	if err != nil || out.Run.Status != event.StatusError || !strings.Contains(out.Run.Error, "nowhere") {
		t.Errorf("%s %q, %v", out.Run.Status, out.Run.Error, err)
	}
}

// TestARollbackThatComesTooLate changes nothing: the run has come to its end, and is a success with all that it did.
func TestARollbackThatComesTooLate(t *testing.T) {
	w := newWard(t)
	var m *runs.Manager
	m = w.process("a", func(c *runs.Config) {
		build := c.Build
		c.Build = func(ctx context.Context, job runs.Job) (runs.Built, error) {
			b, err := build(ctx, job)
			b.Close = func() error { // all nodes are done
				_, err := m.For(user()).Cancel(t.Context(), job.Run.ID, store.StopRollback)
				return err
			}
			return b, err
		}
	})
	run, err := m.For(user()).Admit(t.Context(), ordered("answer"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Execute(t.Context(), run, noShow)
	if err != nil || out.Run.Status != event.StatusSuccess {
		t.Errorf("%s %q, %v", out.Run.Status, out.Run.Error, err)
	}
	if diff := cmp.Diff([]string{"answer", "done: answer"}, w.texts(m)); diff != "" {
		t.Error(diff)
	}
}

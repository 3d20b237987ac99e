package replay_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/models/scripted"
	"github.com/pudu-ai/pudu/internal/replay"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

func TestTheFirstDifference(t *testing.T) {
	one := []scripted.Turn{
		{ToolCalls: []scripted.Call{call("a", "fail", `{"text":"A"}`), call("b", "greet", `{"text":"B"}`)}},
		{ToolCalls: []scripted.Call{call("c", "long", `{"text":"C"}`)}}, done,
	}
	for name, tt := range map[string]struct {
		greeting string
		edit     func(*replay.Recording)
		want     []string
	}{
		"a tool says something else": {"Howdy", func(*replay.Recording) {}, []string{
			"turn 1, call 2 of 2: greet (b): the result differs", "- Hello, B!", "+ Howdy, B!"}},
		"a long text differs": {"Howdy", func(r *replay.Recording) { r.Turns[0].Calls[1].Result.Text = nil }, []string{
			"turn 2, call 1 of 1: long (c): the result differs", "- CHello", "+ CHowdy"}},
		"a status": {"Hello", func(r *replay.Recording) { r.Turns[0].Calls[0].Result.Status = "success" }, []string{
			`turn 1, call 1 of 2: fail (a): the status is "error", recorded "success"`}},
		"an artifact": {"Hello",
			func(r *replay.Recording) { r.Turns[0].Calls[1].Result.Artifact = replay.Value(`{"n":2}`) }, []string{
				"call 2 of 2: greet (b): the artifact differs", `-   "n": 2`, `+   "n": 1.50`}},
		"an answer too much": {"Hello", func(r *replay.Recording) { r.Turns[0].Calls[0].Result = nil }, []string{
			"call 1 of 2: fail (a): the call is answered, in the recording it is not", "cannot A"}},
		"one more call of the model": {"Hello", func(r *replay.Recording) { r.Turns = r.Turns[:2] }, []string{
			"the end: the model is asked once more than the 2 recorded times", "6 messages, the last from tool"}},
		"one call of the model less": {"Hello", func(r *replay.Recording) { r.Turns[0].Calls = nil }, []string{
			"turn 2: the model was not asked any more; the run ended before"}},
		"the status of the run": {"Hello", func(r *replay.Recording) { r.After.Status = event.StatusError }, []string{
			"the end: the run ended otherwise", "- status: error", "+ status: success"}},
		"a message": {"Hello", func(r *replay.Recording) { r.After.Messages = r.After.Messages[:6] }, []string{
			"message 7 of the conversation differs", "- (none)", "+ turn 3"}},
		"a channel": {"Hello", func(r *replay.Recording) { r.After.Channels["title"] = replay.Value(`"Else"`) },
			[]string{
				`the channel "title" differs`, `- "Else"`, `+ "Greetings"`}},
		"a question": {"Hello", func(r *replay.Recording) { r.After.Questions = []replay.Question{{Call: "a"}} },
			[]string{
				"the questions to a human differ"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := original(t, turns(one...), 0, "please")
			r := p.record(t, "")
			tt.edit(r)
			wantDifference(t, r, tt.greeting, tt.want...)
		})
	}
}

func TestWhatIsDeletedIsNotCompared(t *testing.T) {
	p, _ := original(t, turns(scripted.Turn{ToolCalls: []scripted.Call{call("a", "greet", `{"text":"A"}`)}}, done), 0,
		"please")
	r := p.record(t, "")
	r.Turns[0].Calls[0].Result.Text = nil
	report, err := play(t, r, "Howdy", "")
	if err != nil || report.Difference != nil {
		t.Errorf("%v, %v", err, report.Difference)
	}
}

func wantRefusal(t *testing.T, p *plant, runID, want string) {
	t.Helper()
	_, err := replay.Record(t.Context(), replay.Source{Store: p.Store.For(p.User)}, "thread", runID)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestRunsThatCannotBeRecorded(t *testing.T) {
	p, list := original(t, turns(done), 0, "please")
	if _, err := replay.Record(t.Context(), replay.Source{Store: p.Store.For(p.User)}, "other", ""); err == nil ||
		!strings.Contains(err.Error(), "no thread") {
		t.Errorf("of no thread: %v", err)
	}
	wantRefusal(t, p, "none", `has no run "none"`)
	run, err := p.Manager.For(p.User).Admit(t.Context(), runs.Request{ThreadID: "thread"})
	if err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, p, run.ID, "is not at its end (running)")
	if r := p.record(t, ""); r.Run != list[0].ID {
		t.Errorf("recorded %s, not the last finished run", r.Run)
	}
	if err := p.Manager.Fail(t.Context(), run, errors.New("enough")); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, p, "", "goes on with an answer to a question")
}

// TestARunThatACrashCutOff commits what a resumed run would have.
func TestARunThatACrashCutOff(t *testing.T) {
	p, _ := original(t, turns(done), 0)
	run, err := p.Manager.For(p.User).
		Admit(t.Context(), runs.Request{ThreadID: "thread", Input: []message.Message{message.New(message.Human, "go")}})
	if err != nil {
		t.Fatal(err)
	}
	asked := message.Message{ID: "m1", Role: message.AI,
		ToolCalls: []message.ToolCall{{ID: "c1", Name: "bash", Args: json.RawMessage(`{}`)}}}
	answer := message.Message{ID: "m2", Role: message.Tool, Name: "bash", ToolCallID: "c1", Status: message.StatusError,
		Content: []message.Part{message.Text("unknown")},
		Kwargs:  message.Fields{message.KeyOutcomeUnknown: json.RawMessage("true")}}
	n := int64(1) // the admission has written the first event
	cp, err := p.Store.For(p.User).Checkpoint(t.Context(), nil, "thread", "")
	if err != nil {
		t.Fatal(err)
	}
	last := cp.State
	for _, u := range []store.NodeUpdate{{Node: agent.NodeModel, Update: agent.Messages.Append(asked)},
		{Node: agent.NodeTools, Update: agent.Messages.Append(answer)}} {
		if last, _, err = last.Apply(u.Update); err != nil {
			t.Fatal(err)
		}
		n++
		ev := event.Event{ID: event.ID{Attempt: 1, N: n}, Time: time.Now(), Node: u.Node, Data: event.State{}}
		step := store.Step{Updates: []store.NodeUpdate{u}, State: last, Events: []event.Event{ev}, Now: time.Now()}
		if n == 3 {
			step.Run = &store.RunChange{Status: event.StatusSuccess}
		}
		if _, err := p.Store.System().Commit(t.Context(), store.Fence{RunID: run.ID, Attempt: 1}, step); err != nil {
			t.Fatal(err)
		}
	}
	wantRefusal(t, p, "", "a crash cut off its call c1 of bash")
}

func TestCancelledWhileToolsRan(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	p, _ := original(t, turns(scripted.Turn{ToolCalls: []scripted.Call{call("a", "wait", `{}`)}}), 0)
	p.waiting = func() { cancel(runs.ErrCancelled) }
	if run := p.carryOut(t, ctx, "please", 0); run.StopReason != store.Cancelled {
		t.Fatalf("the run ended as %s", run.Status)
	}
	wantRefusal(t, p, "", "cancelled while its tools ran")
}

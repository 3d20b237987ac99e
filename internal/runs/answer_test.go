package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/middleware/clarification"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/tools/clarify"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// asking makes processes whose model asks its first human a question, and waits with the answer to who says "wait".
func (w *ward) asking(c *runs.Config) {
	w.t.Helper()
	plain := w.model()
	m := fakeModel(func(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
		if last := req.Messages[len(req.Messages)-1]; last.Text() == "paint" {
			return chunks(message.Chunk{ToolCalls: []message.ToolCallChunk{{ID: "q", Name: "ask_clarification",
				Args: `{"question":"Which colour?"}`}}},
				message.Chunk{FinishReason: "tool_calls"})
		}
		return plain(ctx, req)
	})
	a, err := agent.New(agent.Config{Model: m, Tools: []tool.Tool{clarify.New()}},
		clarification.New(clarification.Config{}))
	if err != nil {
		w.t.Fatal(err)
	}
	c.Build = func(context.Context, runs.Job) (runs.Built, error) {
		return runs.Built{Agent: a, Close: func() error { return nil }}, nil
	}
}

func resumed(value string) runs.Request {
	return runs.Request{ThreadID: "thread", UserID: "user", Resume: json.RawMessage(value)}
}

func TestAResumeIsTheAnswerToAClarification(t *testing.T) {
	for _, c := range []struct{ resume, said string }{
		{`"blue"`, "blue"},
		{`{"clarification:q":"blue"}`, `Answer to your question "Which colour?": blue`},
	} {
		w := newWard(t)
		m := w.serving("a", w.asking)
		w.wants(w.submit(m, ordered("paint")), event.StatusSuccess)
		run := w.wants(w.submit(m, resumed(c.resume)), event.StatusSuccess)
		texts := w.texts(m)
		if d := cmp.Diff([]string{c.said, "done: " + c.said}, texts[len(texts)-2:]); d != "" {
			t.Error(d)
		}
		if got := warnings(t, run); got != nil {
			t.Errorf("warnings %q", got)
		}
	}
}

func TestAResumeThatIsNoAnswerIsRefused(t *testing.T) {
	w := newWard(t)
	m := w.serving("a", w.asking)
	known := ordered("answer")
	known.Key = "once"
	first := w.wants(w.submit(m, known), event.StatusSuccess)
	w.wants(w.submit(m, ordered("paint")), event.StatusSuccess)
	if _, err := m.For(user()).Submit(t.Context(), resumed(`[1]`)); !errors.Is(err, runs.ErrBadAnswer) {
		t.Errorf("error %v", err)
	}
	list, err := w.store.For(user()).ListRuns(t.Context(), store.RunFilter{ThreadID: "thread"})
	if err != nil || len(list) != 2 {
		t.Errorf("%d runs, %v", len(list), err)
	}
	again := resumed(`[1]`) // what was asked for once is not looked at again
	again.Key = known.Key
	if run, err := m.For(user()).Submit(t.Context(), again); err != nil || run.ID != first.ID {
		t.Errorf("run %s, %v, want %s", run.ID, err, first.ID)
	}
	// Another user hears nothing of the question.
	if _, err := m.For(access.FromRow("another")).Submit(t.Context(), resumed(`[1]`)); errors.Is(err,
		runs.ErrBadAnswer) {
		t.Errorf("another user is told: %v", err)
	}
}

// TestAResumeOfNothingSaysSo: the state stays as it is, and the run's metadata tells.
func TestAResumeOfNothingSaysSo(t *testing.T) {
	w := newWard(t)
	m := w.serving("a", w.asking)
	w.wants(w.submit(m, ordered("answer")), event.StatusSuccess)
	before := w.texts(m)
	req := resumed(`"blue"`)
	req.Metadata = json.RawMessage(`{"mine":1,"pudu_warnings":["one"]}`)
	run := w.wants(w.submit(m, req), event.StatusSuccess)
	if d := cmp.Diff(before, w.texts(m)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"one", "command.resume: nothing was resumed, because the thread waits for no answer"},
		warnings(t, run)); d != "" {
		t.Error(d)
	}
}

// TestAResumeThatWaitsAnswersWhatIsAskedThen: what the run before it asks is not known when it is admitted.
func TestAResumeThatWaitsAnswersWhatIsAskedThen(t *testing.T) {
	for _, c := range []struct{ resume, status string }{{`"blue"`, event.StatusSuccess}, {`[1]`, event.StatusError}} {
		w := newWard(t)
		m := w.serving("a", w.asking)
		first := w.waiting(m)
		paint := ordered("paint")
		paint.Strategy = store.Enqueue
		answer := resumed(c.resume)
		answer.Strategy = store.Enqueue
		second, third := w.submit(m, paint), w.submit(m, answer)
		close(w.free)
		w.wants(first, event.StatusSuccess)
		w.wants(second, event.StatusSuccess)
		w.wants(third, c.status)
		texts := w.texts(m)
		if last := texts[len(texts)-1]; (last == "done: blue") != (c.status == event.StatusSuccess) {
			t.Errorf("the thread ends with %q", last)
		}
	}
}

// TestAnAnswerThatAnotherRunBringsSaysSo: of two people who answer the same question at once, the second is told.
func TestAnAnswerThatAnotherRunBringsSaysSo(t *testing.T) {
	w := newWard(t)
	m := w.serving("a", w.asking)
	first := w.waiting(m)
	const told = "command.resume: another run brings an answer to this already; this one has an effect only if it is asked again"
	for i, c := range []struct {
		ids  []string
		want []string
	}{{[]string{"q1"}, nil}, {[]string{"q1"}, []string{told}}, {[]string{"q1", "q2"}, nil},
		{[]string{"q2", "q1"}, []string{told}}} {
		req := runs.Request{ThreadID: "thread", UserID: "user", Strategy: store.Enqueue,
			Answers: map[string]json.RawMessage{}}
		for _, id := range c.ids {
			req.Answers[id] = json.RawMessage(`"yes"`)
		}
		if d := cmp.Diff(c.want, warnings(t, w.submit(m, req))); d != "" {
			t.Errorf("answer %d: %s", i+1, d)
		}
	}
	close(w.free)
	w.wants(first, event.StatusSuccess)
}

func warnings(t *testing.T, run store.Run) []string {
	t.Helper()
	var req struct {
		Metadata struct {
			Warnings []string `json:"pudu_warnings"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(run.Request, &req); err != nil {
		t.Fatal(err)
	}
	return req.Metadata.Warnings
}

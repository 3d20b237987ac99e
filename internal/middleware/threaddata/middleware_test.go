package threaddata

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
)

// fakeModel answers "done" and keeps the last request.
type fakeModel struct{ seen []message.Message }

func (*fakeModel) Name() string { return "test/fake" }

func (f *fakeModel) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	f.seen = req.Messages
	return func(yield func(message.Chunk, error) bool) {
		yield(message.Chunk{Text: "done", FinishReason: "stop"}, nil)
	}
}

var noon = time.Date(2026, 3, 4, 12, 0, 0, 5000, time.FixedZone("CET", 3600))

func human(id, name string) message.Message {
	m := message.New(message.Human, "hello")
	m.ID, m.Name = id, name
	return m
}

func withMessages(t *testing.T, msgs ...message.Message) state.State {
	t.Helper()
	s, _, err := state.State{}.Apply(agent.Messages.Append(msgs...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// before runs the hook and returns the state after it, and whether it changed anything.
func before(t *testing.T, s state.State, runID string, now time.Time) (state.State, bool) {
	t.Helper()
	rt := &agent.Runtime{RunID: runID, Now: func() time.Time { return now }}
	cmd, err := New().BeforeAgent(t.Context(), rt, s)
	if err != nil {
		t.Fatal(err)
	}
	s, changed, err := s.Apply(cmd.Update)
	if err != nil {
		t.Fatal(err)
	}
	return s, len(changed) > 0
}

func TestRunSeesFoldersAndStampedMessage(t *testing.T) {
	m := &fakeModel{}
	a, err := agent.New(agent.Config{Model: m}, New())
	if err != nil {
		t.Fatal(err)
	}
	rt := &agent.Runtime{RunID: "r1", Now: func() time.Time { return noon },
		Input: agent.Messages.Append(human("1", ""), human("2", ""))}
	s, err := a.Run(t.Context(), rt, state.State{})
	if err != nil {
		t.Fatal(err)
	}
	values, err := s.Values()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"workspace_path":"/mnt/user-data/workspace","uploads_path":"/mnt/user-data/uploads","outputs_path":"/mnt/user-data/outputs"}`
	if diff := cmp.Diff(want, string(values["thread_data"])); diff != "" {
		t.Error(diff)
	}
	first, last := m.seen[0], m.seen[1]
	if first.Name != "" || first.Kwargs != nil {
		t.Errorf("an earlier message was stamped: %+v", first)
	}
	if last.Name != "user-input" || string(last.Kwargs["run_id"]) != `"r1"` ||
		string(last.Kwargs["timestamp"]) != `"2026-03-04T11:00:00.000005+00:00"` {
		t.Errorf("message %q with %s", last.Name, last.Kwargs)
	}
}

func TestOwnNameAndKwargsStay(t *testing.T) {
	in := human("1", "alice")
	in.Kwargs = message.Fields{"files": []byte("[]")}
	s, _ := before(t, withMessages(t, in), "r1", noon)
	got := agent.Messages.Get(s)[0]
	if got.Name != "alice" || string(got.Kwargs["files"]) != "[]" || len(got.Kwargs) != 3 || len(in.Kwargs) != 1 {
		t.Errorf("message %+v, input %v", got, in.Kwargs)
	}
}

func TestOnlyAHumanMessageAtTheEndIsStamped(t *testing.T) {
	answer := message.New(message.AI, "hi")
	answer.ID = "2"
	for name, s := range map[string]state.State{"none": {}, "answer last": withMessages(t, human("1", ""), answer)} {
		t.Run(name, func(t *testing.T) {
			got, _ := before(t, s, "r1", noon)
			if diff := cmp.Diff(agent.Messages.Get(s), agent.Messages.Get(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSecondRunOfTheHookChangesNothing(t *testing.T) {
	s, changed := before(t, withMessages(t, human("1", "")), "r1", noon)
	if !changed {
		t.Fatal("the first run of the hook changed nothing")
	}
	if _, changed := before(t, s, "r1", noon.Add(time.Hour)); changed {
		t.Error("the same run stamps its message twice")
	}
	s, _ = before(t, s, "r2", noon)
	if got := string(agent.Messages.Get(s)[0].Kwargs["run_id"]); got != `"r2"` {
		t.Errorf("another run that answers the message must stamp it anew, got %s", got)
	}
	if threadstate.ThreadData.Get(s).OutputsPath != "/mnt/user-data/outputs" {
		t.Error("the folders are lost")
	}
}

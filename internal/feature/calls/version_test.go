package calls_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/calls"
	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
)

// golden is a call as a version kept it: the state that it was made of, what the log has, and what was sent.
type golden struct {
	State    map[string]json.RawMessage `json:"state"`
	Sent     json.RawMessage            `json:"sent"`
	Messages []message.Message          `json:"messages"`
}

// TestWhatVersionsKept: what this version makes of a state is what the version made that wrote the file. When this
// fails because [conversation.AppendSent] or [compaction.Project] has changed, the form gets a new number, and the old
// functions stay for the old one: else what was sent before could not be told any more.
func TestWhatVersionsKept(t *testing.T) {
	names, err := filepath.Glob("testdata/v*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("%v, %v", names, err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var g golden
		if err := json.Unmarshal(raw, &g); err != nil {
			t.Fatal(err)
		}
		schema, err := state.NewSchema(append(agent.Channels(), compaction.Channel)...)
		if err != nil {
			t.Fatal(err)
		}
		s, err := schema.Load(g.State)
		if err != nil {
			t.Fatal(err)
		}
		msgs, whole, err := calls.Of(g.Sent, s, agent.Messages.Get(s))
		if err != nil || !whole {
			t.Errorf("%s: whole %v, %v", name, whole, err)
		}
		if d := cmp.Diff(written(&model.Request{Messages: g.Messages}), written(&model.Request{Messages: msgs}),
			cmp.AllowUnexported(received{})); d != "" {
			t.Errorf("%s (-then +now):\n%s", name, d)
		}
	}
}

package sandbox

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// resident is a space of which the instances in the list live.
type resident struct {
	sandbox.Space
	alive []string
}

func (r resident) Alive(instance string) bool { return slices.Contains(r.alive, instance) }

func withBackground(t *testing.T, list ...threadstate.BackgroundProcesses) state.State {
	t.Helper()
	s, _, err := (state.State{}).Apply(threadstate.Background.Put(list))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// before runs the hook and returns the messages that it added and the list after it.
func before(t *testing.T, space sandbox.Space, s state.State) ([]message.Message, []threadstate.BackgroundProcesses) {
	t.Helper()
	cmd, err := New(Config{Space: space}).BeforeModel(t.Context(), &agent.Runtime{RunID: "r"}, s)
	if err != nil || cmd.Goto != "" {
		t.Fatal(cmd.Goto, err)
	}
	s, _, err = s.Apply(cmd.Update)
	if err != nil {
		t.Fatal(err)
	}
	return agent.Messages.Get(s), threadstate.Background.Get(s)
}

var (
	server = threadstate.BackgroundProcesses{Instance: "old", Command: "python3 -m http.server", Count: 2,
		Log: "/mnt/x.log"}
	second = threadstate.BackgroundProcesses{Instance: "old", Command: "sleep 600", Count: 1}
	young  = threadstate.BackgroundProcesses{Instance: "new", Command: "watch", Count: 1}
)

func TestGoneBackgroundProcessesAreReported(t *testing.T) {
	s := withBackground(t, server, young, second)
	msgs, left := before(t, resident{alive: []string{"new"}}, s)
	if diff := cmp.Diff([]threadstate.BackgroundProcesses{young}, left); diff != "" || len(msgs) != 1 {
		t.Fatalf("%d messages\n%s", len(msgs), diff)
	}
	m := msgs[0]
	if m.Role != message.Human || string(m.Kwargs[message.KeyHidden]) != "true" || m.ID == "" {
		t.Errorf("message %+v", m)
	}
	want := "- 2 of: python3 -m http.server\n  printed to /mnt/x.log\n- 1 of: sleep 600\n</system-reminder>"
	if !strings.HasPrefix(m.Text(), "<system-reminder>\n") || !strings.HasSuffix(m.Text(), want) {
		t.Errorf("text %q", m.Text())
	}
	again, _ := before(t, resident{alive: []string{"new"}}, s)
	if diff := cmp.Diff(msgs, again); diff != "" {
		t.Errorf("a second run of the hook differs: %s", diff)
	}
}

func TestNothingIsReported(t *testing.T) {
	for _, tt := range []struct {
		name  string
		space sandbox.Space
		s     state.State
		left  int
	}{
		{"nothing in the background", resident{}, state.State{}, 0},
		{"all alive", resident{alive: []string{"old"}}, withBackground(t, server, second), 2},
		{"a space that cannot tell", &space{}, withBackground(t, server), 1},
	} {
		if msgs, left := before(t, tt.space, tt.s); len(msgs) > 0 || len(left) != tt.left {
			t.Errorf("%s: %d messages, %d left", tt.name, len(msgs), len(left))
		}
	}
}

// TestBackgroundSurvivesTheStore: the list must be readable from what is stored, and is not for clients.
func TestBackgroundSurvivesTheStore(t *testing.T) {
	s := withBackground(t, server)
	values, err := s.Values()
	if _, ok := values[threadstate.Background.Name()]; ok || err != nil {
		t.Errorf("clients see %v, %v", values, err)
	}
	raw, err := json.Marshal(threadstate.Background.Put([]threadstate.BackgroundProcesses{server}))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := state.NewSchema(New(Config{}).Channels()...)
	if err != nil {
		t.Fatal(err)
	}
	u, err := schema.DecodeUpdate(raw)
	if err != nil {
		t.Fatal(err)
	}
	stored, _, err := (state.State{}).Apply(u)
	if diff := cmp.Diff([]threadstate.BackgroundProcesses{server}, threadstate.Background.Get(stored)); diff != "" ||
		err != nil {
		t.Error(diff, err)
	}
}

// TestTheModelIsToldOnce runs an agent whose thread comes from another process.
func TestTheModelIsToldOnce(t *testing.T) {
	m := &fakeModel{turns: [][]string{{"look"}}}
	look := funcTool{"look", func() (*tool.Result, error) { return tool.Text("seen"), nil }}
	a, err := agent.New(agent.Config{Model: m, Tools: []tool.Tool{look}}, New(Config{Space: resident{Space: &space{}}}))
	if err != nil {
		t.Fatal(err)
	}
	in := message.New(message.Human, "go on")
	in.ID = "1"
	s, err := a.Run(context.Background(), &agent.Runtime{RunID: "r", Input: agent.Messages.Append(in)},
		withBackground(t, server))
	if err != nil {
		t.Fatal(err)
	}
	var roles []string
	for _, msg := range agent.Messages.Get(s) {
		role := string(msg.Role)
		if len(msg.Kwargs[message.KeyHidden]) > 0 {
			role += " hidden"
		}
		roles = append(roles, role)
	}
	if diff := cmp.Diff([]string{"human", "human hidden", "ai", "tool", "ai"}, roles); diff != "" ||
		len(threadstate.Background.Get(s)) > 0 {
		t.Error(diff)
	}
}

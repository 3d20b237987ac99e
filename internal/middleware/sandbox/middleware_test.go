package sandbox

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// fakeModel calls the tools of its turns, then answers.
type fakeModel struct {
	turns [][]string
	calls int
}

func (*fakeModel) Name() string { return "test/fake" }

func (f *fakeModel) Stream(context.Context, *model.Request) iter.Seq2[message.Chunk, error] {
	c := message.Chunk{FinishReason: "stop"}
	if f.calls < len(f.turns) {
		for i, name := range f.turns[f.calls] {
			c.ToolCalls = append(c.ToolCalls, message.ToolCallChunk{Index: i, ID: string(rune('a' + i)), Name: name,
				Args: "{}"})
		}
	} else {
		c.Text = "done"
	}
	f.calls++
	return func(yield func(message.Chunk, error) bool) { yield(c, nil) }
}

// space opens a sandbox that has only an id.
type space struct {
	sandbox.Space
	id atomic.Value
}

func (s *space) ID() string { id, _ := s.id.Load().(string); return id }

type funcTool struct {
	name string
	run  func() (*tool.Result, error)
}

func (f funcTool) Spec() tool.Spec { return tool.Spec{Name: f.name} }
func (f funcTool) Run(context.Context, *tool.Call) (*tool.Result, error) {
	return f.run()
}

// run makes one run; open opens the sandbox "sb", look does not, fail ends the run.
func run(t *testing.T, rt agent.Runtime, s state.State, release func(), turns ...[]string) (state.State, error) {
	t.Helper()
	sp, shared := &space{}, tool.Text("opened")
	tools := []tool.Tool{
		funcTool{"look", func() (*tool.Result, error) { return tool.Text("seen"), nil }},
		funcTool{"open", func() (*tool.Result, error) { sp.id.Store("sb"); return shared, nil }},
		funcTool{"fail", func() (*tool.Result, error) { return nil, errors.New("broken") }},
	}
	a, err := agent.New(agent.Config{Model: &fakeModel{turns: turns}, Tools: tools},
		New(Config{Space: sp, Release: release}))
	if err != nil {
		t.Fatal(err)
	}
	in := message.New(message.Human, "go")
	in.ID = "1"
	rt.RunID, rt.Input = "run", agent.Messages.Append(in)
	s, err = a.Run(t.Context(), &rt, s)
	if len(shared.Update) != 0 {
		t.Error("the tool's own result was changed")
	}
	return s, err
}

func idOf(s state.State) string {
	if ref := threadstate.Sandbox.Get(s); ref != nil {
		return ref.SandboxID
	}
	return ""
}

func TestSandboxIsNotedWithTheFirstResultThatHasIt(t *testing.T) {
	tests := []struct {
		name  string
		turns [][]string
		want  string
	}{
		{"never opened", [][]string{{"look"}}, ""},
		{"no tool at all", nil, ""},
		{"opened", [][]string{{"look"}, {"open"}, {"look"}}, "sb"},
		{"opened by calls side by side", [][]string{{"open", "open", "look"}}, "sb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := run(t, agent.Runtime{}, state.State{}, nil, tt.turns...)
			if err != nil || idOf(s) != tt.want {
				t.Fatalf("sandbox %q, error %v", idOf(s), err)
			}
		})
	}
}

// TestSandboxIsInTheDurableResult: a call's result must carry the id by itself, or it is lost when the run is
// cancelled before the step of all calls is written.
func TestSandboxIsInTheDurableResult(t *testing.T) {
	var ends []event.ToolEnd
	rt := agent.Runtime{Commit: func(_ context.Context, step agent.Step) error {
		for _, e := range step.Events {
			if end, ok := e.Data.(event.ToolEnd); ok && end.Writes != nil {
				ends = append(ends, end)
			}
		}
		return nil
	}}
	if _, err := run(t, rt, state.State{}, nil, []string{"open", "open"}); err != nil {
		t.Fatal(err)
	}
	schema, err := state.NewSchema(append(agent.Channels(), threadstate.Sandbox)...)
	if err != nil || len(ends) != 1 {
		t.Fatalf("%d results were kept, error %v", len(ends), err)
	}
	u, err := schema.DecodeUpdate(ends[0].Writes)
	if err != nil {
		t.Fatal(err)
	}
	if s, _, err := (state.State{}).Apply(u); err != nil || idOf(s) != "sb" {
		t.Fatalf("sandbox %q, error %v", idOf(s), err)
	}
}

func TestKnownSandboxIsNotNotedAgain(t *testing.T) {
	s, _, err := state.State{}.Apply(threadstate.Sandbox.Put(&threadstate.SandboxState{SandboxID: "of the parent thread"}))
	if err != nil {
		t.Fatal(err)
	}
	if s, err = run(t, agent.Runtime{}, s, nil, []string{"open"}); err != nil || idOf(s) != "of the parent thread" {
		t.Fatalf("sandbox %q, error %v", idOf(s), err)
	}
}

// many is a space that shows another sandbox each time.
type many struct {
	sandbox.Space
	n atomic.Int64
}

func (m *many) ID() string { return fmt.Sprint("sb", m.n.Add(1)) }

func TestTwoSandboxesInOneStepFailTheRun(t *testing.T) {
	look := funcTool{"look", func() (*tool.Result, error) { return tool.Text("seen"), nil }}
	m := &fakeModel{turns: [][]string{{"look", "look"}}}
	a, err := agent.New(agent.Config{Model: m, Tools: []tool.Tool{look}}, New(Config{Space: &many{}}))
	if err != nil {
		t.Fatal(err)
	}
	in := message.New(message.Human, "go")
	in.ID = "1"
	if _, err := a.Run(t.Context(), &agent.Runtime{Input: agent.Messages.Append(in)}, state.State{}); err == nil {
		t.Fatal("a thread that works in two sandboxes at once went unnoticed")
	}
}

func TestReleaseAtTheAgentsEnd(t *testing.T) {
	released := 0
	if _, err := run(t, agent.Runtime{}, state.State{}, func() { released++ }, []string{"open"}); err != nil ||
		released != 1 {
		t.Fatalf("released %d times, error %v", released, err)
	}
	if _, err := run(t, agent.Runtime{}, state.State{}, func() { released++ }, []string{"fail"}); err == nil ||
		released != 1 {
		t.Fatalf("a failed run is released by its owner; released %d times, error %v", released, err)
	}
}

// TestPitfall59AForkReleasesItsOwnSandbox: the state of a fork names the parent's sandbox, which stays as it is; what
// is given back at the end is the place of the run.
func TestPitfall59AForkReleasesItsOwnSandbox(t *testing.T) {
	parent, _, err := state.State{}.Apply(threadstate.Sandbox.Put(&threadstate.SandboxState{SandboxID: "parent"}))
	if err != nil {
		t.Fatal(err)
	}
	released := 0
	s, err := run(t, agent.Runtime{}, parent, func() { released++ }, []string{"look", "open"})
	if err != nil || released != 1 || idOf(s) != "parent" {
		t.Errorf("released %d times, the state names %q, error %v", released, idOf(s), err)
	}
}

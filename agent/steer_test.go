package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// spoken has what people say to the run of a bed, which takes it with a step.
type spoken struct {
	bed

	list  []agent.Steer
	gone  string // is taken back when a step takes it
	asked int
}

func newSpoken() *spoken {
	s := &spoken{bed: newBed()}
	s.rt.Steers = func(context.Context) []agent.Steer {
		s.asked++
		return slices.Clone(s.list)
	}
	s.rt.Commit = func(ctx context.Context, step agent.Step) error {
		if s.gone != "" && slices.Contains(step.Takes, s.gone) {
			s.drop(s.gone)
			s.gone = ""
			return fmt.Errorf("conflict: %w", agent.ErrTakenBack)
		}
		for _, id := range step.Takes {
			s.drop(id)
		}
		return s.commit(ctx, step)
	}
	return s
}

func (s *spoken) drop(id string) {
	s.list = slices.DeleteFunc(s.list, func(t agent.Steer) bool { return t.ID == id })
}

func (s *spoken) say(id string, texts ...string) {
	t := agent.Steer{ID: id}
	for _, text := range texts {
		t.Messages = append(t.Messages, message.New(message.Human, text))
	}
	s.list = append(s.list, t)
}

// saying is a tool that says something to the run while it works.
func (s *spoken) saying(say func()) tool.Tool {
	return newTool("work", tool.ReadOnly, func(context.Context, *tool.Call) (*tool.Result, error) {
		say()
		return tool.Text("worked"), nil
	})
}

// began notes each time that the hooks look at an input.
type began struct{ seen []string }

func (*began) Name() string { return "Began" }
func (b *began) BeforeAgent(_ context.Context, _ *agent.Runtime, s state.State) (agent.Command, error) {
	list := agent.Messages.Get(s)
	b.seen = append(b.seen, list[len(list)-1].Text())
	return agent.Command{}, nil
}

// TestSteersAreReadBehindTheResults: of the whole batch, in order, in one step, and the hooks look at them as at an
// input.
func TestSteersAreReadBehindTheResults(t *testing.T) {
	s, hook := newSpoken(), &began{}
	var requests []*model.Request
	said := false
	work := s.saying(func() {
		if said {
			return
		}
		said = true
		s.say("1", "first", "and more")
		s.say("2", "second")
	})
	s.rt.Config.ParallelTools = 1
	a := mustAgent(t, agent.Config{Model: noting(&requests, call("work", `{}`, "work", `{}`), say("done")),
		Tools: []tool.Tool{work}}, hook)
	got := s.mustRun(t, a)
	want := []string{"human: do it", "ai: [work {}][work {}]", "tool: worked", "tool: worked", "human: first",
		"human: and more",
		"human: second", "ai: done"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := len(requests[1].Messages); n != 7 {
		t.Errorf("the model was given %d messages", n)
	}
	if d := cmp.Diff([]string{"do it", "second"}, hook.seen); d != "" {
		t.Error(d)
	}
	var takes [][]string
	for _, step := range s.steps {
		if len(step.Takes) > 0 {
			takes = append(takes, step.Takes)
			if step.Lazy || step.Next != agent.NodeBeforeAgent || len(step.Updates) != 1 || step.Spent.Said != 7 {
				t.Errorf("the step is %+v", step)
			}
		}
	}
	if d := cmp.Diff([][]string{{"1", "2"}}, takes); d != "" {
		t.Error(d)
	}
}

// TestSteersTakenBackAreNotRead: the others are, whenever that happens.
func TestSteersTakenBackAreNotRead(t *testing.T) {
	for _, gone := range []string{"1", "2"} {
		s := newSpoken()
		s.say("1", "first")
		s.say("2", "second")
		s.gone = gone
		left := map[string]string{"1": "second", "2": "first"}[gone]
		want := []string{"human: do it", "human: " + left, "ai: done"}
		if d := cmp.Diff(want, s.mustRun(t, mustAgent(t, agent.Config{Model: turns(say("done"))}))); d != "" {
			t.Error(gone, d)
		}
	}
	s := newSpoken()
	s.say("1", "first")
	s.gone = "1"
	if d := cmp.Diff([]string{"human: do it", "ai: done"},
		s.mustRun(t, mustAgent(t, agent.Config{Model: turns(say("done"))}))); d != "" {
		t.Error(d)
	}
}

// TestSteersChangeNothingThatWasSaid: one with the id of another message gets an id of its own, and what a client marks
// as the program's is not.
func TestSteersChangeNothingThatWasSaid(t *testing.T) {
	s := newSpoken()
	s.say("1", "instead", "other")
	s.list[0].Messages[0].ID, s.list[0].Messages[1].ID = "h1", "own"
	s.list[0].Messages[1].Kwargs = message.Fields{"original_user_content": []byte(`"x"`)}
	a := mustAgent(t, agent.Config{Model: turns(say("done"))})
	last, err := a.Run(t.Context(), s.rt, state.State{})
	if err != nil {
		t.Fatal(err)
	}
	msgs := agent.Messages.Get(last)
	if d := cmp.Diff([]string{"human: do it", "human: instead", "human: other", "ai: done"}, talk(last)); d != "" {
		t.Error(d)
	}
	if msgs[1].ID == "h1" || msgs[2].ID != "own" || msgs[2].Kwargs["original_user_content"] != nil {
		t.Errorf("the messages are %+v", msgs[1:3])
	}
}

// TestSteersOfARunAtItsLimit are left for the next one: the last answer says what was done.
func TestSteersOfARunAtItsLimit(t *testing.T) {
	s := newSpoken()
	s.rt.Config.MaxSteps = 2
	a := mustAgent(t, agent.Config{Model: turns(call("work", `{}`), say("done")),
		Tools: []tool.Tool{s.saying(func() { s.say("1", "more") })}})
	s.mustRun(t, a)
	if len(s.list) != 1 {
		t.Error("it was taken")
	}
}

// TestSteersAndABrokenStore: a commit that fails ends the run as any other does.
func TestSteersAndABrokenStore(t *testing.T) {
	s := newSpoken()
	s.say("1", "first")
	s.failAt = 2 // the input is the first
	_, err := mustAgent(t, agent.Config{Model: turns(say("done"))}).Run(t.Context(), s.rt, state.State{})
	if !errors.Is(err, errCommit) || len(s.list) != 0 && s.asked != 1 {
		t.Errorf("got %v", err)
	}
}

package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// asksForJobs asks for one in each of its hooks, and writes nothing.
type asksForJobs struct{}

func (asksForJobs) Name() string { return "AsksForJobs" }

func (asksForJobs) BeforeModel(_ context.Context, rt *agent.Runtime, _ state.State) (agent.Command, error) {
	return agent.Command{}, rt.Env.Later(tool.Job{Kind: "k", Key: "before"})
}

func (asksForJobs) AfterAgent(_ context.Context, rt *agent.Runtime, _ state.State) (agent.Command, error) {
	return agent.Command{}, rt.Env.Later(tool.Job{Kind: "k", Key: "after"})
}

// taker is a program that takes jobs but for one kind.
func taker(j tool.Job) error {
	if j.Kind == "no" {
		return errors.New("no such kind")
	}
	return nil
}

// jobsOf are the keys of the jobs of each step that has any, with the nodes and events that they go with.
func (b bed) jobsOf() (all []string) {
	for i, s := range b.steps {
		line := ""
		for _, j := range s.Jobs {
			line += " " + j.Key
		}
		if line != "" {
			all = append(all, fmt.Sprintf("%d:%s", i, line))
		}
	}
	return all
}

func later(name, key string, end error) fakeTool {
	return newTool(name, tool.SideEffects, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		if err := c.Env.Later(tool.Job{Kind: "k", Key: key}); err != nil {
			return nil, err
		}
		return tool.Text("ok"), end
	})
}

// TestJobsAreOfTheStepThatHasWhatAskedForThem: those of a call go with its result, those of hooks with the next step,
// also with the run's end.
func TestJobsAreOfTheStepThatHasWhatAskedForThem(t *testing.T) {
	t.Parallel()
	b := newBed()
	b.rt.Env.Services.Later = taker
	b.mustRun(t, mustAgent(t, agent.Config{Model: turns(call("a", `{}`), say("done")),
		Tools: []tool.Tool{later("a", "a", nil)}}, asksForJobs{}))
	for i, s := range b.steps {
		for _, j := range s.Jobs {
			at := s.Next
			for _, e := range s.Events {
				at += " " + string(e.Data.Kind())
			}
			want := map[string]string{"a": "tool_end", "before": "message", "after": ""}[j.Key]
			if !strings.Contains(at, want) || j.Key == "after" && s.Next != agent.Done {
				t.Errorf("%s is in step %d, %s", j.Key, i, at)
			}
		}
	}
	if got := strings.Join(b.jobsOf(), ","); strings.Count(got, "before") != 2 || strings.Count(got, " a") != 2 ||
		strings.Count(got, "after") != 1 {
		t.Errorf("jobs of the steps: %s", got)
	}
}

// TestJobsOfACallThatHasNoResultAreNotStored: the call asks a person, and asks for the job again when it runs again.
func TestJobsOfACallThatHasNoResultAreNotStored(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]error{"asks": &tool.InterruptError{Questions: []tool.Question{{Value: []byte(`1`)}}}, "fails": errors.New("broken")} {
		b := newBed()
		b.rt.Env.Services.Later = taker
		a := mustAgent(t, agent.Config{
			Model: turns(call("a", `{}`, "b", `{}`), say("done")),
			Tools: []tool.Tool{later("a", "a", end), later("b", "b", nil)}})
		if _, err := a.Run(t.Context(), b.rt, state.State{}); err == nil {
			t.Errorf("%s: the run has not stopped", name)
		}
		if got := strings.Join(b.jobsOf(), ","); strings.Contains(got, "a") || strings.Count(got, "b") != 1 {
			t.Errorf("%s: jobs of the steps: %s", name, got)
		}
	}
}

// TestAJobThatCannotBeTakenIsRefused, where the program takes none, or not this one, or not so many, or not any more.
func TestAJobThatCannotBeTakenIsRefused(t *testing.T) {
	t.Parallel()
	var env tool.Env
	asks := newTool("a", tool.ReadOnly, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		env = c.Env
		if err := env.Later(tool.Job{Kind: "no"}); err == nil || errors.Is(err, tool.ErrNotSetUp) {
			t.Errorf("error = %v", err)
		}
		n := 0
		for ; n < 1000 && env.Later(tool.Job{Kind: "k", Key: "x"}) == nil; n++ {
		}
		return tool.Text(fmt.Sprint(n)), nil
	})
	b := newBed()
	b.rt.Env.Services.Later = taker
	got := b.mustRun(t,
		mustAgent(t, agent.Config{Model: turns(call("a", `{}`), say("done")), Tools: []tool.Tool{asks}}))
	if !strings.Contains(strings.Join(got, "\n"), "tool: 100") {
		t.Errorf("%q", got)
	}
	if err := env.Later(tool.Job{Kind: "k", Key: "x"}); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("after the call: %v", err)
	}
}

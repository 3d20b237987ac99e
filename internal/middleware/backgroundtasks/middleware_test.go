package backgroundtasks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/agent/agenttest"
	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/middleware/backgroundtasks"
	"github.com/pudu-ai/pudu/internal/middleware/durablecontext"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// waiting has a tool task that leaves its work in the background, and task_wait, which answers as wait says.
func waiting(t *testing.T, wait func(run string) *tool.Result, answers ...[]message.Chunk) *agenttest.Thread {
	t.Helper()
	n := 0
	type given struct {
		Task string `json:"task,omitempty"`
	}
	spec := func(name string) tool.Spec { return tool.Spec{Name: name, Description: name, Effect: tool.Idempotent} }
	tools := []tool.Tool{
		tool.MustNew(spec("task"), func(context.Context, *tool.Call, given) (*tool.Result, error) {
			n++
			return subagents.AtWork(fmt.Sprint("run-", n), "it works"), nil
		}),
		tool.MustNew(spec("task_wait"), func(_ context.Context, _ *tool.Call, in given) (*tool.Result,
			error) {
			return wait(in.Task), nil
		}),
	}
	return agenttest.New(t, agent.Config{Tools: tools}, []agent.Middleware{
		durablecontext.New(durablecontext.Config{}), backgroundtasks.New(),
	}, answers...)
}

func done(run string) *tool.Result {
	o := subagents.Outcome{Status: threadstate.DelegationCompleted, Result: "done by " + run}
	return o.Later(run)
}

// TestARunWaitsForItsTasks: an answer that would end it waits for those that nobody has waited for, once; and the model
// answers again.
func TestARunWaitsForItsTasks(t *testing.T) {
	th := waiting(t, done, agenttest.Calls("task", `{}`, "task", `{}`),
		agenttest.Calls("task_wait", `{"task":"run-1"}`),
		agenttest.Say("I wait."), agenttest.Say("All is done."))
	msgs := th.Run(t, "go")
	talk := strings.Join(agenttest.Talk(msgs), "\n")
	if strings.Count(talk, "done by run-1") != 1 || strings.Count(talk, "done by run-2") != 1 ||
		!strings.HasSuffix(talk, "All is done.") {
		t.Error(talk)
	}
	for _, d := range threadstate.Delegations.Get(th.State) {
		if d.Status != threadstate.DelegationCompleted || d.TaskRun == "" {
			t.Errorf("%+v", d)
		}
	}
	th.CheckGrowth(t)
}

// TestATaskThatGoesOnIsWaitedForAgain, as when a person has spoken to the run meanwhile.
func TestATaskThatGoesOnIsWaitedForAgain(t *testing.T) {
	asked := 0
	th := waiting(t, func(run string) *tool.Result {
		if asked++; asked < 3 {
			return subagents.AtWork(run, "you are spoken to")
		}
		return done(run)
	}, agenttest.Calls("task", `{}`), agenttest.Say("1"), agenttest.Say("2"), agenttest.Say("3"), agenttest.Say("end"))
	if msgs := th.Run(t, "go"); msgs[len(msgs)-1].Text() != "end" || asked != 3 {
		t.Errorf("%d %q", asked, agenttest.Talk(msgs))
	}
}

// TestAWaitThatIsForbiddenIsNotMadeAgain: the run ends, and its tasks with it.
func TestAWaitThatIsForbiddenIsNotMadeAgain(t *testing.T) {
	asked := 0
	th := waiting(t, func(string) *tool.Result {
		asked++
		return tool.Error("a rule forbids it")
	}, agenttest.Calls("task", `{}`), agenttest.Say("1"), agenttest.Say("end"))
	if msgs := th.Run(t, "go"); msgs[len(msgs)-1].Text() != "end" || asked != 1 {
		t.Errorf("%d %q", asked, agenttest.Talk(msgs))
	}
}

// TestTheCallsAreOnesThatProvidersTake: ids of their own, and arguments that are an object.
func TestTheCallsAreOnesThatProvidersTake(t *testing.T) {
	th := waiting(t, done, agenttest.Calls("task", `{}`, "task", `{}`), agenttest.Say("I wait."), agenttest.Say("end"))
	seen := map[string]bool{}
	for _, m := range th.Run(t, "go") {
		for _, c := range m.ToolCalls {
			var args map[string]string
			if c.Name == "task_wait" && (len(c.ID) > 40 || seen[c.ID] || json.Unmarshal(c.Args, &args) != nil ||
				args["task"] == "") {
				t.Errorf("%+v", c)
			}
			seen[c.ID] = true
		}
	}
	if len(seen) != 4 {
		t.Error(seen)
	}
}

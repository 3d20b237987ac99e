package agenttest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/agent/agenttest"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// judge is a test whose complaints are kept.
type judge struct {
	*testing.T

	said []string
}

func (j *judge) Errorf(format string, args ...any) {
	j.said = append(j.said, fmt.Sprintf(format, args...))
}

func TestARunIsPlayed(t *testing.T) {
	look := &agenttest.Tool{Name: "look"}
	bad := &agenttest.Tool{Name: "bad", Do: func(*tool.Call) (*tool.Result, error) { return tool.Error("no"), nil }}
	th := agenttest.New(t, agent.Config{Tools: []tool.Tool{look, bad}}, nil,
		agenttest.Calls("look", `{}`, "bad", `{"any":1}`))
	want := []string{"human: go", "ai: ", "tool look: ok", "error tool bad: no", "ai: done"}
	if diff := cmp.Diff(want, agenttest.Talk(th.Run(t, "go"))); diff != "" {
		t.Error(diff)
	}
	user := th.NextID()
	msgs := th.Run(t, "thanks")
	if len(msgs) != 2 || msgs[0].ID != user || th.RunID() != "run2" || th.Reason() != "" || look.Ran() != 1 ||
		len(th.Events) == 0 {
		t.Errorf("%q, run %s, reason %q, %d looks", agenttest.Talk(msgs), th.RunID(), th.Reason(), look.Ran())
	}
	th.CheckGrowth(t)
}

// TestARunGoesOnAtAnyStep and comes to the same end, with the stop at its limit.
func TestARunGoesOnAtAnyStep(t *testing.T) {
	thread := func() *agenttest.Thread {
		look := &agenttest.Tool{Name: "look", Do: func(c *tool.Call) (*tool.Result, error) {
			answer, call, err := agenttest.Place(c.ID)
			return tool.Text(fmt.Sprint(answer, call)), err
		}}
		th := agenttest.New(t, agent.Config{Tools: []tool.Tool{look}}, nil,
			agenttest.CallsOf(0, "look", `{}`, "look", `{}`), agenttest.CallsOf(1, "look", `{}`),
			agenttest.CallsOf(2, "look", `{}`))
		th.Model.ByHistory, th.Model.Last, th.Config.MaxSteps = true, agenttest.Say("summed up"), 3
		return th
	}
	whole := thread()
	want := agenttest.Talk(whole.Run(t, "go"))
	if last := want[len(want)-1]; last != "ai: summed up" || whole.Reason() != agent.ReasonTurns ||
		want[2] != "tool look: 0 0" || want[3] != "tool look: 0 1" {
		t.Errorf("%q, reason %q", want, whole.Reason())
	}
	for _, step := range whole.Steps {
		if step.Next == agent.Done {
			continue
		}
		again := thread()
		again.Resume(t, step)
		if diff := cmp.Diff(want, agenttest.Talk(agent.Messages.Get(again.State))); diff != "" ||
			again.Reason() != whole.Reason() {
			t.Errorf("from %s: reason %q\n%s", step.Next, again.Reason(), diff)
		}
	}
}

// forgetful is a middleware that sends the newest message alone.
type forgetful struct{}

func (forgetful) Name() string { return "Forgetful" }
func (forgetful) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	short := *req
	short.Messages = req.Messages[len(req.Messages)-1:]
	return next(ctx, &short)
}

func TestCheckGrowthFindsABreach(t *testing.T) {
	used := agenttest.Say("hello")
	used[1].Usage = &message.Usage{TotalTokens: 7}
	th := agenttest.New(t, agent.Config{}, []agent.Middleware{forgetful{}}, used)
	th.Run(t, "hi")
	if th.Usage.TotalTokens != 7 {
		t.Errorf("usage %+v", th.Usage)
	}
	th.Run(t, "and now?")
	j := &judge{T: t}
	th.CheckGrowth(j)
	if diff := cmp.Diff([]string{"request 2 does not begin with the one before it"}, j.said); diff != "" ||
		th.Usage.TotalTokens != 0 {
		t.Error(diff, th.Usage)
	}
}

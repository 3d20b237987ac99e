package subagentlimit

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/agent/agenttest"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// give is an answer that gives so many tasks, beside other calls.
func give(n int, others ...string) []message.Chunk {
	var pairs []string
	for range n {
		pairs = append(pairs, "task", `{}`)
	}
	return agenttest.Calls(append(pairs, others...)...)
}

func limited(t *testing.T, cfg Config, answers ...[]message.Chunk) (*agenttest.Thread, *agenttest.Tool) {
	t.Helper()
	task := &agenttest.Tool{Name: "task"}
	return agenttest.New(t, agent.Config{Tools: []tool.Tool{task, &agenttest.Tool{Name: "bash"}}},
		[]agent.Middleware{New(cfg)}, answers...), task
}

// refused are the texts of the results that are errors.
func refused(msgs []message.Message) []string {
	var out []string
	for _, m := range msgs {
		if m.Status == message.StatusError {
			out = append(out, m.Text())
		}
	}
	return out
}

// TestObserved27TheModelIsToldOfSurplusTasks: the calls stay in the message, and each that did not run has an error.
func TestObserved27TheModelIsToldOfSurplusTasks(t *testing.T) {
	b, task := limited(t, Config{}, give(5))
	msgs := b.Run(t, "go")
	errs := refused(msgs)
	if task.Ran() != 3 || len(msgs[1].ToolCalls) != 5 || len(errs) != 2 {
		t.Fatalf("%d ran, %q", task.Ran(), agenttest.Talk(msgs))
	}
	for i, m := range msgs[2:7] {
		if (m.Status == message.StatusError) != (i >= 3) || m.ToolCallID != msgs[1].ToolCalls[i].ID {
			t.Errorf("result %d: %s", i, m.Text())
		}
	}
	for _, want := range []string{"at most 3", "asked for 5", "3 of its 6 tasks left"} {
		if !strings.Contains(errs[0], want) {
			t.Errorf("%q does not say %q", errs[0], want)
		}
	}
	if k := msgs[5].Kwargs; string(k["subagent_status"]) != `"failed"` || k["subagent_error"] == nil {
		t.Errorf("kwargs %v", k)
	}
	b.CheckGrowth(t)
}

// TestRow27SubagentLimitTotal: what was refused does not count, and the total holds over the messages of a run.
func TestRow27SubagentLimitTotal(t *testing.T) {
	b, task := limited(t, Config{MaxConcurrent: 2, MaxPerRun: 5}, give(4), give(2), give(2), agenttest.Say("all of it"))
	msgs := b.Run(t, "go")
	errs := refused(msgs)
	if task.Ran() != 5 || len(errs) != 3 || !strings.Contains(errs[1], "asked for 4") {
		t.Fatalf("%d ran, %q", task.Ran(), errs)
	}
	if !strings.Contains(errs[2], "with the others of this message the limit of 5 tasks in one run is reached") {
		t.Errorf("the last one says %q", errs[2])
	}
	if msgs[len(msgs)-1].Text() != "all of it" || b.Reason() != "" {
		t.Errorf("ends with %q, reason %q", msgs[len(msgs)-1].Text(), b.Reason())
	}
	b.CheckGrowth(t)
}

// TestObserved27AUsedUpTotalDoesNotEndTheRun: the model is told and answers with what it has.
func TestObserved27AUsedUpTotalDoesNotEndTheRun(t *testing.T) {
	b, task := limited(t, Config{MaxPerRun: 1}, give(1), give(1), give(1, "bash", `{}`), give(1),
		agenttest.Say("summed up"))
	msgs := b.Run(t, "go")
	if task.Ran() != 1 || msgs[len(msgs)-1].Text() != "summed up" || b.Reason() != "" {
		t.Fatalf("%d ran, %q, reason %q", task.Ran(), agenttest.Talk(msgs), b.Reason())
	}
	for _, text := range refused(msgs) {
		if !strings.Contains(text, "the limit of 1 tasks in one run is reached") {
			t.Errorf("says %q", text)
		}
	}
	b.CheckGrowth(t)
}

// TestRow27AModelThatKeepsAskingIsStopped: then it has one last call without tools.
func TestRow27AModelThatKeepsAskingIsStopped(t *testing.T) {
	b, task := limited(t, Config{MaxPerRun: 1}, give(1), give(1), give(2), give(1), agenttest.Say("the results so far"),
		give(1))
	msgs := b.Run(t, "go")
	if task.Ran() != 1 || b.Reason() != "subagent_limit_capped" || msgs[len(msgs)-1].Text() != "the results so far" ||
		len(b.Model.Requests) != 5 {
		t.Fatalf("%d ran, reason %q, %q", task.Ran(), b.Reason(), agenttest.Talk(msgs))
	}
	b.CheckGrowth(t)
}

// TestHostile52FanOut is item 52 of the list of hostile inputs: an answer that gives as many tasks as it can, again and
// again, starts as many as a run may, and the run ends.
func TestHostile52FanOut(t *testing.T) {
	b, task := limited(t, Config{}, give(256), give(256), give(256), give(256), give(256), give(256),
		agenttest.Say("enough"))
	msgs := b.Run(t, "go")
	if task.Ran() != 6 || b.Reason() != "subagent_limit_capped" {
		t.Errorf("%d tasks ran, reason %q, %d messages", task.Ran(), b.Reason(), len(msgs))
	}
}

// TestLimitsStartAnewWithEachRun: they are the run's.
func TestLimitsStartAnewWithEachRun(t *testing.T) {
	b, task := limited(t, Config{MaxPerRun: 2}, give(2), give(1), agenttest.Say("one"), give(2), agenttest.Say("two"))
	b.Run(t, "go")
	b.Run(t, "again")
	if task.Ran() != 4 {
		t.Errorf("%d ran", task.Ran())
	}
	b.CheckGrowth(t)
}

// TestOtherCallsRun: the limit is for tasks alone, and a call that cannot run says why by itself.
func TestOtherCallsRun(t *testing.T) {
	b, task := limited(t, Config{MaxConcurrent: 1}, agenttest.Calls("task", `{}`, "bash", `{}`, "task", `{"x":`, "task",
		`{}`, "bash", `{}`))
	msgs := b.Run(t, "go")
	errs := refused(msgs)
	if task.Ran() != 1 || len(errs) != 2 || len(msgs) != 8 {
		t.Fatalf("%d ran, %q", task.Ran(), agenttest.Talk(msgs))
	}
}

// TestCountsInAnyOrderOfHooks: a call is judged the same when the hook after the model was skipped.
func TestCountsInAnyOrderOfHooks(t *testing.T) {
	m := New(Config{MaxConcurrent: 2})
	answer := message.Message{ID: "a", Role: message.AI, ToolCalls: []message.ToolCall{{ID: "1", Name: taskTool},
		{ID: "2", Name: taskTool}, {ID: "3", Name: taskTool}}}
	c := m.judge(state.State{}, "r", &answer)
	s, _, err := state.State{}.Apply(counts.Put(c))
	if err != nil {
		t.Fatal(err)
	}
	if again := m.judge(s, "r", &answer); again != c || c.Allowed != 2 || c.Started != 2 {
		t.Errorf("first %+v, then %+v", c, again)
	}
}

// TestLimitsAreKept holds for any answers and limits: never more at once and never more in all, and every call is
// answered.
func TestLimitsAreKept(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := Config{MaxConcurrent: rapid.IntRange(-1, 9).Draw(rt, "at once"), MaxPerRun: rapid.IntRange(-1, 60).
			Draw(rt, "in all")}
		var answers [][]message.Chunk
		asked := rapid.SliceOfN(rapid.IntRange(1, 6), 0, 12).Draw(rt, "asked")
		for _, n := range asked {
			answers = append(answers, give(n))
		}
		b, task := limited(t, cfg, answers...)
		msgs := b.Run(t, "go")
		kept := New(cfg).cfg
		if kept.MaxConcurrent < 1 || kept.MaxConcurrent > 4 || kept.MaxPerRun < 1 || kept.MaxPerRun > 50 ||
			task.Ran() > kept.MaxPerRun {
			rt.Fatalf("%d ran with %+v", task.Ran(), kept)
		}
		ok, open := 0, map[string]bool{}
		for _, m := range msgs {
			switch m.Role {
			case message.AI:
				if len(open) > 0 || ok > kept.MaxConcurrent {
					rt.Fatalf("%d open, %d at once", len(open), ok)
				}
				ok, open = 0, map[string]bool{}
				for _, c := range m.ToolCalls {
					open[c.ID] = true
				}
			case message.Tool:
				delete(open, m.ToolCallID)
				if m.Status != message.StatusError {
					ok++
				}
			}
		}
		if last := msgs[len(msgs)-1]; last.Role != message.AI || last.Text() == "" || len(open) > 0 {
			rt.Fatalf("ends with %+v", last)
		}
	})
}

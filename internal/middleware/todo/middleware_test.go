package todo

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/agent/agenttest"
	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/message"
)

// plan is the arguments of a plan whose items are "name status".
func plan(items ...string) string {
	list := []threadstate.Todo{}
	for _, it := range items {
		content, status, _ := strings.Cut(it, " ")
		list = append(list, threadstate.Todo{Content: content, Status: status})
	}
	raw, _ := json.Marshal(map[string]any{"todos": list})
	return string(raw)
}

// plans is an answer that writes such a plan.
func plans(items ...string) []message.Chunk { return agenttest.Calls(ToolName, plan(items...)) }

func planned(t *testing.T, answers ...[]message.Chunk) *agenttest.Thread {
	t.Helper()
	return agenttest.New(t, agent.Config{Tools: agenttest.Tools("bash")}, []agent.Middleware{New()}, answers...)
}

func todos(b *agenttest.Thread) string {
	var out []string
	for _, t := range threadstate.Todos.Get(b.State) {
		out = append(out, t.Content+" "+t.Status)
	}
	return strings.Join(out, ", ")
}

func notes(msgs []message.Message, name string) []message.Message {
	var out []message.Message
	for _, m := range msgs {
		if conversation.IsNote(m, name) {
			out = append(out, m)
		}
	}
	return out
}

// TestRow19TodoWriteTodosReplacesThePlan: the plan is state, an empty one clears it, and a bad one changes nothing.
func TestRow19TodoWriteTodosReplacesThePlan(t *testing.T) {
	long := strings.Repeat("x", maxContent+1)
	many := make([]string, maxItems+1)
	for i := range many {
		many[i] = fmt.Sprintf("i%d pending", i)
	}
	for _, c := range []struct {
		name, args, want, says string
	}{
		{"a plan", plan("a completed", "b in_progress", "c pending"), "a completed, b in_progress, c pending",
			"1 completed, 1 in progress, 1 pending"},
		{"an empty plan", plan(), "", "empty"},
		{"an unknown status", plan("a done"), "old pending", "in_progress"},
		{"a blank item", plan(" pending"), "old pending", "item 1"},
		{"a long item", plan(long + " pending"), "old pending", "item 1"},
		{"too many items", plan(many...), "old pending", "more than 100"},
		{"no list", `{}`, "old pending", "todos"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := planned(t, plans("old pending"), agenttest.Calls(ToolName, c.args), agenttest.Calls(ToolName, c.args))
			b.Config.MaxSteps = 4
			msgs := b.Run(t, "go")
			if todos(b) != c.want || !strings.Contains(msgs[4].Text(), c.says) ||
				(msgs[4].Status == message.StatusError) != (c.want == "old pending") {
				t.Errorf("todos %q, answer %q", todos(b), msgs[4].Text())
			}
		})
	}
}

// TestToolCostsLessThanAKilobyte: it is part of every request, and the prompt says nothing about it.
func TestToolCostsLessThanAKilobyte(t *testing.T) {
	spec := New().Tools()[0].Spec()
	entry, err := json.Marshal(map[string]any{"type": "function", "function": map[string]any{
		"name": spec.Name, "description": spec.Description, "parameters": spec.Parameters,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(entry) >= 1000 {
		t.Errorf("%d bytes: %s", len(entry), entry)
	}
	const want = `{"type":"object","properties":{"todos":{"type":"array","items":{"type":"object","properties":{"content":{"type":"string"},` +
		`"status":{"type":"string","enum":["pending","in_progress","completed"]}},"required":["content","status"]}}},"required":["todos"]}`
	var got, expected any
	if json.Unmarshal(spec.Parameters, &got) != nil || json.Unmarshal([]byte(want), &expected) != nil {
		t.Fatal("no JSON")
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Error(diff)
	}
}

// TestToolStandsBehindTheAgentsOwn: entering plan mode does not move the tools that there are.
func TestToolStandsBehindTheAgentsOwn(t *testing.T) {
	b := planned(t)
	b.Run(t, "go")
	var names []string
	for _, tl := range b.Model.Requests[0].Tools {
		names = append(names, tl.Name)
	}
	if diff := cmp.Diff([]string{"bash", ToolName}, names); diff != "" {
		t.Error(diff)
	}
}

// TestObserved19ParallelPlansAreAllRejected: but one beside another tool is fine.
func TestObserved19ParallelPlansAreAllRejected(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls []string
		want  string
		errs  int
	}{
		{"two plans", []string{ToolName, plan("a pending"), ToolName, plan("b pending")}, "", 2},
		{"two plans and another", []string{ToolName, plan("a pending"), "bash", `{}`, ToolName, plan("b pending")}, "",
			2},
		{"one of two is cut", []string{ToolName, plan("a pending"), ToolName, `{"todos":[`}, "", 2},
		{"one beside another tool", []string{"bash", `{}`, ToolName, plan("a completed")}, "a completed", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := planned(t, agenttest.Calls(c.calls...))
			errs := 0
			for _, m := range b.Run(t, "go") {
				if m.Status == message.StatusError {
					errs++
				}
			}
			if errs != c.errs || todos(b) != c.want || len(b.Model.Requests) != 2 {
				t.Errorf("%d errors, todos %q, %d requests", errs, todos(b), len(b.Model.Requests))
			}
			b.CheckGrowth(t)
		})
	}
}

// hide has the model see nothing of the conversation any more, as a compaction does.
func hide(t *testing.T, b *agenttest.Thread) {
	t.Helper()
	msgs := agent.Messages.Get(b.State)
	next, _, err := b.State.Apply(compaction.Channel.Put(compaction.Compaction{Upto: msgs[len(msgs)-1].ID}))
	if err != nil {
		t.Fatal(err)
	}
	b.State = next
}

// TestRow19TodoReminderWhenThePlanIsOutOfSight: once after each compaction, as a stored note at the end.
func TestRow19TodoReminderWhenThePlanIsOutOfSight(t *testing.T) {
	b := planned(t, plans("a<system> completed", "b in_progress"), agenttest.Say("x"), agenttest.Say("x"),
		agenttest.Say("x"))
	if msgs := b.Run(t, "go"); len(notes(msgs, "todo_reminder")) != 0 {
		t.Fatalf("reminded of a plan in sight: %q", agenttest.Talk(msgs))
	}
	for range 2 { // two compactions
		before := len(agent.Messages.Get(b.State))
		hide(t, b)
		b.Run(t, "go on")
		b.Run(t, "and on")
		msgs := agent.Messages.Get(b.State)[before:]
		got := notes(msgs, "todo_reminder")
		if len(got) != 1 || !conversation.IsNote(msgs[1], "todo_reminder") {
			t.Fatalf("%q", agenttest.Talk(msgs))
		}
		if text := got[0].Text(); !strings.Contains(text, "completed: a&lt;system&gt;") ||
			!strings.Contains(text, "in_progress: b") {
			t.Errorf("the reminder says %q", text)
		}
	}
	b.CheckGrowth(t)
}

// TestNoReminderOfAFinishedPlan nor of none.
func TestNoReminderOfAFinishedPlan(t *testing.T) {
	b := planned(t, plans("a completed"))
	b.Run(t, "go")
	hide(t, b)
	if msgs := b.Run(t, "go on"); len(msgs) != 2 {
		t.Errorf("%q", agenttest.Talk(msgs))
	}
}

// TestRow19TodoGuardSendsTheModelOn: at most twice in a run, and no more when the plan is done.
func TestRow19TodoGuardSendsTheModelOn(t *testing.T) {
	b := planned(t, plans("a pending", "b pending"), agenttest.Say("one"), agenttest.Say("two"), agenttest.Say("three"),
		agenttest.Say("four"))
	msgs := b.Run(t, "go")
	got := notes(msgs, "todo_completion_reminder")
	if len(got) != 2 || len(b.Model.Requests) != 4 || msgs[len(msgs)-1].Text() != "three" {
		t.Fatalf("%q", agenttest.Talk(msgs))
	}
	if text := got[0].Text(); !strings.Contains(text, "2 open") || !strings.Contains(text, "- a\n- b\n") {
		t.Errorf("the note says %q", text)
	}
	b.CheckGrowth(t)

	b = planned(t, plans("a pending"), agenttest.Say("one"), plans("a completed"), agenttest.Say("done"))
	if msgs = b.Run(t, "go"); len(notes(msgs, CompletionName)) != 1 || msgs[len(msgs)-1].Text() != "done" {
		t.Errorf("%q", agenttest.Talk(msgs))
	}
	b.CheckGrowth(t)
}

// TestObserved19AnUnrelatedTurnCostsNothing: only a run that has worked on the plan is sent on.
func TestObserved19AnUnrelatedTurnCostsNothing(t *testing.T) {
	b := planned(t, plans("a pending"), agenttest.Say("one"), agenttest.Say("two"), agenttest.Say("three"),
		agenttest.Say("noon"))
	b.Run(t, "go")
	before := len(b.Model.Requests)
	if msgs := b.Run(t, "what time is it?"); len(b.Model.Requests) != before+1 || len(msgs) != 2 {
		t.Fatalf("%d requests, %q", len(b.Model.Requests)-before, agenttest.Talk(msgs))
	}
	b.Model.Answers = append(b.Model.Answers, plans("a in_progress"), agenttest.Say("x"), agenttest.Say("x"),
		agenttest.Say("x"))
	if msgs := b.Run(t, "go on with it"); len(notes(msgs, CompletionName)) != 2 {
		t.Errorf("a run that works on the plan again: %q", agenttest.Talk(msgs))
	}
	b.CheckGrowth(t)
}

// TestRow19TodoGuardLeavesOtherEndingsAlone: calls, failed model calls, and runs that are stopped.
func TestRow19TodoGuardLeavesOtherEndingsAlone(t *testing.T) {
	failed := agenttest.Say("no model")
	failed[0].Kwargs = message.Fields{message.KeyErrorFallback: json.RawMessage("true")}
	raw := agenttest.Say("calling")
	raw[0].Kwargs = message.Fields{"function_call": json.RawMessage(`{"name":"bash"}`)}
	for name, last := range map[string][]message.Chunk{
		"a failed model call": failed, "a raw call": raw,
		"calls announced": agenttest.Ends("tool_calls", "calling"), "a call announced": agenttest.Ends("function_call",
			"calling"),
	} {
		b := planned(t, plans("a pending"), last)
		if msgs := b.Run(t, "go"); len(msgs) != 4 {
			t.Errorf("%s: %q", name, agenttest.Talk(msgs))
		}
	}
	b := planned(t, plans("a pending"), agenttest.Calls("bash", `{"x":`), agenttest.Say("x"), agenttest.Say("x"),
		agenttest.Say("done"))
	if msgs := b.Run(t, "go"); len(notes(msgs[:6], CompletionName)) != 0 || len(notes(msgs, CompletionName)) != 2 {
		t.Errorf("invalid calls: %q", agenttest.Talk(msgs))
	}
	b = planned(t, plans("a pending"), agenttest.Say("summary"))
	b.Config.MaxSteps = 2
	if msgs := b.Run(t, "go"); len(msgs) != 5 || msgs[3].Name != agent.StopNoteName || b.Reason() != agent.ReasonTurns {
		t.Errorf("a stopped run: %q", agenttest.Talk(msgs))
	}
}

// TestLongPlansAreShortInNotes: what is repeated is bounded.
func TestLongPlansAreShortInNotes(t *testing.T) {
	var todos []threadstate.Todo
	for i := range maxItems {
		todos = append(todos, threadstate.Todo{Content: fmt.Sprintf("%d\n", i) + strings.Repeat("é", maxContent/2),
			Status: "pending"})
	}
	if text := unfinished(todos); len(text) > 2*maxShown*maxNamed+500 || !strings.Contains(text, "and 90 more") ||
		strings.Count(text, "\n") != maxNamed+2 {
		t.Errorf("%d bytes, %d lines", len(text), strings.Count(text, "\n"))
	}
	if text := outOfSight(todos); len(text) > 2*(maxShown+20)*maxItems || strings.Count(text, "\n") != maxItems+1 {
		t.Errorf("%d bytes, %d lines", len(text), strings.Count(text, "\n"))
	}
}

// TestLeavingPlanMode: without the middleware the plan stays in the state and nobody is reminded.
func TestLeavingPlanMode(t *testing.T) {
	b := planned(t, plans("a pending"), agenttest.Say("x"), agenttest.Say("x"), agenttest.Say("x"))
	b.Run(t, "go")
	plain, err := agent.New(agent.Config{Model: b.Model, Channels: threadstate.Channels()})
	if err != nil {
		t.Fatal(err)
	}
	b.Agent = plain
	if msgs := b.Run(t, "hi"); len(msgs) != 2 || todos(b) != "a pending" {
		t.Errorf("%q, todos %q", agenttest.Talk(msgs), todos(b))
	}
}

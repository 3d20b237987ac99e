package tokenusage

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/agent/agenttest"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// say is an answer with its usage.
func say(text string) []message.Chunk { return call(text) }

// call is an answer that calls tools: pairs of name and arguments.
func call(text string, pairs ...string) []message.Chunk {
	answer := agenttest.Calls(pairs...)
	answer[0].Text, answer[1].Usage = text, &message.Usage{InputTokens: 50, OutputTokens: 5, TotalTokens: 55}
	if len(pairs) == 0 {
		answer[1].FinishReason = "stop"
	}
	return answer
}

// task answers as a sub-agent's task does.
func task(*tool.Call) (*tool.Result, error) {
	res := tool.Text("done")
	res.Kwargs = message.Fields{
		toolmeta.KeySubagentUsage: json.RawMessage(`{"input_tokens":1000,"output_tokens":100,"total_tokens":1100}`),
	}
	return res, nil
}

func writeTodos(c *tool.Call) (*tool.Result, error) {
	var args struct{ Todos []threadstate.Todo }
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return nil, err
	}
	res := tool.Text("done")
	res.Update = threadstate.Todos.Put(args.Todos)
	return res, nil
}

func messages(th *agenttest.Thread, role message.Role) (out []message.Message) {
	for _, m := range agent.Messages.Get(th.State) {
		if m.Role == role {
			out = append(out, m)
		}
	}
	return out
}

// run lets the model give the answers.
func run(t *testing.T, answers ...[]message.Chunk) *agenttest.Thread {
	t.Helper()
	tools := append(agenttest.Tools("ls"), &agenttest.Tool{Name: "task", Do: task},
		&agenttest.Tool{Name: "write_todos", Do: writeTodos})
	th := agenttest.New(t, agent.Config{Tools: tools, Channels: threadstate.Channels()}, []agent.Middleware{New()},
		answers...)
	th.Play(t, nil)
	return th
}

func same(t *testing.T, got json.RawMessage, want string) {
	t.Helper()
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestAttribution(t *testing.T) {
	const plan = `{"todos":[{"content":"first","status":"in_progress"},{"content":"second","status":"pending"}]}`
	for _, c := range []struct {
		name   string
		answer []message.Chunk
		want   string
	}{
		{"an answer", say("done"), `"kind":"final_answer","shared_attribution":false,"tool_call_ids":[],"actions":[]}`},
		{"nothing to see", []message.Chunk{{Reasoning: "hm", FinishReason: "stop"}},
			`"kind":"thinking","shared_attribution":false,"tool_call_ids":[],"actions":[]}`},
		{"a tool", call("I look.", "ls", `{"description":"look","path":"/mnt"}`),
			`"kind":"tool_batch","shared_attribution":false,"tool_call_ids":["c0"],"actions":[{"kind":"tool","tool_name":"ls","description":"look","tool_call_id":"c0"}]}`},
		{"two tools", call("", "ls", `{"description":"look"}`, "ls", `{}`),
			`"kind":"tool_batch","shared_attribution":true,"tool_call_ids":["c0","c1"],"actions":[{"kind":"tool","tool_name":"ls","description":"look","tool_call_id":"c0"},{"kind":"tool","tool_name":"ls","tool_call_id":"c1"}]}`},
		{"a clarification", call("", "ask_clarification", `{"question":"?"}`),
			`"kind":"tool_batch","shared_attribution":false,"tool_call_ids":["c0"],"actions":[{"kind":"clarification","tool_call_id":"c0"}]}`},
		{"files", call("", "present_files", `{"filepaths":[]}`),
			`"kind":"tool_batch","shared_attribution":false,"tool_call_ids":["c0"],"actions":[{"kind":"present_files","tool_call_id":"c0"}]}`},
		{"a search", call("", "web_search", `{"query":"deer","max_results":3}`),
			`"kind":"tool_batch","shared_attribution":false,"tool_call_ids":["c0"],"actions":[{"kind":"search","tool_name":"web_search","query":"deer","tool_call_id":"c0"}]}`},
		{"a sub-agent", call("", "task", `{"description":"small job","prompt":"p","subagent_type":"general-purpose"}`),
			`"kind":"subagent_dispatch","shared_attribution":false,"tool_call_ids":["c0"],"actions":[{"kind":"subagent","description":"small job","subagent_type":"general-purpose","tool_call_id":"c0"}]}`},
		{"a plan", call("", "write_todos", plan),
			`"kind":"tool_batch","shared_attribution":true,"tool_call_ids":["c0"],"actions":[{"kind":"todo_start","content":"first","tool_call_id":"c0"},{"kind":"todo_update","content":"second","tool_call_id":"c0"}]}`},
		{"one step of a plan", call("", "write_todos", `{"todos":[{"content":"first","status":"completed"}]}`),
			`"kind":"todo_update","shared_attribution":false,"tool_call_ids":["c0"],"actions":[{"kind":"todo_complete","content":"first","tool_call_id":"c0"}]}`},
		{"arguments of another shape", call("", "write_todos", `{"todos":[1,{"content":7}]}`, "ls",
			`{"description":["x"]}`),
			`"kind":"tool_batch","shared_attribution":true,"tool_call_ids":["c0","c1"],"actions":[{"kind":"tool","tool_name":"write_todos","tool_call_id":"c0"},{"kind":"tool","tool_name":"ls","tool_call_id":"c1"}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := message.Builder{}
			for _, chunk := range c.answer {
				m.Add(chunk)
			}
			ai := m.Message()
			raw, err := json.Marshal(attribute(&ai, nil))
			if err != nil {
				t.Fatal(err)
			}
			same(t, raw, `{"version":1,`+c.want)
		})
	}
}

// TestAttributionIsStoredWithTheAnswer: it is part of the step that commits the answer.
func TestAttributionIsStoredWithTheAnswer(t *testing.T) {
	r := run(t, call("I look.", "ls", `{"description":"look"}`), say("It is empty."))
	ai := messages(r, message.AI)
	same(t,
		ai[0].Kwargs[Key], `{"version":1,"kind":"tool_batch","shared_attribution":false,"tool_call_ids":["c0"],"actions":[{"kind":"tool","tool_name":"ls","description":"look","tool_call_id":"c0"}]}`)
	same(t, ai[1].Kwargs[Key],
		`{"version":1,"kind":"final_answer","shared_attribution":false,"tool_call_ids":[],"actions":[]}`)
	for _, s := range r.Steps {
		for _, u := range s.Updates {
			if strings.HasPrefix(u.Node, "TokenUsageMiddleware") {
				t.Errorf("the answer was stored without its attribution, which came after it: %+v", s.Updates)
			}
		}
	}
}

func TestPlanMoves(t *testing.T) {
	r := run(t,
		call("", "write_todos",
			`{"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"pending"}]}`),
		call("",
			"write_todos",
			`{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"pending"},{"content":"c","status":"pending"}]}`),
		call("", "write_todos", `{"todos":[{"content":"a","status":"completed"},{"content":"b2","status":"pending"}]}`),
		say("done"))
	var got []string
	for _, m := range messages(r, message.AI) {
		var a Attribution
		if err := json.Unmarshal(m.Kwargs[Key], &a); err != nil {
			t.Fatal(err)
		}
		line := a.Kind
		for _, d := range a.Actions {
			line += " " + d.Kind + ":" + d.Content
		}
		got = append(got, line)
	}
	want := []string{
		"tool_batch todo_start:a todo_update:b", "tool_batch todo_complete:a todo_update:c",
		"tool_batch todo_update:b2 todo_remove:c", "final_answer",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestSubagentUsageIsAddedToTheDispatchingMessage, once, and its results are marked.
func TestSubagentUsageIsAddedToTheDispatchingMessage(t *testing.T) {
	r := run(t, call("", "task", `{}`, "task", `{}`, "ls", `{}`), call("", "ls", `{}`), say("done"))
	var totals []int
	for _, m := range messages(r, message.AI) {
		totals = append(totals, m.Usage.TotalTokens)
	}
	if diff := cmp.Diff([]int{2255, 55, 55}, totals); diff != "" {
		t.Error(diff)
	}
	var marked []bool
	for _, m := range messages(r, message.Tool) {
		marked = append(marked, toolmeta.SubagentAttributed(m))
	}
	if diff := cmp.Diff([]bool{true, true, false, false}, marked); diff != "" {
		t.Error(diff)
	}
}

func TestMarkingTwiceChangesNothing(t *testing.T) {
	r := run(t, call("", "task", `{}`), say("done"))
	cmd, err := New().AfterModel(t.Context(), nil, r.State)
	if err != nil || len(cmd.Update) != 0 {
		t.Error(cmd, err)
	}
	for _, none := range [][]message.Message{nil, {message.New(message.Human, "x")}} {
		for i := range none {
			none[i].ID = fmt.Sprint(i)
		}
		s, _, err := state.State{}.Apply(agent.Messages.Append(none...))
		if err != nil {
			t.Fatal(err)
		}
		if cmd, err = New().AfterModel(t.Context(), nil, s); err != nil || len(cmd.Update) != 0 {
			t.Error(cmd, err)
		}
	}
}

// TestWhatIsSentDoesNotChange: a marked message is the same to the model.
func TestWhatIsSentDoesNotChange(t *testing.T) {
	r := run(t, call("first", "task", `{ "description": "x"}`), call("second", "ls", `{}`), say("done"))
	sent := func(m message.Message) string {
		m.Kwargs, m.Usage = nil, nil
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for i := 1; i < len(r.Model.Requests); i++ {
		for j, was := range r.Model.Requests[i-1].Messages {
			if diff := cmp.Diff(sent(was), sent(r.Model.Requests[i].Messages[j])); diff != "" {
				t.Error(diff)
			}
		}
	}
	if args := string(r.Model.Requests[1].Messages[1].ToolCalls[0].Args); args != `{ "description": "x"}` {
		t.Errorf("arguments %s", args)
	}
}

// TestMovesTellTheWholeDifference: a plan to which the moves are applied has the todos of the new one.
func TestMovesTellTheWholeDifference(t *testing.T) {
	plan := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) threadstate.Todo {
		return threadstate.Todo{
			Content: rapid.StringMatching("[a-d]").Draw(t, "content"),
			Status: rapid.SampledFrom([]string{threadstate.TodoPending, threadstate.TodoInProgress,
				threadstate.TodoCompleted}).Draw(t, "status"),
		}
	}), 0, 5)
	rapid.Check(t, func(t *rapid.T) {
		old, next := plan.Draw(t, "old"), plan.Draw(t, "next")
		if got := moves(next, next, "c"); len(got) != 0 {
			t.Fatalf("the same plan moves: %+v", got)
		}
		was, gone := match(old, next)
		kept, changed := 0, 0
		for i, o := range was {
			if o != nil {
				kept++
			}
			if o == nil || *o != next[i] {
				changed++
			}
		}
		if kept+len(gone) != len(old) {
			t.Fatalf("%d kept and %d gone of %d", kept, len(gone), len(old))
		}
		if got := moves(old, next, "c"); len(got) != changed+len(gone) {
			t.Fatalf("%+v", got)
		}
	})
}

func FuzzActions(f *testing.F) {
	for _, s := range []string{`{}`, `{"todos":[{"content":"a","status":"x"}]}`, `{"todos":{}}`,
		`{"query":1,"description":"d"}`, `[]`, ``} {
		f.Add("write_todos", s)
		f.Add("task", s)
		f.Add("web_search", s)
	}
	f.Fuzz(func(t *testing.T, name, args string) {
		m := message.Message{Role: message.AI,
			ToolCalls: []message.ToolCall{{ID: "c", Name: name, Args: json.RawMessage(args)}}}
		a := attribute(&m, []threadstate.Todo{{Content: "a", Status: "pending"}})
		if raw, err := json.Marshal(a); err != nil || len(a.Actions) == 0 ||
			!strings.HasPrefix(string(raw), `{"version":1,`) {
			t.Fatal(string(raw), err)
		}
	})
}

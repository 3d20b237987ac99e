package tokenbudget

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/conversation"
	"github.com/pudu-ai/pudu/internal/toolmeta"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// turn is one answer of the model: what it took, and what the sub-agents took to which it gave tasks.
type turn struct {
	in, out int
	tasks   []int  // input tokens of each; a negative one says nothing
	by      string // the sub-agents' model
}

// turns is a model that gives each answer once, then says that it is done. It reports no usage if mute.
type turns struct {
	list []turn
	mute bool

	mu       *sync.Mutex
	requests *[]*model.Request
}

func (turns) Name() string { return "test/turns" }

func (ts turns) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	n := 0
	for _, m := range req.Messages {
		if m.Role == message.AI {
			n++
		}
	}
	ts.mu.Lock()
	c := *req
	*ts.requests = append(*ts.requests, &c)
	ts.mu.Unlock()
	return func(yield func(message.Chunk, error) bool) {
		if n >= len(ts.list) || req.Settings.NoTools {
			last := message.Chunk{Text: "summed up", FinishReason: "stop"}
			if !ts.mute {
				last.Usage = &message.Usage{}
			}
			yield(last, nil)
			return
		}
		t := ts.list[n]
		out := message.Chunk{FinishReason: "tool_calls", Usage: &message.Usage{InputTokens: t.in, OutputTokens: t.out, TotalTokens: t.in + t.out}}
		if ts.mute {
			out.Usage = nil
		}
		for i := range max(len(t.tasks), 1) {
			out.ToolCalls = append(out.ToolCalls, message.ToolCallChunk{Index: i, ID: fmt.Sprintf("c%d_%d", n, i), Name: "task", Args: "{}"})
		}
		yield(out, nil)
	}
}

// task answers as a sub-agent's task does.
type task struct{ turns }

func (task) Spec() tool.Spec { return tool.Spec{Name: "task", Effect: tool.ReadOnly} }

func (t task) Run(_ context.Context, c *tool.Call) (*tool.Result, error) {
	var n, i int
	if _, err := fmt.Sscanf(c.ID, "c%d_%d", &n, &i); err != nil {
		return nil, err
	}
	res, of := tool.Text("ok"), t.list[n]
	if i < len(of.tasks) && of.tasks[i] >= 0 {
		res.Kwargs = message.Fields{
			toolmeta.KeySubagentUsage: fmt.Appendf(nil, `{"input_tokens":%d,"output_tokens":0,"total_tokens":%[1]d}`, of.tasks[i]),
			toolmeta.KeySubagentModel: fmt.Appendf(nil, "%q", of.by),
		}
	}
	return res, nil
}

type played struct {
	state    state.State
	steps    []agent.Step
	requests []*model.Request
}

type fataler interface {
	Helper()
	Fatal(args ...any)
}

// play runs the turns with the budget and more middlewares, from the start or from a step that an earlier run committed.
func play(t fataler, cfg Config, ts turns, from *agent.Step, more ...agent.Middleware) played {
	t.Helper()
	var out played
	ts.mu, ts.requests = &sync.Mutex{}, &out.requests
	ag, err := agent.New(agent.Config{Model: ts, Tools: []tool.Tool{task{ts}}}, append(more, New(cfg))...)
	if err != nil {
		t.Fatal(err)
	}
	n, first := 0, "m"
	var mu sync.Mutex
	rt := &agent.Runtime{
		RunID: "run",
		Commit: func(_ context.Context, step agent.Step) error {
			mu.Lock()
			defer mu.Unlock()
			if len(step.Updates) > 0 {
				out.steps = append(out.steps, step)
			}
			return nil
		},
		NewID: func() string { mu.Lock(); defer mu.Unlock(); n++; return fmt.Sprintf("%s%d", first, n) },
	}
	var start state.State
	if from == nil {
		human := message.New(message.Human, "go")
		human.ID = "h"
		rt.Input = agent.Messages.Append(human)
	} else {
		first = "again"
		raw, err := from.State.AppendSnapshot(nil)
		if err != nil {
			t.Fatal(err)
		}
		if start, err = ag.Schema().LoadSnapshot(raw); err != nil {
			t.Fatal(err)
		}
		rt.Resume = &agent.Resume{Next: from.Next}
	}
	if out.state, err = ag.Run(context.Background(), rt, start); err != nil {
		t.Fatal(err)
	}
	return out
}

func (p played) reason() string { return agent.StopState(p.state, "run").Reason }

// notes are the warnings, each with the number of answers before it.
func (p played) notes() (notes []string) {
	answers := 0
	for _, m := range agent.Messages.Get(p.state) {
		if m.Role == message.AI {
			answers++
		}
		if conversation.IsNote(m, NoteName) {
			notes = append(notes, fmt.Sprintf("%d: %s", answers, m.Text()))
		}
	}
	return notes
}

// text is a request's messages as JSON, one by one.
func text(req *model.Request) (out []string) {
	for _, m := range req.Messages {
		raw, err := json.Marshal(m)
		if err != nil {
			return nil
		}
		out = append(out, string(raw))
	}
	return out
}

func same(n int, t turn) turns {
	var ts turns
	for range n {
		ts.list = append(ts.list, t)
	}
	return ts
}

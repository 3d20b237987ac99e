package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// fakeModel answers with what its function makes of the request.
type fakeModel func(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error]

func (f fakeModel) Name() string { return "fake/model" }
func (f fakeModel) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return f(ctx, req)
}

// turns is a model that gives one of the answers by how many AI messages the request holds; the last one repeats.
func turns(answers ...[]message.Chunk) fakeModel {
	return func(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
		n := 0
		for _, m := range req.Messages {
			if m.Role == message.AI {
				n++
			}
		}
		return stream(answers[min(n, len(answers)-1)]...)
	}
}

// noting is such a model that notes its requests.
func noting(requests *[]*model.Request, answers ...[]message.Chunk) fakeModel {
	return func(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
		*requests = append(*requests, req)
		return turns(answers...)(ctx, req)
	}
}

func stream(chunks ...message.Chunk) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func say(text string) []message.Chunk {
	return []message.Chunk{{Text: text}, {FinishReason: "stop"}}
}

// call makes an answer that calls tools: pairs of name and arguments.
func call(pairs ...string) []message.Chunk {
	var c message.Chunk
	for i := 0; i < len(pairs); i += 2 {
		c.ToolCalls = append(c.ToolCalls, message.ToolCallChunk{
			Index: i / 2, ID: fmt.Sprintf("c%d", i/2), Name: pairs[i], Args: pairs[i+1],
		})
	}
	return []message.Chunk{c, {FinishReason: "tool_calls"}}
}

// fakeTool is a tool of a function.
type fakeTool struct {
	spec tool.Spec
	run  func(ctx context.Context, c *tool.Call) (*tool.Result, error)
}

func (t fakeTool) Spec() tool.Spec { return t.spec }
func (t fakeTool) Run(ctx context.Context, c *tool.Call) (*tool.Result, error) {
	return t.run(ctx, c)
}

func newTool(name string, effect tool.Effect, run func(ctx context.Context, c *tool.Call) (*tool.Result,
	error)) fakeTool {
	schema := json.RawMessage(`{"type":"object","properties":{"x":{"type":"string"},"n":{"type":"integer"}}}`)
	return fakeTool{tool.Spec{Name: name, Effect: effect, Parameters: schema}, run}
}

// echo is a tool that returns its argument x.
func echo(name string) fakeTool {
	return newTool(name, tool.ReadOnly, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		var in struct{ X string }
		if err := json.Unmarshal(c.Args, &in); err != nil {
			return nil, err
		}
		return tool.Text(name + ":" + in.X), nil
	})
}

// record is what a run emitted and committed.
type record struct {
	mu     sync.Mutex
	events []event.Data
	steps  []agent.Step
	log    []string // both, in order, in short form
	failAt int      // the commit that fails, counted from 1; 0 for none
}

var errCommit = errors.New("disk on fire")

func (r *record) emit(_ string, d event.Data) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, d)
	r.log = append(r.log, "emit "+string(d.Kind()))
}

func (r *record) commit(_ context.Context, s agent.Step) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failAt > 0 && len(r.steps)+1 >= r.failAt {
		return errCommit
	}
	r.steps = append(r.steps, s)
	line := "commit"
	for _, u := range s.Updates {
		line += " " + u.Node
	}
	for _, e := range s.Events {
		line += " " + string(e.Data.Kind())
	}
	r.log = append(r.log, line+" -> "+s.Next)
	return nil
}

func (r *record) note(s string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, s)
}

func (r *record) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, l := range r.log {
		if l != "emit chunk" {
			out = append(out, l)
		}
	}
	return out
}

// bed is a run ready to start: a record, a runtime with predictable ids, and one human message as input.
type bed struct {
	*record
	rt *agent.Runtime
}

func newBed() bed {
	rec := &record{}
	n := 0
	var mu sync.Mutex
	human := message.New(message.Human, "do it")
	human.ID = "h1"
	return bed{rec, &agent.Runtime{
		ThreadID: "t", RunID: "r", UserID: "u", Input: agent.Messages.Append(human),
		Emit: rec.emit, Commit: rec.commit,
		NewID: func() string {
			mu.Lock()
			defer mu.Unlock()
			n++
			return fmt.Sprintf("m%d", n)
		},
	}}
}

func mustAgent(t testing.TB, cfg agent.Config, mws ...agent.Middleware) *agent.Agent {
	t.Helper()
	a, err := agent.New(cfg, mws...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// mustRun runs to the end and returns the conversation in short form.
func (b bed) mustRun(t testing.TB, a *agent.Agent) []string {
	t.Helper()
	s, err := a.Run(t.Context(), b.rt, state.State{})
	if err != nil {
		t.Fatal(err)
	}
	return talk(s)
}

// talk is the conversation as lines "role: text"; calls and errors are shown.
func talk(s state.State) []string {
	var out []string
	for _, m := range agent.Messages.Get(s) {
		line := string(m.Role) + ": " + m.Text()
		for _, c := range m.ToolCalls {
			line += fmt.Sprintf("[%s %s]", c.Name, c.Args)
		}
		for _, c := range m.InvalidToolCalls {
			line += fmt.Sprintf("[invalid %s]", c.Name)
		}
		if m.Status == message.StatusError {
			line = "error " + line
		}
		out = append(out, line)
	}
	return out
}

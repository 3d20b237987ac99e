package loopdetection

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/conversation"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// ask is one call of a script: the tool, its arguments, and what it answers.
type ask struct{ tool, args, answer string }

// script is what the model asks for, message by message; then it says that it is done. Which one is next, it tells by the
// number of AI messages in the request, so that it can go on at any point.
type script [][]ask

func (s script) Name() string { return "test/script" }

func (s script) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	n := 0
	for _, m := range req.Messages {
		if m.Role == message.AI {
			n++
		}
	}
	return func(yield func(message.Chunk, error) bool) {
		if req.Settings.NoTools || n >= len(s) {
			yield(message.Chunk{Text: "summed up", FinishReason: "stop"}, nil)
			return
		}
		c := message.Chunk{FinishReason: "tool_calls"}
		for i, a := range s[n] {
			c.ToolCalls = append(c.ToolCalls, message.ToolCallChunk{Index: i, ID: fmt.Sprintf("c%d_%d", n, i), Name: a.tool, Args: a.args})
		}
		yield(c, nil)
	}
}

// answering is a tool that gives the answers of the script, by call id.
type answering struct {
	name   string
	script script
}

func (t answering) Spec() tool.Spec {
	return tool.Spec{Name: t.name, Effect: tool.ReadOnly, Parameters: json.RawMessage(`{"type":"object","additionalProperties":true}`)}
}

func (t answering) Run(_ context.Context, c *tool.Call) (*tool.Result, error) {
	var n, i int
	if _, err := fmt.Sscanf(c.ID, "c%d_%d", &n, &i); err != nil {
		return nil, err
	}
	answer := t.script[n][i].answer
	if text, failed := strings.CutPrefix(answer, "!"); failed {
		return tool.Error(text), nil
	}
	return tool.Text(answer), nil
}

// ran is what became of a run.
type ran struct {
	state    state.State
	requests []*model.Request
	steps    []agent.Step
	agent    *agent.Agent
}

type spy struct {
	script

	mu       sync.Mutex
	requests []*model.Request
}

func (s *spy) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := *req
	s.requests = append(s.requests, &c)
	return s.script.Stream(ctx, req)
}

type fataler interface {
	Helper()
	Fatal(args ...any)
}

// play runs the script with the middleware, from the start or from a step that an earlier run committed.
func play(t fataler, cfg Config, s script, from *agent.Step) ran {
	t.Helper()
	return playAs(t, "run", cfg, s, from)
}

func playAs(t fataler, runID string, cfg Config, s script, from *agent.Step) ran {
	t.Helper()
	var tools []tool.Tool
	known := map[string]bool{}
	for _, asks := range s {
		for _, a := range asks {
			if !known[a.tool] && a.tool != "nosuch" {
				known[a.tool] = true
				tools = append(tools, answering{a.tool, s})
			}
		}
	}
	m := &spy{script: s}
	a, err := agent.New(agent.Config{Model: m, Tools: tools}, New(cfg))
	if err != nil {
		t.Fatal(err)
	}
	out := ran{agent: a}
	var mu sync.Mutex
	n, first := 0, "m"
	if from != nil {
		first = "again"
	}
	rt := &agent.Runtime{
		RunID: runID,
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
		start = stored(t, a, from.State)
		rt.Resume = &agent.Resume{Next: from.Next}
	}
	out.state, err = a.Run(context.Background(), rt, start)
	if err != nil {
		t.Fatal(err)
	}
	out.requests = m.requests
	return out
}

// stored writes a state down and reads it back, as after a restart.
func stored(t fataler, a *agent.Agent, s state.State) state.State {
	t.Helper()
	raw, err := s.AppendSnapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	back, err := a.Schema().LoadSnapshot(raw)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func (r ran) reason() string { return agent.StopState(r.state, "run").Reason }

// made counts the calls that were made.
func (r ran) made() (n int) {
	for _, m := range agent.Messages.Get(r.state) {
		if m.Role == message.Tool {
			n++
		}
	}
	return n
}

// notes are the warnings, each with the number of calls that were made before it.
func (r ran) notes() (out []string) {
	calls := 0
	for _, m := range agent.Messages.Get(r.state) {
		if m.Role == message.Tool {
			calls++
		}
		if conversation.IsNote(m, NoteName) {
			out = append(out, fmt.Sprintf("%d: %s", calls, m.Text()))
		}
	}
	return out
}

// always repeats the asks n times.
func always(n int, asks ...ask) script {
	var s script
	for range n {
		s = append(s, asks)
	}
	return s
}

// each makes n messages of one call each.
func each(n int, f func(i int) ask) script {
	var s script
	for i := range n {
		s = append(s, []ask{f(i)})
	}
	return s
}

func wantPrefixes(t *testing.T, requests []*model.Request) {
	t.Helper()
	for i := 1; i < len(requests)-1; i++ { // the last one has the request to sum up at its end
		was, is := requests[i-1].Messages, requests[i].Messages
		for j := range was {
			a, _ := json.Marshal(was[j])
			b, _ := json.Marshal(is[j])
			if string(a) != string(b) {
				t.Fatalf("request %d is no prefix of the next: message %d", i-1, j)
			}
		}
	}
}

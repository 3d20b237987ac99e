package modellength

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// fakeModel gives its answers, one a call, and then says "done". It remembers what it was asked.
type fakeModel struct {
	answers  [][]message.Chunk
	requests []model.Request
}

func (*fakeModel) Name() string { return "test/fake" }

func (f *fakeModel) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	f.requests = append(f.requests, *req)
	chunks := ends("stop", "done")
	if n := len(f.requests); n <= len(f.answers) {
		chunks = f.answers[n-1]
	}
	return func(yield func(message.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// ends is an answer of text that ends for a reason.
func ends(reason, text string) []message.Chunk {
	return []message.Chunk{{Text: text}, {FinishReason: reason}}
}

// calls is an answer that calls tools: pairs of name and arguments.
func calls(pairs ...string) []message.Chunk {
	var c message.Chunk
	for i := 0; i < len(pairs); i += 2 {
		c.ToolCalls = append(c.ToolCalls, message.ToolCallChunk{Index: i / 2, ID: fmt.Sprintf("c%d", i/2), Name: pairs[i], Args: pairs[i+1]})
	}
	return []message.Chunk{c, {FinishReason: "tool_calls"}}
}

// fakeTool says "ok" and counts how often.
type fakeTool struct {
	name string
	ran  int
}

func (f *fakeTool) Spec() tool.Spec {
	return tool.Spec{Name: f.name, Effect: tool.ReadOnly, Parameters: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string"}}}`)}
}

func (f *fakeTool) Run(context.Context, *tool.Call) (*tool.Result, error) {
	f.ran++
	return tool.Text("ok"), nil
}

// bed is a thread and an agent for its runs.
type bed struct {
	model  *fakeModel
	agent  *agent.Agent
	state  state.State
	mu     sync.Mutex
	events []event.Data
	runs   int
	ids    int
	limit  int // of steps; 0 is the usual one
}

func newBed(t *testing.T, tools []tool.Tool, mws []agent.Middleware, answers ...[]message.Chunk) *bed {
	t.Helper()
	b := &bed{model: &fakeModel{answers: answers}}
	a, err := agent.New(agent.Config{Model: b.model, Tools: tools}, mws...)
	if err != nil {
		t.Fatal(err)
	}
	b.agent = a
	return b
}

func (b *bed) newID() string { b.ids++; return fmt.Sprintf("id%d", b.ids) }

// runID is the id of the newest run.
func (b *bed) runID() string { return fmt.Sprintf("run%d", b.runs) }

// run makes a run and returns the messages that it adds, the user's included.
func (b *bed) run(t *testing.T, text string) []message.Message {
	t.Helper()
	b.runs++
	in := message.New(message.Human, text)
	in.ID = b.newID()
	before := len(agent.Messages.Get(b.state))
	s, err := b.agent.Run(t.Context(), &agent.Runtime{
		ThreadID: "t", RunID: b.runID(), Input: agent.Messages.Append(in), NewID: b.newID, Config: agent.RunConfig{ParallelTools: 1, MaxSteps: b.limit},
		Emit: func(_ string, d event.Data) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.events = append(b.events, d)
		},
	}, b.state)
	if err != nil {
		t.Fatal(err)
	}
	b.state = s
	return agent.Messages.Get(s)[before:]
}

func (b *bed) reason() string { return agent.StopState(b.state, b.runID()).Reason }

// talk is messages as lines of role, name and text.
func talk(msgs []message.Message) []string {
	var out []string
	for _, m := range msgs {
		line := string(m.Role)
		if m.Name != "" {
			line += " " + m.Name
		}
		if m.Status == message.StatusError {
			line = "error " + line
		}
		out = append(out, line+": "+m.Text())
	}
	return out
}

// checkGrowth fails unless each request begins, byte for byte, with the messages of the one before.
func (b *bed) checkGrowth(t *testing.T) {
	t.Helper()
	var before [][]byte
	for i, req := range b.model.requests {
		var now [][]byte
		for _, m := range req.Messages {
			raw, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			now = append(now, raw)
		}
		if len(now) < len(before) || !slices.EqualFunc(now[:len(before)], before, bytes.Equal) {
			t.Errorf("request %d does not begin with the one before it", i+1)
		}
		before = now
	}
}

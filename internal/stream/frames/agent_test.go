package frames_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/stream/frames"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// scripted is a model that streams one script after the other; an error ends a stream.
type scripted struct {
	scripts [][]message.Chunk
	fail    map[int]bool // streams that break off at their end
	n       int
}

func (m *scripted) Name() string { return "fake/model" }

func (m *scripted) Stream(context.Context, *model.Request) iter.Seq2[message.Chunk, error] {
	n := m.n
	m.n++
	return func(yield func(message.Chunk, error) bool) {
		for _, c := range m.scripts[min(n, len(m.scripts)-1)] {
			if !yield(c, nil) {
				return
			}
		}
		if m.fail[n] {
			yield(message.Chunk{}, errors.New("connection lost"))
		}
	}
}

// again repeats a failed call and, if asked, changes answers.
type again struct {
	change func(message.Message) message.Message
}

func (again) Name() string { return "Again" }

func (a again) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	res, err := next(ctx, req)
	if err != nil {
		res, err = next(ctx, req)
	}
	if err != nil {
		m := message.New(message.AI, "the model is not there")
		m.Kwargs = message.Fields{message.KeyErrorFallback: json.RawMessage("true")}
		return &agent.ModelResponse{Message: m}, nil //nolint:nilerr // the message tells of it
	}
	if a.change != nil {
		res.Message = a.change(res.Message)
	}
	return res, nil
}

type echo struct{}

func (echo) Spec() tool.Spec {
	return tool.Spec{Name: "echo",
		Parameters: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string"}}}`)}
}

func (echo) Run(_ context.Context, c *tool.Call) (*tool.Result, error) {
	c.Emit(map[string]string{"type": "echo"})
	return tool.Text("echo " + string(c.Args)), nil
}

// log makes events of what an agent emits and commits, as the owner of a run does.
type log struct {
	mu sync.Mutex
	script
}

func (l *log) emit(node string, d event.Data) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(node, d)
}

func (l *log) commit(_ context.Context, s agent.Step) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []wrote
	for _, u := range s.Updates {
		all = append(all, wrote{u.Node, u.Update})
	}
	l.step(s.Next, all...)
	for _, e := range s.Events {
		l.add(e.Node, e.Data)
	}
	return nil
}

// run executes an agent and returns its events and the messages of its last state.
func run(t testing.TB, m model.ChatModel, mw agent.Middleware) ([]event.Event, []message.Message) {
	t.Helper()
	a, err := agent.New(agent.Config{Model: m, Tools: []tool.Tool{echo{}}}, mw)
	if err != nil {
		t.Fatal(err)
	}
	l := &log{script: *begin()}
	n := 0
	last, err := a.Run(context.Background(), &agent.Runtime{
		ThreadID: "t1", RunID: "r1", Input: put(msg(message.Human, "h1", "go")), Emit: l.emit, Commit: l.commit,
		Config: agent.RunConfig{MaxSteps: 6}, Now: time.Now, NewID: func() string { n++; return fmt.Sprint("m", n) },
	}, newState(t))
	if err != nil {
		t.Fatal(err)
	}
	l.add("", event.Run{Status: event.StatusSuccess})
	return l.evs, agent.Messages.Get(last)
}

// client adds up the frames of messages-tuple as the SDKs do.
type client struct {
	order []string
	held  map[string]*held
}

// held is a message as a client has it.
type held struct {
	Type, Content, Reasoning, Finish string
	Usage                            string
	Calls                            []string
	calls                            map[int]*[3]string
	whole                            bool
	positions                        []string
}

type wire struct {
	Content          string
	AdditionalKwargs struct {
		ReasoningContent string `json:"reasoning_content"`
	} `json:"additional_kwargs"`
	ResponseMetadata struct {
		FinishReason string `json:"finish_reason"`
	} `json:"response_metadata"`
	Type, ID       string
	ToolCallChunks []struct {
		ID, Name, Args string
		Index          int
	} `json:"tool_call_chunks"`
	Usage    json.RawMessage `json:"usage_metadata"`
	Position string          `json:"chunk_position"`
}

func (c *client) take(t testing.TB, f frames.Frame) {
	t.Helper()
	if f.Event != "messages" {
		return
	}
	var pair []json.RawMessage
	var m message.Message
	if err := json.Unmarshal(f.Data, &pair); err != nil || len(pair) != 2 || json.Unmarshal(pair[0], &m) != nil {
		t.Fatalf("%s: %v", f.Data, err)
	}
	h := c.held[m.ID]
	switch {
	case m.Role == message.Remove:
		delete(c.held, m.ID)
		c.order = slices.DeleteFunc(c.order, func(id string) bool { return id == m.ID })
		return
	case h == nil:
		h = &held{calls: make(map[int]*[3]string)}
		c.held[m.ID], c.order = h, append(c.order, m.ID)
	case h.whole:
		t.Fatalf("%s comes twice: %s", m.ID, f.Data)
	}
	var w wire
	if err := json.Unmarshal(pair[0], &w); err == nil && w.Type == "AIMessageChunk" {
		h.add(t, w)
		return
	}
	if len(h.positions) > 0 {
		t.Fatalf("%s comes in pieces and as a whole: %s", m.ID, f.Data)
	}
	*h = expected(t, m)
	h.whole = true
}

// add joins a piece of a message.
func (h *held) add(t testing.TB, w wire) {
	h.Type = "ai"
	h.Content += w.Content
	h.Reasoning += w.AdditionalKwargs.ReasoningContent
	h.Finish += w.ResponseMetadata.FinishReason
	if len(w.Usage) > 0 && string(w.Usage) != "null" {
		h.Usage += string(w.Usage)
	}
	if len(h.positions) > 0 && h.positions[len(h.positions)-1] == "last" {
		t.Errorf("a piece follows the last one")
	}
	h.positions = append(h.positions, w.Position)
	for _, tc := range w.ToolCallChunks {
		if h.calls[tc.Index] == nil {
			h.calls[tc.Index] = &[3]string{}
		}
		for i, s := range []string{tc.ID, tc.Name, tc.Args} {
			h.calls[tc.Index][i] += s
		}
	}
}

func call(id, name, args string) string {
	args = strings.TrimSpace(args)
	if args == "" {
		args = "{}"
	}
	return id + " " + name + " " + args
}

// messages are what the client has in the end.
func (c *client) messages(t testing.TB) (out []held) {
	for _, id := range c.order {
		h := c.held[id]
		for _, tc := range h.calls {
			h.Calls = append(h.Calls, call(tc[0], tc[1], tc[2]))
		}
		if !h.whole && h.positions[len(h.positions)-1] != "last" {
			t.Errorf("message %s has no last piece", id)
		}
		slices.Sort(h.Calls)
		out = append(out, held{Type: h.Type, Content: h.Content, Reasoning: h.Reasoning, Finish: h.Finish,
			Usage: h.Usage, Calls: h.Calls})
	}
	return out
}

// expected is the same of a message in the state.
func expected(t testing.TB, m message.Message) held {
	raw, err := m.MarshalJSON()
	var w struct {
		Usage json.RawMessage `json:"usage_metadata"`
	}
	if err = errors.Join(err, json.Unmarshal(raw, &w)); err != nil {
		t.Fatal(err)
	}
	h := held{Type: string(m.Role), Content: m.Text(), Reasoning: m.Reasoning()}
	_ = json.Unmarshal(m.ResponseMetadata["finish_reason"], &h.Finish) // absent is none
	if m.Usage != nil {
		h.Usage = string(w.Usage)
	}
	for _, c := range m.ToolCalls {
		h.Calls = append(h.Calls, call(c.ID, c.Name, string(c.Args)))
	}
	for _, c := range m.InvalidToolCalls {
		h.Calls = append(h.Calls, call(c.ID, c.Name, c.Args))
	}
	slices.Sort(h.Calls)
	return h
}

// randomAnswer is a stream of pieces.
func randomAnswer(t *rapid.T) (out []message.Chunk) {
	words := rapid.SampledFrom([]string{"", "Hello ", "wörld\n", "🦌", `"quoted"`})
	for range rapid.IntRange(0, 2).Draw(t, "thoughts") {
		out = append(out, message.Chunk{Reasoning: words.Draw(t, "thought")})
	}
	for range rapid.IntRange(0, 3).Draw(t, "words") {
		out = append(out, message.Chunk{Text: words.Draw(t, "word")})
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "calls") {
		id := rapid.SampledFrom([]string{fmt.Sprint("c", i), "", "same"}).Draw(t, "id")
		args := rapid.SampledFrom([]string{`{"x":"a b"}`, ` {"x": "ö"} `, ``, `{"x":`, `{"x":1,}`}).Draw(t, "args")
		cut := rapid.IntRange(0, len(args)).Draw(t, "cut")
		for !json.Valid([]byte(`"`+strings.ReplaceAll(args[:cut], `"`, "")+`"`)) ||
			cut < len(args) && args[cut]&0xC0 == 0x80 {
			cut++ // between characters
		}
		out = append(out,
			message.Chunk{ToolCalls: []message.ToolCallChunk{{Index: i, ID: id, Name: "echo", Args: args[:cut]}}})
		out = append(out, message.Chunk{ToolCalls: []message.ToolCallChunk{{Index: i, ID: id, Args: args[cut:]}}})
	}
	return append(out, message.Chunk{FinishReason: "stop", Usage: &message.Usage{InputTokens: 3, OutputTokens: 4,
		TotalTokens: 7}})
}

// What a client adds up from the pieces is what the thread's state holds, however the model streams: with calls without
// ids, cut off, repaired, with tries that fail, answers that a middleware changes, and a run that reaches its limit.
func TestPiecesAddUpToTheMessages(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &scripted{fail: make(map[int]bool)}
		for i := range rapid.IntRange(1, 5).Draw(rt, "answers") {
			m.scripts = append(m.scripts, randomAnswer(rt))
			m.fail[i] = rapid.IntRange(0, 3).Draw(rt, "fails") == 0
		}
		mw := again{}
		if rapid.Bool().Draw(rt, "changes") {
			mw.change = func(m message.Message) message.Message {
				m.Content = append(slices.Clone(m.Content), message.Text(" (checked)"))
				return m
			}
		}
		evs, state := run(t, m, mw)
		c := &client{held: make(map[string]*held)}
		for _, f := range project(t, config(frames.MessagesTuple), evs, frames.FrameID{}) {
			c.take(t, f)
		}
		var want []held
		for _, m := range state {
			if m.Role == message.AI || m.Role == message.Tool {
				want = append(want, expected(t, m))
			}
		}
		got := c.messages(t)
		byContent := func(a, b held) int {
			return strings.Compare(a.Type+a.Content+fmt.Sprint(a.Calls), b.Type+b.Content+fmt.Sprint(b.Calls))
		}
		slices.SortStableFunc(want, byContent) // results of tools come in the order in which they end
		slices.SortStableFunc(got, byContent)
		if d := cmp.Diff(want, got, cmp.AllowUnexported(held{})); d != "" {
			rt.Fatalf("(-state +client)\n%s", d)
		}
	})
}

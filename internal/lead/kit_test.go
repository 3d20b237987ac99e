package lead_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// checker is a test, or one try of a property.
type checker interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// reply is one answer of the scripted model: chunks, then an error if there is one.
type reply struct {
	chunks []message.Chunk
	err    error
}

// bot is a model that answers as it is told and keeps what it was sent. n counts the requests from 0; the request
// without tools is answered by last.
type bot struct {
	answer func(n int, req *model.Request) reply
	last   reply

	mu       sync.Mutex
	requests []*model.Request
}

func (*bot) Name() string { return "test/bot" }

func (b *bot) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	b.mu.Lock()
	n := len(b.requests)
	b.requests = append(b.requests, req)
	b.mu.Unlock()
	r := b.last
	if !req.Settings.NoTools {
		r = b.answer(n, req)
	}
	return func(yield func(message.Chunk, error) bool) {
		for _, c := range r.chunks {
			if ctx.Err() != nil {
				yield(message.Chunk{}, ctx.Err())
				return
			}
			if !yield(c, nil) {
				return
			}
		}
		if r.err != nil {
			yield(message.Chunk{}, r.err)
		}
	}
}

// script answers with one reply after the other; the last one repeats.
func script(replies ...reply) func(int, *model.Request) reply {
	return func(n int, _ *model.Request) reply { return replies[min(n, len(replies)-1)] }
}

func says(text string) reply {
	return reply{chunks: []message.Chunk{{Text: text}, {FinishReason: "stop", Usage: used(20, 2)}}}
}

// calls is an answer that calls tools: pairs of a name and arguments. The ids repeat in every answer, as with some
// models.
func calls(pairs ...string) reply {
	var c message.Chunk
	for i := 0; i < len(pairs); i += 2 {
		c.ToolCalls = append(c.ToolCalls, message.ToolCallChunk{Index: i / 2, ID: fmt.Sprint("c", i/2), Name: pairs[i],
			Args: pairs[i+1]})
	}
	return reply{chunks: []message.Chunk{c, {FinishReason: "tool_calls", Usage: used(20, 2)}}}
}

// ends is the reply with another finish reason.
func (r reply) ends(finish string) reply {
	chunks := append([]message.Chunk(nil), r.chunks...)
	chunks[len(chunks)-1].FinishReason = finish
	return reply{chunks, r.err}
}

// costs is the reply with other numbers of tokens.
func (r reply) costs(in, out int) reply {
	chunks := append([]message.Chunk(nil), r.chunks...)
	chunks[len(chunks)-1].Usage = used(in, out)
	return reply{chunks, r.err}
}

func used(in, out int) *message.Usage {
	return &message.Usage{InputTokens: in, OutputTokens: out, TotalTokens: in + out}
}

// hand is a tool of the tests: it returns what do makes of the call, and remembers the arguments with which it ran.
type hand struct {
	name   string
	effect tool.Effect
	do     func(ctx context.Context, c *tool.Call) (*tool.Result, error)

	mu  sync.Mutex
	ran []string
}

func (h *hand) Spec() tool.Spec {
	return tool.Spec{Name: h.name, Effect: h.effect,
		Parameters: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string"}}}`)}
}

func (h *hand) Run(ctx context.Context, c *tool.Call) (*tool.Result, error) {
	h.mu.Lock()
	h.ran = append(h.ran, string(c.Args))
	h.mu.Unlock()
	return h.do(ctx, c)
}

// returns is a tool with one result for all calls.
func returns(name, text string) *hand {
	return &hand{name: name, effect: tool.ReadOnly,
		do: func(context.Context, *tool.Call) (*tool.Result, error) {
			return tool.Text(text), nil
		}}
}

// thread is a conversation with the whole chain on a folder of its own.
type thread struct {
	t    checker
	dir  string
	bot  *bot
	cfg  lead.Config
	max  int
	now  time.Time
	runs int
	ids  int
	mu   sync.Mutex

	state  state.State
	events []event.Data
	// commit, if set, is asked before a step of the run is kept.
	commit func(agent.Step) error
}

// newThread has every part of the chain switched on, with limits that are out of the way.
func newThread(t *testing.T, b *bot, tools ...tool.Tool) *thread {
	t.Helper()
	th, closer := openThread(t, t.TempDir(), b, tools...)
	t.Cleanup(func() { closer.Close() })
	return th
}

func openThread(t checker, dir string, b *bot, tools ...tool.Tool) (*thread, io.Closer) {
	t.Helper()
	var mounts []sandbox.Mount
	for _, path := range []string{sandbox.Workspace, sandbox.Uploads, sandbox.Outputs} {
		host := filepath.Join(dir, filepath.Base(path))
		if err := os.MkdirAll(host, 0o700); err != nil {
			t.Fatalf("%v", err)
		}
		mounts = append(mounts, sandbox.Mount{Host: host, Path: path})
	}
	files, err := sandbox.NewFiles(mounts, sandbox.FilesOptions{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	cfg := allOn()
	th := &thread{
		t: t, dir: dir, bot: b, now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.Local),
		cfg: lead.Config{
			Settings: cfg, Models: modelsOf(cfg, b, cfg.Models[0]),
			Options: lead.Options{Plan: true, Subagents: true}, Choice: agents.Choice{Model: cfg.Models[0]},
			Thread: lead.Thread{Space: space{files}}, Sandbox: lead.Sandbox{Off: "there is no sandbox in this test"},
			Program: lead.Program{Tools: tools},
		},
	}
	th.renew()
	return th, files
}

// allOn is a configuration with all sections on.
func allOn() *config.Config {
	cfg := config.Default()
	cfg.Models = []config.Model{{Name: "bot", SupportsVision: true, Pricing: &config.Pricing{Input: 1, Output: 1}}}
	cfg.ToolProgress.Enabled, cfg.TokenBudget.Enabled, cfg.Summarization.Enabled = true, true, true
	cfg.TokenBudget.MaxTokens = 1e9
	cfg.Summarization.Trigger = config.Thresholds{{Type: "tokens", Value: 1e9}}
	cfg.LLMCall.RetryBaseDelay, cfg.LLMCall.RetryCapDelay, cfg.LLMCall.BurstRetryBaseDelay = time.Microsecond,
		time.Microsecond, time.Microsecond
	cfg.Guardrails = config.Guardrails{Enabled: true, FailClosed: true,
		Rules: []config.GuardrailRule{{Tools: config.Words{"forbidden"}, Action: "deny", Reason: "it is forbidden"}}}
	cfg.Authorization = config.Authorization{Enabled: true, FailClosed: true, DefaultRole: "user",
		Provider: config.AuthorizationProvider{
			Use: config.RBAC, Roles: config.Roles{"user": {}},
		}}
	return cfg
}

// renew makes the guards after a change of the settings.
func (th *thread) renew() {
	th.t.Helper()
	guards, err := lead.NewGuards(th.cfg.Settings)
	if err != nil {
		th.t.Fatalf("%v", err)
	}
	th.cfg.Guards = guards
}

// say runs a turn with the user's words and returns its new messages behind the input.
func (th *thread) say(ctx context.Context, text string) ([]message.Message, error) {
	th.t.Helper()
	return th.send(ctx, message.New(message.Human, text))
}

func (th *thread) send(ctx context.Context, input ...message.Message) ([]message.Message, error) {
	th.t.Helper()
	th.runs++
	update, err := agent.AddMessages(th.state, input, th.newID)
	if err != nil {
		th.t.Fatalf("%v", err)
	}
	old := len(agent.Messages.Get(th.state))
	err = th.run(ctx, &agent.Runtime{Input: update})
	msgs := agent.Messages.Get(th.state)
	return msgs[min(old, len(msgs)):], err
}

// run makes or goes on with the newest run.
func (th *thread) run(ctx context.Context, rt *agent.Runtime) error {
	th.t.Helper()
	a, err := lead.Build(th.cfg)
	if err != nil {
		th.t.Fatalf("%v", err)
	}
	th.state = stored(th.t, a, th.state)
	rt.ThreadID, rt.RunID, rt.UserID, rt.NewID = "t", th.runID(), "u", th.newID
	rt.Config.MaxSteps = th.max
	rt.Now = func() time.Time { return th.now }
	rt.Emit = func(_ string, d event.Data) {
		th.mu.Lock()
		defer th.mu.Unlock()
		th.events = append(th.events, d)
	}
	rt.Commit = func(_ context.Context, s agent.Step) error {
		th.mu.Lock()
		defer th.mu.Unlock()
		if th.commit != nil {
			return th.commit(s)
		}
		return nil
	}
	th.state, err = a.Run(ctx, rt, th.state)
	return err
}

// stored is the state as it comes back from the disk.
func stored(t checker, a *agent.Agent, s state.State) state.State {
	t.Helper()
	raw, err := s.AppendSnapshot(nil)
	if err != nil {
		t.Fatalf("%v", err)
	}
	back, err := a.Schema().LoadSnapshot(raw)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return back
}

func (th *thread) runID() string { return fmt.Sprint("run", th.runs) }

func (th *thread) newID() string {
	th.mu.Lock()
	defer th.mu.Unlock()
	th.ids++
	return fmt.Sprint("m", th.ids)
}

// reason is the stop_reason of the newest run.
func (th *thread) reason() string { return agent.StopState(th.state, th.runID()).Reason }

// put writes a file of the thread's.
func (th *thread) put(folder, name, text string) {
	th.t.Helper()
	if err := os.WriteFile(filepath.Join(th.dir, folder, name), []byte(text), 0o600); err != nil {
		th.t.Fatalf("%v", err)
	}
}

var errDown = errors.New("connection refused")

// down is a model that cannot be reached.
func down() reply {
	return reply{err: &model.Error{Class: model.ClassTransient, Provider: "test", Model: "bot",
		Message: "cannot connect", Err: errDown}}
}

package calls_test

import (
	stdcmp "cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/feature/calls"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

// bed is a thread with the whole chain, on a real store, and a model that keeps what it was sent.
type bed struct {
	*databases.Fixture

	rand    *rand.Rand
	cfg     *config.Config
	files   *sandbox.Files
	calls   *calls.Calls
	manager *runs.Manager
	owners  int
	wrap    agent.Middleware
	without bool // nothing is noted

	mu    sync.Mutex
	sent  []received
	fails int          // of the tries that come
	class model.Class  // how they do
	halt  func()       // what happens in the midst of the next answer
	plan  func() reply // nil: any
}

// received is a request as the model has it, in writing.
type received struct {
	System   string
	Tools    []calls.Tool
	NoTools  bool
	Messages []string
	model    string
	failed   bool
}

type reply struct{ text, tool, name string }

func newBed(f *databases.Fixture, seed uint64) *bed {
	f.Helper()
	b := &bed{Fixture: f, rand: rand.New(rand.NewPCG(seed, 0)), cfg: config.Default()}
	dir := f.TempDir()
	var mounts []sandbox.Mount
	for _, path := range []string{sandbox.Workspace, sandbox.Uploads, sandbox.Outputs} {
		host := filepath.Join(dir, filepath.Base(path))
		f.Must(os.MkdirAll(host, 0o700))
		mounts = append(mounts, sandbox.Mount{Host: host, Path: path})
	}
	var err error
	b.files, err = sandbox.NewFiles(mounts, sandbox.FilesOptions{})
	f.Must(err)
	f.Cleanup(func() { b.files.Close() })
	b.cfg.Models = []config.Model{{Name: "bot", SupportsVision: true, Pricing: &config.Pricing{Input: 1, Output: 2}}}
	b.cfg.Summarization.Enabled = true
	b.cfg.Summarization.Trigger = config.Thresholds{{Type: "messages", Value: 14}}
	b.cfg.Summarization.Keep = config.Threshold{Type: "messages", Value: 5}
	b.cfg.LLMCall.RetryBaseDelay, b.cfg.LLMCall.RetryCapDelay = time.Microsecond, time.Microsecond
	b.restart()
	return b
}

// restart puts another process in the place of the one that there was.
func (b *bed) restart() {
	b.Helper()
	schema, err := lead.Schema(b.cfg)
	b.Must(err)
	b.calls = calls.New(b.Store, calls.Config{
		Schema: schema, Messages: agent.Messages.Get,
		Price: func(name string, u message.Usage) (float64, string, bool) {
			return float64(u.InputTokens + u.OutputTokens), "EUR", name == "bot"
		},
		Window: func(name string) int { return map[string]int{"second": 5000}[name] },
	})
	b.owners++
	b.manager = runs.NewManager(runs.Config{
		Store: b.Store, Owner: fmt.Sprint("process", b.owners), Schema: schema, Build: b.build,
	})
}

func (b *bed) build(_ context.Context, job runs.Job) (runs.Built, error) {
	candidate := func(entry config.Model) lead.Candidate {
		return lead.Candidate{Model: &bot{b, entry.Name}, Entry: entry,
			Guard: lead.NewModelGuard(b.cfg.LLMCall, b.cfg.CircuitBreaker)}
	}
	a, err := lead.Build(lead.Config{
		Settings: b.cfg, Options: lead.Options{Plan: true}, Choice: agents.Choice{Model: b.cfg.Models[0]},
		Models: lead.Models{
			Main: candidate(b.cfg.Models[0]), Fallbacks: []lead.Candidate{candidate(config.Model{Name: "second"})},
			Summary: lead.SummaryModel{Model: sums{}},
		},
		Thread: lead.Thread{Space: space{b.files}}, Sandbox: lead.Sandbox{Off: "there is no sandbox in this test"},
		Program: lead.Program{Tools: b.tools(job), Middlewares: b.middlewares()},
	})
	built := runs.Built{Agent: a, Close: func() error { return nil }}
	if !b.without {
		notes := b.calls.For(access.FromRow(job.Run.UserID)).Notes()
		built.Sent = func(ctx context.Context, s *agent.Sent) json.RawMessage {
			a := calls.Asked(*s)
			return notes.Note(ctx, &a)
		}
	}
	return built, err
}

func (b *bed) middlewares() []agent.Middleware {
	if b.wrap == nil {
		return nil
	}
	return []agent.Middleware{b.wrap}
}

func (b *bed) tools(job runs.Job) []tool.Tool {
	below := tool.MustNew(tool.Spec{Name: "below", Description: "Has another do it."},
		func(ctx context.Context, c *tool.Call, _ struct{}) (*tool.Result, error) {
			child, err := job.Children.Start(ctx, c.ID,
				runs.Request{Input: []message.Message{message.New(message.Human, "do <system>it")}})
			if err != nil {
				return nil, err
			}
			out, err := child.Wait(ctx, nil)
			return tool.Text("it is " + out.Run.Status), err
		})
	return []tool.Tool{below, tool.MustNew(tool.Spec{Name: "echo", Description: "Says <it> again."},
		func(_ context.Context, _ *tool.Call, in struct {
			N int `json:"n"`
		}) (*tool.Result, error) {
			return tool.Text(strings.Repeat("echo <b>&amp; ", in.N)), nil
		})}
}

type space struct{ files *sandbox.Files }

func (space) ID() string              { return "" }
func (s space) Files() *sandbox.Files { return s.files }
func (space) Sandbox(context.Context) (sandbox.Sandbox, error) {
	return nil, sandbox.ErrUnavailable
}

// sums sums up.
type sums struct{}

func (sums) Name() string { return "test/sums" }
func (sums) Stream(context.Context, *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		yield(message.Chunk{Text: "They <talked> of deer.", FinishReason: "stop"}, nil)
	}
}

// bot is a model of the bed.
type bot struct {
	*bed

	name string
}

func (m *bot) Name() string { return "test/" + m.name }

func (m *bot) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		m.mu.Lock()
		r := written(req)
		r.model, r.failed = m.name, m.fails > 0
		n, halt, plan, class := len(m.sent), m.halt, m.plan, m.class
		m.sent = append(m.sent, r)
		if m.fails > 0 {
			m.fails--
		} else {
			m.halt = nil
		}
		say := reply{text: fmt.Sprintf("answer #%d.", n)}
		if plan != nil && !r.failed {
			say = plan()
			say.text += fmt.Sprintf("answer #%d.", n)
		} else if m.rand.IntN(3) > 0 && !req.Settings.NoTools {
			say.tool = fmt.Sprintf(`{"n":%d}`, m.rand.IntN(30))
		}
		m.mu.Unlock()
		if r.failed {
			yield(message.Chunk{}, &model.Error{Class: class, Provider: "test", Model: m.name, Message: "it cannot"})
			return
		}
		if !yield(message.Chunk{Text: say.text[:3]}, nil) {
			return
		}
		if halt != nil {
			halt()
			<-ctx.Done()
			yield(message.Chunk{}, ctx.Err())
			return
		}
		c := message.Chunk{Text: say.text[3:], FinishReason: "stop",
			Usage: &message.Usage{InputTokens: 100, OutputTokens: 7, TotalTokens: 107, CacheRead: 25}}
		if say.tool != "" {
			c.ToolCalls = []message.ToolCallChunk{{ID: fmt.Sprint("c", n), Name: stdcmp.Or(say.name, "echo"),
				Args: say.tool}}
			c.FinishReason = "tool_calls"
		}
		yield(c, nil)
	}
}

// written is a request in writing.
func written(req *model.Request) received {
	r := received{System: req.System, NoTools: req.Settings.NoTools, Messages: []string{}, Tools: []calls.Tool{}}
	for _, t := range req.Tools {
		r.Tools = append(r.Tools, calls.Tool(t))
	}
	for i := range req.Messages {
		raw, err := req.Messages[i].AppendJSON(nil)
		if err != nil {
			panic(err)
		}
		r.Messages = append(r.Messages, string(raw))
	}
	return r
}

// asks is a request of the thread.
func asks(text string) runs.Request {
	return runs.Request{ThreadID: "t", Input: []message.Message{message.New(message.Human, text)}}
}

func (b *bed) run(req runs.Request) store.Run {
	b.Helper()
	run, err := b.manager.For(b.Ann()).Admit(b.Context(), req)
	b.Must(err)
	out, err := b.manager.Execute(b.Context(), run, nil)
	if errors.Is(err, runs.ErrStopped) {
		b.restart()
		left, err := b.manager.Unfinished(b.Context())
		b.Must(err)
		if len(left) != 1 {
			b.Fatalf("%d unfinished runs", len(left))
		}
		out, err = b.manager.Resume(b.Context(), left[0], nil)
		b.Must(err)
	} else {
		b.Must(err)
	}
	return out.Run
}

// mine are Ann's calls, as another process reads them.
func (b *bed) mine() *calls.Mine {
	return b.calls.For(b.Ann())
}

// check compares each call of a run with what the model received. It returns how many there are.
func (b *bed) check(run store.Run) int {
	b.Helper()
	t, err := b.mine().Timeline(b.Context(), run.ThreadID, run.ID, "", calls.MaxSteps)
	b.Must(err)
	for n := 1; n <= t.Calls; n++ {
		c, err := b.mine().Call(b.Context(), run.ThreadID, run.ID, n)
		b.Must(err)
		got := received{System: c.Request.System, Tools: c.Request.Tools, NoTools: c.Request.Settings.NoTools,
			Messages: []string{}}
		for _, raw := range c.Request.Messages {
			got.Messages = append(got.Messages, string(raw))
		}
		if !c.Request.Exact || c.Request.Note != "" {
			b.Errorf("call %d of run %s (%s) is not exact: %s", n, run.ID, run.Status, c.Request.Note)
		}
		want, ok := b.receivedBy(&c, got)
		if !ok {
			continue
		}
		if text(want) != text(got) {
			b.Errorf("call %d of run %s (-sent +rebuilt):\n%s", n, run.ID, cmp.Diff(want.Messages, got.Messages))
		}
		if c.Model != want.model || c.Provider != "test/"+want.model {
			b.Errorf("call %d of run %s was made to %s, not %s (%s)", n, run.ID, want.model, c.Model, c.Provider)
		}
	}
	return t.Calls
}

// text is a request as one text.
func text(r received) string {
	raw, _ := json.Marshal(r)
	return string(raw)
}

// receivedBy finds the request that an answer is to; for a call without an answer, one that is the same.
func (b *bed) receivedBy(c *calls.Call, got received) (received, bool) {
	b.Helper()
	if _, rest, ok := strings.Cut(string(c.Answer), "answer #"); ok {
		n := 0
		if _, err := fmt.Sscanf(rest, "%d.", &n); err == nil {
			return b.sent[n], true
		}
	}
	whole := text(got)
	for _, r := range slices.Backward(b.sent) {
		if len(r.Messages) == len(got.Messages) && text(r) == whole {
			return r, true
		}
	}
	b.Errorf("call %d of run %s: no request is like it; %s", c.N, c.RunID, c.Answer)
	return received{}, false
}

// all are the runs of the thread, the oldest first.
func (b *bed) all() []store.Run {
	b.Helper()
	list, err := b.Store.For(b.Ann()).ListRuns(b.Context(), store.RunFilter{ThreadID: "t", Limit: 1000})
	b.Must(err)
	slices.Reverse(list)
	return list
}

// odd is a middleware that changes requests in every way, as its chance has it.
type odd struct {
	*rand.Rand
	last message.Message
}

func (*odd) Name() string { return "OddMiddleware" }

func (o *odd) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	changed := *req
	changed.Messages = slices.Clone(req.Messages)
	for range o.IntN(3) {
		o.change(&changed)
	}
	return next(ctx, &changed)
}

func (o *odd) change(req *agent.ModelRequest) {
	msgs := req.Messages
	i, j := o.IntN(len(msgs)), o.IntN(len(msgs))
	switch o.IntN(9) {
	case 0:
		msgs[i], msgs[j] = msgs[j], msgs[i]
	case 1:
		req.Messages = slices.Delete(msgs, i, i+1)
		if len(req.Messages) == 0 {
			req.Messages = msgs[:1]
		}
	case 2:
		note := message.New(message.Human, fmt.Sprintf("Note %d: \"chunks\":[1] </b>\x00", o.IntN(3)))
		note.Kwargs = message.Fields{message.KeyHidden: json.RawMessage("true"), "chunks": json.RawMessage(`[1]`)}
		if o.IntN(2) == 0 && o.last.Role != "" {
			note = o.last
		}
		o.last = note
		req.Messages = slices.Insert(msgs, i, note)
	case 3:
		msgs[i].Content = append(slices.Clone(msgs[i].Content), message.Text("changed"))
	case 4:
		kwargs := maps.Clone(msgs[i].Kwargs)
		if kwargs == nil {
			kwargs = message.Fields{}
		}
		kwargs["odd"] = json.RawMessage(`"x"`)
		msgs[i].Kwargs = kwargs
	case 5:
		req.System += fmt.Sprintf("\n<odd %d>", o.IntN(3))
	case 6:
		req.Tools = req.Tools[:o.IntN(len(req.Tools)+1)]
	case 7:
		msgs[i].Content = append(slices.Clone(msgs[i].Content),
			message.Part{Type: message.PartImage, URL: "data:image/png;base64,AAAA"})
	case 8:
		req.Messages = append(msgs, msgs[j])
	}
}

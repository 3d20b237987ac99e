package summarization

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/middleware/durablecontext"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// provider is a model with a window that it enforces, and that counts in its own way: four bytes a token, or density
// bytes. It plays a script of answers and records what it was asked.
type provider struct {
	window  int     // 0: takes everything
	density float64 // bytes a token; 0: 4
	mute    bool    // reports no usage
	report  int     // reports this total for every answer instead
	// answer is the n-th answer of the agent, from 0; summary that of the summarizer, from 0.
	answer  func(n int) message.Chunk
	summary func(n int, req *model.Request) (string, error)

	mu        sync.Mutex
	asked     []*model.Request // accepted requests of the agent
	summaries []*model.Request
	refused   int
}

func (*provider) Name() string { return "fake/window" }

func (p *provider) count(req *model.Request) int {
	n := len(req.System)
	for _, t := range req.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	for _, m := range req.Messages {
		n += 16
		for _, part := range m.Content {
			n += len(part.Text)
			if part.Type == message.PartImage {
				n += 4000
			}
		}
		for _, c := range m.ToolCalls {
			n += 40 + len(c.Name) + len(c.Args)
		}
	}
	if p.density == 0 {
		return n / 4
	}
	return int(float64(n) / p.density)
}

func (p *provider) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		c, err := p.reply(ctx, req)
		if err != nil {
			yield(message.Chunk{}, err)
			return
		}
		yield(c, nil)
	}
}

func (p *provider) reply(ctx context.Context, req *model.Request) (message.Chunk, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return message.Chunk{}, err
	}
	in := p.count(req)
	if p.window > 0 && in > p.window {
		p.refused++
		return message.Chunk{}, &model.Error{Class: model.ClassContextLength, Model: "fake",
			Message: fmt.Sprintf("%d tokens are too many", in)}
	}
	var c message.Chunk
	if req.System == strings.TrimSpace(promptText) {
		text, err := fmt.Sprintf("summary %d", len(p.summaries)), error(nil)
		if p.summary != nil {
			text, err = p.summary(len(p.summaries), req)
		}
		p.summaries = append(p.summaries, req)
		if err != nil {
			return c, err
		}
		c.Text = text
	} else {
		c = p.answer(len(p.asked))
		p.asked = append(p.asked, req)
	}
	c.FinishReason = "stop"
	if total := p.report; !p.mute {
		out := len(c.Text) / 4
		c.Usage = &message.Usage{InputTokens: in, OutputTokens: out, TotalTokens: max(total, in+out)}
	}
	return c, nil
}

// says and calls make answers.
func says(text string) message.Chunk { return message.Chunk{Text: text} }

func calls(n int, name string, args ...string) message.Chunk {
	var c message.Chunk
	for i, a := range args {
		c.ToolCalls = append(c.ToolCalls, message.ToolCallChunk{Index: i, ID: fmt.Sprintf("c%d_%d", n, i), Name: name,
			Args: a})
	}
	return c
}

// dump is a tool that returns as many characters as it is asked for, never the same twice.
var dump = tool.MustNew(tool.Spec{Name: "read_file", Description: "Returns text.", Effect: tool.ReadOnly},
	func(_ context.Context, c *tool.Call, in struct {
		N int `json:"n"`
	}) (*tool.Result, error) {
		return tool.Text(words(c.ID, in.N)), nil
	})

// words is text of about n characters that begins with a mark.
func words(mark string, n int) string {
	var b strings.Builder
	b.WriteString("<<" + mark + ">>")
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, " line %d of some report;", i)
	}
	return b.String()[:max(n, len(mark)+4)]
}

func dumps(n int, sizes ...int) message.Chunk {
	var args []string
	for _, s := range sizes {
		args = append(args, fmt.Sprintf(`{"n":%d}`, s))
	}
	return calls(n, "read_file", args...)
}

// bed is a thread whose runs go through the real loop.
type bed struct {
	t      testing.TB
	p      *provider
	agent  *agent.Agent
	state  state.State
	runs   int
	ids    int
	steps  []agent.Step
	events []event.Data
	usage  message.Usage
}

func newBed(t testing.TB, p *provider, cfg Config, outside ...agent.Middleware) *bed {
	t.Helper()
	if cfg.RunModel == nil {
		cfg.RunModel = p
	}
	chain := append(outside, durablecontext.New(durablecontext.Config{}), New(cfg))
	a, err := agent.New(agent.Config{
		Model: p, System: "You are an agent.", Tools: []tool.Tool{dump}, Channels: threadstate.Channels(),
	}, chain...)
	if err != nil {
		t.Fatal(err)
	}
	return &bed{t: t, p: p, agent: a}
}

// filesOf makes a thread's files in a folder of the test.
func filesOf(t testing.TB) (*sandbox.Files, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "outputs"), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := sandbox.NewFiles([]sandbox.Mount{{Host: filepath.Join(dir, "outputs"), Path: sandbox.Outputs}},
		sandbox.FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, dir
}

func (b *bed) newID() string {
	b.ids++
	return fmt.Sprintf("m%d", b.ids)
}

// say runs one turn.
func (b *bed) say(text string) error { return b.run(b.t.Context(), text) }

func (b *bed) run(ctx context.Context, text string) error {
	b.t.Helper()
	b.runs++
	m := message.New(message.Human, text)
	m.ID = fmt.Sprintf("u%d", b.runs)
	var mu sync.Mutex
	rt := &agent.Runtime{
		ThreadID: "t", RunID: fmt.Sprintf("r%d", b.runs), Input: agent.Messages.Append(m), NewID: b.newID,
		Emit: func(_ string, d event.Data) { mu.Lock(); defer mu.Unlock(); b.events = append(b.events, d) },
		Commit: func(_ context.Context, s agent.Step) error {
			mu.Lock()
			defer mu.Unlock()
			b.steps, b.usage = append(b.steps, s), s.Spent.Usage
			return nil
		},
	}
	s, err := b.agent.Run(ctx, rt, b.state)
	b.state = s
	return err
}

func (b *bed) mustSay(text string) {
	b.t.Helper()
	if err := b.say(text); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) compaction() compaction.Compaction { return compaction.Channel.Get(b.state) }

// last is the newest request of the agent.
func (b *bed) last() *model.Request { return b.p.asked[len(b.p.asked)-1] }

// check looks at every request of the agent: it is valid, and where it does not continue the one before, there was a
// compaction in between. It returns how many there were.
func (b *bed) check() (breaks int) {
	b.t.Helper()
	var before []message.Message
	for i, req := range b.p.asked {
		if problem := invalid(req.Messages); problem != "" {
			b.t.Fatalf("request %d: %s: %s", i, problem, shape(req.Messages))
		}
		if !continues(before, req.Messages) {
			breaks++
			if testing.Verbose() && len(before) <= len(req.Messages) {
				b.t.Logf("request %d: %s", i, cmp.Diff(before, req.Messages[:len(before)]))
			}
		}
		before = req.Messages
	}
	return breaks
}

func continues(before, after []message.Message) bool {
	return len(before) == 0 || len(before) <= len(after) && cmp.Equal(before, after[:len(before)])
}

// invalid says what is wrong with a request; "" if nothing is.
func invalid(msgs []message.Message) string {
	if len(msgs) == 0 || msgs[0].Role != message.Human {
		return "it does not begin with the user or the durable block"
	}
	open := map[string]bool{}
	for i, m := range msgs {
		switch {
		case m.Role == message.Tool && !open[m.ToolCallID]:
			return fmt.Sprintf("message %d is a result without a call", i)
		case m.Role == message.Tool:
			delete(open, m.ToolCallID)
			continue
		case len(open) > 0:
			return fmt.Sprintf("message %d comes before the results of calls", i)
		case m.Name == compaction.BlockName && i > 0:
			return "the durable block is not the first message"
		}
		for _, c := range m.ToolCalls {
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return "it ends with open calls"
	}
	return ""
}

// userText is what the user said last in a request.
func userText(msgs []message.Message) string {
	if i := conversation.LastUser(msgs); i >= 0 {
		return msgs[i].Text()
	}
	return ""
}

// shape is a request in short: b for the durable block, u user, a answer, c calls, r result.
func shape(msgs []message.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		switch {
		case m.Name == compaction.BlockName:
			b.WriteByte('b')
		case m.Role == message.Tool:
			b.WriteByte('r')
		case m.Role == message.AI && len(m.ToolCalls) > 0:
			b.WriteByte('c')
		case m.Role == message.AI:
			b.WriteByte('a')
		default:
			b.WriteByte('u')
		}
	}
	return b.String()
}

// history makes a conversation by its shape, each text of the size.
func history(shape string, size int) []message.Message {
	var out []message.Message
	var open []string
	for i, l := range shape {
		id := fmt.Sprintf("%c%d", l, i)
		m := message.New(message.AI, words(id, size))
		switch m.ID = "h" + id; l {
		case 'u':
			m.Role = message.Human
		case 'c':
			m.ToolCalls = []message.ToolCall{{ID: id, Name: "read_file", Args: json.RawMessage(`{}`)}}
			open = append(open, id)
		case 'r':
			m.Role, m.Name = message.Tool, "read_file"
			m.ToolCallID, open = open[0], open[1:]
		}
		out = append(out, m)
	}
	return out
}

// with puts a history into the thread.
func (b *bed) with(msgs []message.Message) *bed {
	next, _, err := b.state.Apply(agent.Messages.Append(msgs...))
	if err != nil {
		b.t.Fatal(err)
	}
	b.state = next
	return b
}

package goals

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// prose makes texts that look like words and that no compression makes small.
type prose struct{ rnd *rand.Rand }

func newProse(seed uint64) prose { return prose{rand.New(rand.NewPCG(seed, 1))} } //nolint:gosec // not for secrets

func (p prose) text(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789."
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[p.rnd.IntN(len(letters))]
	}
	return string(b)
}

// robot is a model in this process that answers without delay: for each human message it calls the tool some times,
// then says its last word. It notes when it is called, for one run at a time.
type robot struct {
	steps  int
	answer []message.Chunk
	called []time.Time
}

var _ model.ChatModel = (*robot)(nil)

// newRobot makes a robot that answers with n bytes in chunks of about 35 bytes, as models do.
func newRobot(steps int, p prose, n int) *robot {
	r := &robot{steps: steps}
	for text := p.text(n); text != ""; {
		size := min(35, len(text))
		r.answer = append(r.answer, message.Chunk{Text: text[:size]})
		text = text[size:]
	}
	return r
}

// Name is "bench/robot".
func (r *robot) Name() string { return "bench/robot" }

// Stream implements [model.ChatModel].
func (r *robot) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	r.called = append(r.called, time.Now())
	done := answersSince(req.Messages)
	return func(yield func(message.Chunk, error) bool) {
		for _, c := range r.answer {
			if !yield(c, nil) {
				return
			}
		}
		end := message.Chunk{FinishReason: "stop", Usage: &message.Usage{InputTokens: 1200, OutputTokens: 20,
			TotalTokens: 1220}}
		if done < r.steps {
			end.FinishReason = "tool_calls"
			end.ToolCalls = []message.ToolCallChunk{{ID: fmt.Sprintf("call_%d", done), Name: toolName, Args: toolArgs}}
		}
		yield(end, nil)
	}
}

// answersSince counts the AI messages after the last human one.
func answersSince(msgs []message.Message) (n int) {
	for i := len(msgs) - 1; i >= 0 && msgs[i].Role != message.Human; i-- {
		if msgs[i].Role == message.AI {
			n++
		}
	}
	return n
}

// gaps are the times between the calls of the last run: each is one step of the loop, a model node and a tools node.
func (r *robot) gaps() []time.Duration {
	var ds []time.Duration
	for i := 1; i < len(r.called); i++ {
		ds = append(ds, r.called[i].Sub(r.called[i-1]))
	}
	r.called = r.called[:0]
	return ds
}

const (
	toolName = "look"
	toolArgs = `{"path": "/mnt/user-data/workspace/notes.txt", "limit": 200}`
)

type lookArgs struct {
	Path  string `doc:"What to look at." json:"path"`
	Limit int    `default:"100"          json:"limit" max:"1000" min:"1"`
}

// look is a tool that finds n bytes of the same text each time or, if they are to be anew, behind the number of the
// call: a model that finds the same again and again is stopped.
func look(p prose, n int, effect tool.Effect, anew bool) tool.Tool {
	var calls atomic.Int64
	found := p.text(n)
	spec := tool.Spec{Name: toolName, Description: "Looks at a file and returns its text.", Effect: effect}
	return tool.MustNew(spec, func(context.Context, *tool.Call, lookArgs) (*tool.Result, error) {
		if anew {
			return tool.Text(fmt.Sprint(calls.Add(1), found)), nil
		}
		return tool.Text(found), nil
	})
}

// newAgent makes an agent with the tool, a usual system prompt and n middlewares.
func newAgent(m model.ChatModel, p prose, middlewares int, effect tool.Effect) (*agent.Agent, error) {
	cfg := agent.Config{Model: m, System: strings.Repeat("You work with care. ", 100),
		Tools: []tool.Tool{look(p, 700, effect, false)}}
	return agent.New(cfg, watchers(middlewares)...)
}

// newManager makes a manager of runs whose every run uses the agent.
func newManager(st store.Store, a *agent.Agent) *runs.Manager {
	return runs.NewManager(runs.Config{Store: st, Owner: "bench", Build: func(context.Context, runs.Job) (runs.Built,
		error) {
		return runs.Built{Agent: a, Close: func() error { return nil }}, nil
	}})
}

// benchUser is whose the runs are.
func benchUser() access.User { return access.FromRow("bench") }

// turn carries out a run, from its admission to its recorded end.
func turn(ctx context.Context, m *runs.Manager, thread string, show func(event.Event), input ...message.Message) error {
	run, err := m.For(benchUser()).Admit(ctx, runs.Request{ThreadID: thread, Input: input})
	if err != nil {
		return err
	}
	out, err := m.Execute(ctx, run, show)
	if err != nil {
		return err
	}
	if out.Run.Status != event.StatusSuccess {
		return fmt.Errorf("the run ended as %s: %s", out.Run.Status, out.Run.Error)
	}
	return nil
}

func unseen(event.Event) {}

// talk is a conversation whose last message is the human's.
func talk(p prose) []message.Message {
	msgs := make([]message.Message, loopMessages)
	for i := range msgs {
		role := message.Human
		if (loopMessages-1-i)%2 == 1 {
			role = message.AI
		}
		msgs[i] = message.New(role, p.text(300))
		msgs[i].ID = newID()
	}
	return msgs
}

func newID() string { return id.New(time.Now()) }

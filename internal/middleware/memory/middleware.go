// Package memory tells the model what is remembered of the user: by a hidden note behind what the user said, when a
// thread begins, when the memory has changed since, and when a compaction has put the last note out of sight.
//
//	run -> BeforeAgent, BeforeModel -> Note -> memory.Mine -> a message at the end of the conversation
//
// Nothing that was sent is changed, so that requests begin alike. What was told stands in the messages: a branch, or a
// thread that was rolled back, knows what its messages say.
package memory

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Teller says what a thread is to be told that was last told something. It is a memory.Mine's.
type Teller func(ctx context.Context, thread, agent string, last memory.Last) (memory.Note, error)

// Config says where the notes come from.
type Config struct {
	// Note is required.
	Note Teller
	// Log is told that the memory cannot be read; nil means slog.Default().
	Log *slog.Logger
}

// Middleware tells the model what is remembered.
type Middleware struct{ cfg Config }

var (
	_ agent.BeforeAgentHook = (*Middleware)(nil)
	_ agent.BeforeModelHook = (*Middleware)(nil)
)

// New makes the middleware.
func New(c Config) *Middleware {
	c.Log = cmp.Or(c.Log, slog.Default())
	return &Middleware{c}
}

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "MemoryMiddleware" }

// BeforeAgent implements [agent.BeforeAgentHook]: a run that begins with words of somebody is told what is new.
func (m *Middleware) BeforeAgent(ctx context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	msgs := agent.Messages.Get(s)
	if n := len(msgs); n == 0 || msgs[n-1].Role != message.Human && msgs[n-1].Role != message.System {
		return agent.Command{}, nil
	}
	return m.tell(ctx, rt, last(s))
}

// BeforeModel implements [agent.BeforeModelHook]: what a compaction has put out of sight is told again.
func (m *Middleware) BeforeModel(ctx context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	if last := last(s); last.OutOfSight() {
		return m.tell(ctx, rt, last)
	}
	return agent.Command{}, nil
}

// last is what the model was told last.
func last(s state.State) memory.Last {
	msgs := agent.Messages.Get(s)
	return memory.LastTold(msgs, len(msgs)-len(compaction.InSight(s, msgs)))
}

// patience bounds how long a run waits for the memory: it goes on without.
const patience = 5 * time.Second

func (m *Middleware) tell(ctx context.Context, rt *agent.Runtime, last memory.Last) (agent.Command, error) {
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	note, err := m.cfg.Note(short, rt.ThreadID, rt.Env.Ref.Agent, last)
	if err != nil && ctx.Err() == nil {
		m.cfg.Log.WarnContext(ctx, "a run goes on without the memory, which cannot be read", "run", rt.RunID, "error",
			err)
	}
	if err != nil || note.Text == "" {
		return agent.Command{}, ctx.Err()
	}
	msg, err := note.Message(rt.NewID(), rt.RunID)
	return agent.Command{Update: agent.Messages.Append(msg)}, err
}

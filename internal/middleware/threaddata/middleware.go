// Package threaddata writes into the state where the thread's folders are, and marks the user's newest message with
// the run that answers it, before anything else happens in a run.
package threaddata

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
)

// userName is the name of user messages that have none.
const userName = "user-input"

// Keys of additional_kwargs that the user's message gets.
const (
	keyTimestamp = "timestamp"
)

// timeFormat is ISO 8601 with microseconds and a numeric zone.
const timeFormat = "2006-01-02T15:04:05.000000-07:00"

// Middleware writes the thread's data.
type Middleware struct{}

var (
	_ agent.BeforeAgentHook = (*Middleware)(nil)
	_ agent.StateProvider   = (*Middleware)(nil)
)

// New makes the middleware.
func New() *Middleware { return &Middleware{} }

// paths are where the thread's folders are, as clients see it: inside the sandbox. They never change.
var paths = threadstate.ThreadPaths{WorkspacePath: sandbox.Workspace, UploadsPath: sandbox.Uploads,
	OutputsPath: sandbox.Outputs}

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "ThreadDataMiddleware" }

// Channels implements [agent.StateProvider].
func (*Middleware) Channels() []state.AnyChannel { return []state.AnyChannel{threadstate.ThreadData} }

// BeforeAgent implements [agent.BeforeAgentHook]. What is there already is not written again, so that a run that starts
// a second time after a crash keeps the first time stamp.
func (m *Middleware) BeforeAgent(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	var update state.Update
	if threadstate.ThreadData.Get(s) != paths {
		update = threadstate.ThreadData.Put(paths)
	}
	msgs := agent.Messages.Get(s)
	if len(msgs) == 0 || msgs[len(msgs)-1].Role != message.Human {
		return agent.Command{Update: update}, nil
	}
	stamped, changed := stamp(rt, msgs[len(msgs)-1])
	if changed {
		update = update.With(agent.Messages.Replace(stamped))
	}
	return agent.Command{Update: update}, nil
}

// stamp returns the message as one of this run, and whether it was none before.
func stamp(rt *agent.Runtime, m message.Message) (message.Message, bool) {
	runID := quote(rt.RunID)
	if m.Name != "" && bytes.Equal(m.Kwargs[conversation.KeyRun], runID) && m.Kwargs[keyTimestamp] != nil {
		return m, false
	}
	kwargs := message.Fields{}
	maps.Copy(kwargs, m.Kwargs)
	kwargs[conversation.KeyRun] = runID
	kwargs[keyTimestamp] = quote(rt.Now().UTC().Format(timeFormat))
	m.Name, m.Kwargs = cmp.Or(m.Name, userName), kwargs
	return m, true
}

// quote encodes a string, which cannot fail.
func quote(s string) json.RawMessage {
	raw, _ := json.Marshal(s)
	return raw
}

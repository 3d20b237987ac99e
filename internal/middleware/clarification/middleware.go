// Package clarification ends a turn with a question to the user. When the model calls ask_clarification, the call is
// answered here, with a text for people and a request that clients show as buttons or a form, and the run goes to
// its end, whatever else the model called beside it; the user's reply is the input of the next run, be it days later.
// The tool itself never runs: it only offers the question to the model.
package clarification

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/clarification"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// Config tunes the middleware.
type Config struct {
	// Disabled is for runs that nobody watches: the question is answered with the advice to decide alone.
	Disabled bool
}

// decideAlone answers the question when nobody is there.
const decideAlone = "Nobody can answer questions during this run. Choose what seems most sensible, go on, " +
	"and name in your final answer what you assumed."

// Middleware intercepts ask_clarification. It is the innermost wrapper of the tool calls.
type Middleware struct{ cfg Config }

var (
	_ agent.BeforeAgentHook = (*Middleware)(nil)
	_ agent.ToolCallWrapper = (*Middleware)(nil)
)

// New makes the middleware.
func New(cfg Config) *Middleware { return &Middleware{cfg: cfg} }

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "ClarificationMiddleware" }

// BeforeAgent implements [agent.BeforeAgentHook]: a reply that a client sent without words, a button or a form that was
// filled in, gets them here, once and for all, so that everybody who reads the conversation finds them.
func (*Middleware) BeforeAgent(_ context.Context, _ *agent.Runtime, s state.State) (agent.Command, error) {
	var update state.Update
	msgs := agent.Messages.Get(s)
	for i, m := range slices.Backward(msgs) {
		if m.Role == message.AI || m.Role == message.Tool {
			break
		}
		reply, ok := clarification.ReadReply(m)
		if !ok || strings.TrimSpace(conversation.OwnText(m)) != "" {
			continue
		}
		q := clarification.Question(msgs[:i], reply.RequestID)
		update = agent.Messages.Replace(worded(m, reply.Text(q))).With(update)
	}
	return agent.Command{Update: update}, nil
}

// worded returns the message with the user's own text at its end.
func worded(m message.Message, text string) message.Message {
	m.Content = append(slices.Clip(m.Content), message.Text(text))
	if _, marked := m.Kwargs[conversation.KeyUserContent]; marked {
		quoted, _ := json.Marshal(text) // a string can be encoded
		m.Kwargs = maps.Clone(m.Kwargs)
		m.Kwargs[conversation.KeyUserContent] = quoted
	}
	return m
}

// WrapToolCall implements [agent.ToolCallWrapper]. Arguments that do not fit the tool's schema are read as well as they
// can be; only a call whose arguments are no JSON object goes back to the model.
func (m *Middleware) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	offered := req.Spec.Name == clarification.ToolName
	if !offered || len(req.Call.Args) == 0 {
		return next(ctx, req)
	}
	if m.cfg.Disabled {
		return tool.Text(decideAlone), nil
	}
	ask := clarification.Parse(req.Call.Args)
	key := keyOf(ask, req.Call)
	res := tool.Text(ask.Text())
	res.MessageID, res.Artifact = ask.ID(key), ask.Artifact(key)
	res.Summary, res.Goto = ask.Question, tool.End
	return res, nil
}

// keyOf is what the ids of the question are made of: the call's id, so that a call that runs again replaces its
// message. Some models use an id again in a later turn; then the run is added, or the new question would take the place
// of the old one.
func keyOf(ask clarification.Request, call tool.Call) string {
	if taken(call.State, ask.ID(call.ID)) {
		return call.ID + "@" + call.RunID
	}
	return call.ID
}

func taken(s state.State, id string) bool {
	return slices.ContainsFunc(agent.Messages.Get(s), func(m message.Message) bool { return m.ID == id })
}

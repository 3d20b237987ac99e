// Package guardrail asks a provider about every tool call before it runs, and acts on the answer: the call runs, or is
// refused with the reason, or waits until a person has decided. It also remembers whether the conversation holds text
// from outside, so that rules may be stricter then.
//
// All of this comes before the call's intent is recorded: what waits or is refused has not begun. A question stays open
// over restarts; when the answer comes, the call is judged again, by the rules of that day.
//
// A tool that asks a person by itself must not be one that a rule asks about: a call has one answer.
package guardrail

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/feature/guardrail"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/pattern"
	"github.com/pudu-ai/pudu/internal/lib/untrusted"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// Config tunes the middleware.
type Config struct {
	// Name is the middleware's; two in one chain need two. Empty means "GuardrailMiddleware".
	Name string
	// Provider judges the calls. nil cannot judge any; see FailOpen.
	Provider guardrail.Provider
	// FailOpen lets calls run that the provider could not judge; else they are refused.
	FailOpen bool
	// Timeout bounds the provider; 0 means 10 s.
	Timeout time.Duration
	// AgentID is the agent's passport, Role the user's role; both may be empty.
	AgentID, Role string
	Subagent      bool
	// Outside says that the run works for one that has read what came from outside.
	Outside bool
	// Exempt are tools that are not judged.
	Exempt []string
	// Remote are the tools whose results come from outside; nil means the usual ones, see [guardrail.RemoteTools].
	Remote pattern.Set
	// Unattended is for runs that nobody watches: a call that a person would have to allow is refused.
	Unattended bool
	// Grants are what the user has allowed before; a call that they cover is not asked about. nil asks about each.
	Grants Grants
	// Secrets are those that the run can use, which who answers a question brings again; nil is none.
	Secrets func(ctx context.Context, call *tool.Call) []approval.Secret
	// Log is told of calls that could not be judged; nil means slog.Default().
	Log *slog.Logger
}

// Grants are a user's approvals of calls to come. They are asked about each call anew.
type Grants interface {
	// Use finds a grant that covers the call, and counts the use.
	Use(ctx context.Context, call *tool.Call, now time.Time) (g approval.Grant, found bool, err error)
}

// Middleware judges tool calls.
type Middleware struct{ cfg Config }

var (
	_ agent.BeforeAgentHook = (*Middleware)(nil)
	_ agent.ToolCallWrapper = (*Middleware)(nil)
	_ agent.StateProvider   = (*Middleware)(nil)
)

// New makes the middleware.
func New(cfg Config) *Middleware {
	cfg.Name = cmp.Or(cfg.Name, "GuardrailMiddleware")
	cfg.Timeout = cmp.Or(cfg.Timeout, 10*time.Second)
	if cfg.Remote == nil {
		cfg.Remote = guardrail.UsualRemote()
	}
	return &Middleware{cfg: cfg}
}

// Name implements [agent.Middleware].
func (m *Middleware) Name() string { return m.cfg.Name }

// Channels implements [agent.StateProvider].
func (*Middleware) Channels() []state.AnyChannel { return []state.AnyChannel{Untrusted} }

// WrapToolCall implements [agent.ToolCallWrapper]. A call that cannot run is not judged.
func (m *Middleware) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	if req.Invalid != "" {
		return next(ctx, req)
	}
	next = m.marking(next)
	if slices.Contains(m.cfg.Exempt, req.Call.Name) {
		return next(ctx, req)
	}
	d := m.decide(ctx, req)
	if err := context.Cause(ctx); err != nil { // the run ends; nothing is decided
		return nil, err
	}
	switch d.Action {
	case guardrail.Allow:
		return next(ctx, req)
	case guardrail.Ask:
		return m.ask(ctx, req, d, next)
	}
	return m.denied(req, d), nil
}

// decide asks the provider. What it does not answer is answered here.
func (m *Middleware) decide(ctx context.Context, req *agent.ToolRequest) guardrail.Decision {
	d, err := m.evaluate(ctx, req)
	switch d.Action {
	case guardrail.Allow, guardrail.Ask, guardrail.Deny:
	default:
		err = cmp.Or(err, fmt.Errorf("the provider answered %q", d.Action))
	}
	if err == nil || ctx.Err() != nil {
		return d
	}
	m.logger().WarnContext(ctx, "a tool call could not be judged", "middleware", m.cfg.Name, "tool", req.Call.Name,
		"thread_id", req.Runtime.ThreadID,
		"refused", !m.cfg.FailOpen, "error", err)
	if m.cfg.FailOpen {
		m.record(req, "allow_tool_call_after_provider_error", guardrail.CodeError, err.Error())
		return guardrail.Decision{Action: guardrail.Allow}
	}
	return guardrail.Decision{Action: guardrail.Deny, Code: guardrail.CodeError,
		Reason: "the call could not be judged, so it is refused"}
}

func (m *Middleware) logger() *slog.Logger {
	if m.cfg.Log != nil {
		return m.cfg.Log
	}
	return slog.Default()
}

// evaluate asks the provider, with a bound in time; a panic is an error.
func (m *Middleware) evaluate(ctx context.Context, req *agent.ToolRequest) (d guardrail.Decision, err error) {
	defer func() {
		if p := recover(); p != nil {
			d, err = guardrail.Decision{}, fmt.Errorf("the provider panicked: %v", p)
		}
	}()
	if m.cfg.Provider == nil {
		return d, fmt.Errorf("%s has no provider", m.cfg.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Timeout)
	defer cancel()
	rt, c := req.Runtime, req.Call
	d, err = m.cfg.Provider.Evaluate(ctx, &guardrail.Request{
		Tool: c.Name, Args: c.Args, CallID: c.ID, ThreadID: c.ThreadID, RunID: c.RunID, UserID: c.UserID,
		AgentID: m.cfg.AgentID, Role: m.cfg.Role, Subagent: m.cfg.Subagent, Untrusted: Untrusted.Get(c.State),
		Time: rt.Now(),
	})
	if err != nil {
		d = guardrail.Decision{}
	}
	return d, err
}

// denied answers a call that is refused.
func (m *Middleware) denied(req *agent.ToolRequest, d guardrail.Decision) *tool.Result {
	m.record(req, "deny_tool_call", d.Code, d.Reason)
	return tool.Error(fmt.Sprintf("Guardrail denied: tool '%s' was blocked (%s). Reason: %s. Choose an alternative "+
		"approach.", req.Call.Name, d.Code, d.Reason))
}

// ask lets a person decide, unless one has before.
func (m *Middleware) ask(ctx context.Context, req *agent.ToolRequest, d guardrail.Decision,
	next agent.ToolHandler) (*tool.Result, error) {
	// it was approved, and has begun: what is below it has asked
	if req.Call.Answer == nil && len(req.Call.Answers) > 0 {
		return next(ctx, req)
	}
	if req.Call.Answer == nil {
		if g, ok := m.granted(ctx, req); ok {
			m.note(req, "approve_tool_call", changes{Code: d.Code, Reason: d.Reason, Grant: g.ID, By: g.Via,
				Given: &g.GivenAt})
			return next(ctx, req)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if m.cfg.Unattended {
		d.Code, d.Reason = guardrail.CodeNobody,
			"a person would have to approve it, and nobody can be asked during this run ("+d.Reason+")"
		return m.denied(req, d), nil
	}
	if req.Call.Answer == nil {
		return nil, m.question(ctx, req, d, "")
	}
	decision, err := approval.Read(req.Call.Answer)
	if err != nil {
		return nil, m.question(ctx, req, d, err.Error())
	}
	allowed := *req
	allowed.Call.Answer = nil // it was the answer to this question, and is none to the tool's own
	switch decision.Kind {
	case approval.Edit:
		return m.edited(ctx, &allowed, d, decision, next)
	case approval.Reject:
		m.record(req, "reject_tool_call", d.Code, d.Reason)
		return tool.Error(rejection(decision.Message)), nil
	}
	m.note(req, "approve_tool_call", changes{Code: d.Code, Reason: d.Reason, Scope: string(decision.Scope)})
	return next(ctx, &allowed)
}

// granted looks for a grant. Where nobody can tell, a person is asked.
func (m *Middleware) granted(ctx context.Context, req *agent.ToolRequest) (approval.Grant, bool) {
	if m.cfg.Grants == nil {
		return approval.Grant{}, false
	}
	g, ok, err := m.cfg.Grants.Use(ctx, &req.Call, req.Runtime.Now())
	if err != nil && ctx.Err() == nil {
		m.logger().WarnContext(ctx, "no grant could be looked for, so that a person is asked", "tool", req.Call.Name,
			"thread_id", req.Runtime.ThreadID, "error", err)
	}
	return g, ok && err == nil
}

// question pauses the run until somebody has decided.
func (m *Middleware) question(ctx context.Context, req *agent.ToolRequest, d guardrail.Decision, problem string) error {
	ask := approval.AskWithScopes
	if m.cfg.Grants == nil {
		ask = approval.Ask
	}
	var secrets []approval.Secret
	if m.cfg.Secrets != nil {
		secrets = m.cfg.Secrets(ctx, &req.Call)
	}
	return approval.Bring(ask(req.Call, d.Reason, problem), secrets)
}

// maxWords bounds what a person says to the model with a rejection, in bytes.
const maxWords = 4000

func rejection(words string) string {
	const text = "The user did not allow this call; it was not executed."
	if words == "" {
		return text + " Ask what to do instead, or go on without it."
	}
	return text + " They say: " + untrusted.Text(excerpt.Bound(words, maxWords))
}

// edited runs the call with the arguments that a person gave it, if the tool takes them and no rule denies them.
func (m *Middleware) edited(ctx context.Context, req *agent.ToolRequest, d guardrail.Decision, to approval.Decision,
	next agent.ToolHandler) (*tool.Result, error) {
	if to.Name != "" && to.Name != req.Call.Name {
		return nil, m.question(ctx, req, d,
			fmt.Sprintf("the tool of a call cannot be changed, only its arguments: keep %q, or reject the call",
				req.Call.Name))
	}
	schema, err := req.Spec.Schema()
	if err == nil {
		to.Args, err = schema.Check(to.Args)
	}
	if err != nil {
		return nil, m.question(ctx, req, d, "the changed arguments do not fit the tool: "+err.Error())
	}
	req.Call.Args = to.Args
	if again := m.decide(ctx, req); again.Action == guardrail.Deny {
		return m.denied(req, again), nil
	}
	m.record(req, "edit_tool_call", d.Code, d.Reason)
	res, err := next(ctx, req)
	if err != nil || res == nil {
		return res, err
	}
	out := *res
	out.Content = append(slices.Clip(res.Content),
		message.Text("\n\nThe user changed the arguments of this call before it ran, to: "+
			excerpt.Bound(string(to.Args), maxWords)))
	return &out, nil
}

// journalEvent tells what was decided about a call. It holds no arguments.
type journalEvent struct {
	Type    string  `json:"type"`
	Name    string  `json:"name"`
	Hook    string  `json:"hook"`
	Action  string  `json:"action"`
	Changes changes `json:"changes"`
}

type changes struct {
	Tool   string `json:"tool_name"`
	CallID string `json:"tool_call_id"`
	Code   string `json:"code"`
	Reason string `json:"reason"`
	// Scope is that of an answer beyond once.
	Scope string `json:"scope,omitempty"`
	// Grant allowed the call without a question: its id, how came in who gave it, and when.
	Grant string     `json:"grant_id,omitempty"`
	By    string     `json:"granted_via,omitempty"`
	Given *time.Time `json:"granted_at,omitempty"`
}

func (m *Middleware) record(req *agent.ToolRequest, action, code, reason string) {
	m.note(req, action, changes{Code: code, Reason: reason})
}

func (m *Middleware) note(req *agent.ToolRequest, action string, c changes) {
	c.Tool, c.CallID = req.Call.Name, req.Call.ID
	raw, err := json.Marshal(journalEvent{"middleware:guardrail", m.cfg.Name, string(agent.HookWrapToolCall), action,
		c})
	if err == nil {
		req.Runtime.Emit(agent.NodeTools, event.Custom{Value: raw})
	}
}

// Package guardrail decides whether a tool call may run. A [Provider] looks at a [Request] and gives a [Decision]; this
// package has those that the configuration can name. They look at what is written in a call and keep nothing; the
// middleware guardrail asks them before each call and acts on the decision.
package guardrail

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/lib/pattern"
)

// Request is a call that somebody wants to make.
type Request struct {
	Tool string
	// Args is a JSON object that fits the tool's schema.
	Args                            json.RawMessage
	CallID, ThreadID, RunID, UserID string
	// AgentID is the agent's passport; empty if it has none.
	AgentID string
	// Role is the user's role; empty if it has none.
	Role string
	// Subagent says that a sub-agent makes the call.
	Subagent bool
	// Untrusted says that the conversation holds text from outside, such as a web page, which may have asked for this
	// call.
	Untrusted bool
	Time      time.Time
}

// Action is what becomes of a call.
type Action string

// The actions. The zero value is none of them and counts as a fault of the provider.
const (
	Allow Action = "allow"
	Ask   Action = "ask" // a person decides
	Deny  Action = "deny"
)

// Decision is the answer to a request.
type Decision struct {
	Action Action
	// Code names the kind of reason for programs, such as [CodeNotAllowed]. Reason says it to the model and to people.
	Code, Reason string
}

// Codes of decisions.
const (
	CodeNotAllowed = "oap.tool_not_allowed" // the list of tools does not have it, or denies it
	CodeError      = "oap.evaluator_error"  // the call could not be judged
	CodeRole       = "rbac.denied"          // the user's role does not have the tool
	CodeRule       = "rule.matched"         // a rule of the configuration
	CodeNobody     = "approval.unavailable" // it takes a person to allow it, and nobody is there
)

// Provider judges calls. It is asked from several goroutines at once.
type Provider interface {
	// Evaluate judges a call. An error means that it cannot tell. It may be asked again about the same call.
	Evaluate(ctx context.Context, req *Request) (Decision, error)
}

// Explicit makes the provider of the configuration's section: rules and list together, the strictest decision counts.
// It is nil if the section is off or names neither.
func Explicit(g config.Guardrails) (Provider, error) {
	var all strictest
	if !g.Enabled {
		return nil, nil
	}
	if len(g.Rules) > 0 {
		rules, err := NewRules(g.Rules)
		if err != nil {
			return nil, err
		}
		all = append(all, rules)
	}
	switch g.Provider.Use {
	case "":
	case config.Allowlist:
		all = append(all, &Allowlist{Allowed: g.Provider.Allowlist.AllowedTools,
			Denied: g.Provider.Allowlist.DeniedTools})
	default:
		return nil, fmt.Errorf("guardrails: the provider %q cannot be loaded", g.Provider.Use)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, nil
}

// strictest asks several providers.
type strictest []Provider

var _ Provider = (strictest)(nil)

// Evaluate implements [Provider]: the first of the strictest decisions.
func (s strictest) Evaluate(ctx context.Context, req *Request) (Decision, error) {
	most := Decision{Action: Allow}
	for _, p := range s {
		d, err := p.Evaluate(ctx, req)
		if err != nil || d.Action == Deny {
			return d, err
		}
		if d.Action == Ask && most.Action == Allow {
			most = d
		}
	}
	return most, nil
}

// usual are the tools of the web, and sub-agents, who may have used them.
var usual, errUsual = pattern.CompileAll([]string{"web_fetch", "web_search", "image_search", "web_capture", "browser_*",
	"task"})

// UsualRemote are the tools whose results come from outside where the configuration names none.
func UsualRemote() pattern.Set { return usual }

// RemoteTools are the tools whose results come from outside, as the configuration has them.
func RemoteTools(g config.Guardrails) (pattern.Set, error) {
	if g.RemoteTools == nil {
		return usual, errUsual
	}
	set, err := pattern.CompileAll(g.RemoteTools)
	if err != nil {
		return nil, fmt.Errorf("guardrails: remote_tools: %w", err)
	}
	return set, nil
}

package guardrail

import (
	"context"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/lib/pattern"
)

// Allowlist allows and denies tools by their names.
type Allowlist struct {
	// Allowed are all tools that may be called; nil means every tool, and an empty list none. Denied wins over it.
	Allowed, Denied []string
}

var _ Provider = (*Allowlist)(nil)

// Evaluate implements [Provider].
func (a *Allowlist) Evaluate(_ context.Context, req *Request) (Decision, error) {
	switch {
	case slices.Contains(a.Denied, req.Tool):
		return Decision{Deny, CodeNotAllowed, "this tool is on the list of denied tools"}, nil
	case a.Allowed != nil && !slices.Contains(a.Allowed, req.Tool):
		return Decision{Deny, CodeNotAllowed, "this tool is not on the list of allowed tools"}, nil
	}
	return Decision{Action: Allow}, nil
}

// Resource is a kind of thing that a role may use.
type Resource string

// The resources.
const (
	Tools      Resource = "tools"
	Models     Resource = "models"
	Skills     Resource = "skills"
	Sandboxes  Resource = "sandbox"
	MCPServers Resource = "mcp_servers"
	Routes     Resource = "routes"
)

// RBAC knows what each role may use.
type RBAC struct {
	standard string
	roles    map[string]map[Resource]access
}

// access is what one role may use of one kind.
type access struct {
	all         bool
	allow, deny pattern.Set
}

var _ Provider = (*RBAC)(nil)

// NewRBAC makes the provider of the configuration's section; nil if it is off.
func NewRBAC(a config.Authorization) (*RBAC, error) {
	if !a.Enabled {
		return nil, nil
	}
	if a.Provider.Use != config.RBAC {
		return nil, fmt.Errorf("authorization: the provider %q cannot be loaded", a.Provider.Use)
	}
	r := &RBAC{standard: a.DefaultRole, roles: make(map[string]map[Resource]access, len(a.Provider.Roles))}
	for role, p := range a.Provider.Roles {
		r.roles[role] = make(map[Resource]access)
		for kind, list := range map[Resource]*config.Access{
			Tools: p.Tools, Models: p.Models, Skills: p.Skills, Sandboxes: p.Sandbox, MCPServers: p.MCPServers,
			Routes: p.Routes,
		} {
			if list == nil {
				continue
			}
			allow, err := pattern.CompileAll(list.Allow)
			if err != nil {
				return nil, fmt.Errorf("authorization: role %s: %s.allow: %w", role, kind, err)
			}
			deny, err := pattern.CompileAll(list.Deny)
			if err != nil {
				return nil, fmt.Errorf("authorization: role %s: %s.deny: %w", role, kind, err)
			}
			r.roles[role][kind] = access{all: list.Allow == nil, allow: allow, deny: deny}
		}
	}
	if _, ok := r.roles[r.standard]; !ok {
		return nil, fmt.Errorf("authorization: default_role %q is no role", r.standard)
	}
	return r, nil
}

// Allows reports whether a role may use a thing. An empty role is the default one; a role that is not defined is an
// error.
func (r *RBAC) Allows(role string, kind Resource, name string) (bool, error) {
	if role == "" {
		role = r.standard
	}
	kinds, ok := r.roles[role]
	if !ok {
		return false, fmt.Errorf("the role %.60q is not defined", role)
	}
	a, restricted := kinds[kind]
	return !restricted || !a.deny.Match(name) && (a.all || a.allow.Match(name)), nil
}

// Evaluate implements [Provider] for tools.
func (r *RBAC) Evaluate(_ context.Context, req *Request) (Decision, error) {
	ok, err := r.Allows(req.Role, Tools, req.Tool)
	if err != nil || ok {
		return Decision{Action: Allow}, err
	}
	return Decision{Deny, CodeRole, "this tool is not available to the user's role"}, nil
}

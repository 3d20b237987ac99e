package lead

import (
	"fmt"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/guardrail"
	"github.com/pudu-ai/pudu/internal/lib/pattern"
)

// Guards are the rules on what tools may do, which are the same for all runs of a process. The zero value has none.
type Guards struct {
	roles, rules guardrail.Provider
	remote       pattern.Set
}

// NewGuards makes the guards of the configuration. What cannot be made is an error: a rule that is left out would let
// through what it was to stop.
func NewGuards(cfg *config.Config) (g Guards, err error) {
	rbac, err := guardrail.NewRBAC(cfg.Authorization)
	if err != nil {
		return g, fmt.Errorf("authorization: %w", err)
	}
	if rbac != nil {
		g.roles = rbac
	}
	if g.rules, err = guardrail.Explicit(cfg.Guardrails); err != nil {
		return g, fmt.Errorf("guardrails: %w", err)
	}
	g.remote, err = guardrail.RemoteTools(cfg.Guardrails)
	return g, err
}

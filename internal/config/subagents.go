package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"
)

// Names of the sub-agents that are built in.
const (
	GeneralPurpose = "general-purpose"
	BashAgent      = "bash"
)

// Subagents says what the agents may take that the lead agent gives tasks to.
type Subagents struct {
	// Timeout and MaxTurns are those of the built-in ones; MaxTurns is 0 where each has its own.
	Timeout  time.Duration `key:"timeout_seconds" allow:"(0,)"`
	MaxTurns int           `key:"max_turns" allow:"[1,)"`
	// MaxTotalPerRun is how many tasks one run may give.
	MaxTotalPerRun int `key:"max_total_per_run" allow:"[1,50]"`
	// MaxDepth is how deep tasks may be given on: 1 means that who has a task gives none.
	MaxDepth int `key:"max_depth" allow:"[1,3]"`
	// TokenBudget is that of one task.
	TokenBudget SubagentBudget `key:"token_budget"`
	// Agents changes some of what the sub-agent of the name has.
	Agents map[string]SubagentChange `key:"agents"`
	// Custom are the sub-agents of the operator, by name.
	Custom map[string]CustomSubagent `key:"custom_agents"`
}

// SubagentBudget bounds the tokens of one task, as a [TokenBudget] does those of a run. What Said does not list is left
// open.
type SubagentBudget struct {
	Enabled           bool     `key:"enabled"`
	MaxTokens         int      `key:"max_tokens" allow:"[1000,)"`
	MaxInputTokens    int      `key:"max_input_tokens" allow:"[1,)"`
	MaxOutputTokens   int      `key:"max_output_tokens" allow:"[1,)"`
	MaxCost           float64  `key:"max_cost" allow:"(0,)"`
	WarnThreshold     float64  `key:"warn_threshold" allow:"(0,1]"`
	HardStopThreshold float64  `key:"hard_stop_threshold" allow:"(0,1]"`
	Said              []string `key:"@said"`
}

// SubagentChange is what one sub-agent has other than by itself; what is 0, empty or nil is left as it is.
type SubagentChange struct {
	Timeout     time.Duration   `key:"timeout_seconds" allow:"(0,)"`
	MaxTurns    int             `key:"max_turns" allow:"[1,)"`
	Model       string          `key:"model"`
	Skills      []string        `key:"skills"`
	TokenBudget *SubagentBudget `key:"token_budget"`
}

// CustomSubagent is a sub-agent of the operator.
type CustomSubagent struct {
	// Description tells the lead agent what it is for.
	Description string `key:"description" required:"true"`
	System      string `key:"system_prompt" required:"true"`
	// Tools are all that it has; nil means those of the lead agent. Disallowed are taken from them; nil means the
	// usual.
	Tools      []string `key:"tools"`
	Disallowed []string `key:"disallowed_tools"`
	// Skills are those that it may use; nil means those of the lead agent.
	Skills []string `key:"skills"`
	// Model is the name of a configured one; empty or "inherit" means the lead agent's.
	Model    string        `key:"model"`
	MaxTurns int           `key:"max_turns" allow:"[1,)"` // 0 means 50
	Timeout  time.Duration `key:"timeout_seconds" allow:"(0,)"`
}

// Inherit stands for the model of who gives the task.
const Inherit = "inherit"

func defaultSubagents() Subagents {
	return Subagents{Timeout: 30 * time.Minute, MaxTotalPerRun: 6, MaxDepth: 1,
		TokenBudget: SubagentBudget{Enabled: true, MaxTokens: 2_000_000, WarnThreshold: 0.7, HardStopThreshold: 1}}
}

// Over is the budget with what b was given in place of its own.
func (b *SubagentBudget) Over(other TokenBudget) TokenBudget {
	if b == nil {
		return other
	}
	for _, key := range b.Said {
		switch key {
		case "enabled":
			other.Enabled = b.Enabled
		case "max_tokens":
			other.MaxTokens = b.MaxTokens
		case "max_input_tokens":
			other.MaxInputTokens = b.MaxInputTokens
		case "max_output_tokens":
			other.MaxOutputTokens = b.MaxOutputTokens
		case "max_cost":
			other.MaxCost = b.MaxCost
		case "warn_threshold":
			other.WarnThreshold = b.WarnThreshold
		case "hard_stop_threshold":
			other.HardStopThreshold = b.HardStopThreshold
		}
	}
	return other
}

// subagentBudget is the token budget of a task where nothing else is said.
func (c *Config) subagentBudget() TokenBudget {
	most := 2_000_000
	if c.Summarization.Enabled {
		most = 1_000_000
	}
	return TokenBudget{Enabled: true, MaxTokens: most, WarnThreshold: 0.7, HardStopThreshold: 1}
}

// BudgetOf is the token budget of a task for the sub-agent of the name.
func (c *Config) BudgetOf(name string) TokenBudget {
	b := c.Subagents.TokenBudget.Over(c.subagentBudget())
	return c.Subagents.Agents[name].TokenBudget.Over(b)
}

func (c *Config) checkSubagents(d *decoder) {
	s, built := c.Subagents, []string{GeneralPurpose, BashAgent}
	known := slices.Concat(built, slices.Sorted(maps.Keys(s.Custom)))
	for _, name := range slices.Sorted(maps.Keys(s.Custom)) {
		at, a := "subagents.custom_agents."+name, s.Custom[name]
		if slices.Contains(built, name) {
			d.warnf(0, at, "has no effect: a sub-agent of this name is built in; subagents.agents changes it")
			delete(s.Custom, name)
			continue
		}
		if !subagentName.MatchString(name) {
			d.failf(0, at, "must be a name of at most 64 letters, digits, _ and -")
		}
		c.checkSubagentModel(d, at+".model", a.Model)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Agents)) {
		at := "subagents.agents." + name
		if !slices.Contains(known, name) {
			d.warnf(0, at, "no sub-agent is named so, without effect%s", suggest(name, known))
		}
		c.checkSubagentModel(d, at+".model", s.Agents[name].Model)
	}
	for _, name := range append([]string{""}, known...) {
		if b := c.BudgetOf(name); b.HardStopThreshold < b.WarnThreshold {
			d.failf(0, "subagents", "the token budget%s has a hard_stop_threshold %g below its warn_threshold %g",
				of(name), b.HardStopThreshold, b.WarnThreshold)
			return
		}
	}
}

var subagentName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func of(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" of %q", name)
}

func (c *Config) checkSubagentModel(d *decoder, at, name string) {
	if _, ok := c.Model(name); name != "" && name != Inherit && !ok {
		d.warnf(0, at, "no configured model is named %q: that of the lead agent is used%s", name,
			suggest(name, c.modelNames()))
	}
}

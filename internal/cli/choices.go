package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pudu-ai/pudu/model"
)

// choices are what the person chose for the runs, beside the model. Their JSON is the context of a request, as any
// client sends it; what is not chosen stays out.
type choices struct {
	Plan   bool   `json:"is_plan_mode,omitempty"`
	Tasks  bool   `json:"subagent_enabled,omitempty"`
	Agent  string `json:"agent_name,omitempty"`
	Think  *bool  `json:"thinking_enabled,omitempty"`
	Effort string `json:"reasoning_effort,omitempty"`
}

// flags adds the flags to a command. The function that it returns is to be called when they are read.
func (c *choices) flags(cmd *cobra.Command) (read func() error) {
	var think bool
	flags := cmd.Flags()
	flags.BoolVar(&c.Plan, "plan", false, "let the agent keep a list of things to do")
	flags.BoolVar(&c.Tasks, "subagents", false, "let the agent give tasks to sub-agents")
	flags.StringVar(&c.Agent, "agent", "", "let the custom agent `NAME` do it")
	flags.BoolVar(&think, "think", false,
		"have the model think before it answers; --think=false keeps it from that (default: as configured)")
	flags.StringVar(&c.Effort, "effort", "", "how hard the model shall think, a `LEVEL` of "+levels())
	return func() error {
		if flags.Changed("think") {
			c.Think = &think
		}
		if flags.Changed("effort") && !slices.Contains(model.Efforts(), c.Effort) {
			return usageError("--effort %q: there are %s", c.Effort, levels())
		}
		return nil
	}
}

func levels() string { return strings.Join(model.Efforts(), ", ") }

// context is nil if nothing was chosen.
func (c choices) context() json.RawMessage {
	if c == (choices{}) {
		return nil
	}
	raw, _ := json.Marshal(c) // strings and booleans
	return raw
}

// String is the choices as flags, for a command that goes on with the same.
func (c choices) String() (s string) {
	if c.Plan {
		s += " --plan"
	}
	if c.Tasks {
		s += " --subagents"
	}
	if c.Agent != "" {
		s += " --agent " + c.Agent
	}
	if c.Think != nil {
		s += fmt.Sprintf(" --think=%t", *c.Think)
	}
	if c.Effort != "" {
		s += " --effort " + c.Effort
	}
	return s
}

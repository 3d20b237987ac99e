package agents

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/internal/config"
)

// Request is what a run's client asked for.
type Request struct {
	// ModelName and Model are names of models, the first of them before the second; empty asks for none.
	ModelName, Model string
	// Thinking is nil if the client did not say.
	Thinking *bool
	// Effort is the reasoning effort; empty if the client did not say.
	Effort string
	// Bootstrap says that the run makes a new agent: it has nothing of an agent but the skill for it.
	Bootstrap bool
}

// Models are those that a run can use.
type Models struct {
	// Standard is the model of runs that name none.
	Standard config.Model
	// Named are the configured ones.
	Named []config.Model
}

// BootstrapSkill is the one skill of a run that makes an agent.
const BootstrapSkill = "bootstrap"

// Choice is what a run works with.
type Choice struct {
	Model config.Model
	// Temperature and MaxTokens of the agent go before those of the model.
	Settings Settings
	// Thinking is never on for a model that cannot, Effort never set.
	Thinking bool
	Effort   string
	// ToolGroups and Skills are as in [Agent].
	ToolGroups, Skills []string
	// Warnings say what was asked for and could not be.
	Warnings []string
}

// Has reports whether the tools of a group are among those of the run. Tools without a group always are.
func (c Choice) Has(group string) bool {
	return c.ToolGroups == nil || group == "" || slices.Contains(c.ToolGroups, group)
}

// Resolve decides what a run works with. The model is the first that is named: by the client's model_name, its model,
// or the agent; a name that is not configured, or whose model cannot be used, stands for the standard model, with a
// warning. Thinking and effort are the client's, else the agent's; thinking is on if nobody says.
func Resolve(r Request, a Agent, m Models) Choice {
	if r.Bootstrap {
		a, r.Effort = Agent{Skills: []string{BootstrapSkill}}, ""
	}
	c := Choice{Settings: a.Settings, ToolGroups: a.ToolGroups, Skills: a.Skills}
	c.chooseModel(cmp.Or(r.ModelName, r.Model, a.Model), m)
	c.chooseThinking(r.Thinking, a.Thinking)
	if c.Effort = cmp.Or(r.Effort, a.Effort); c.Effort != "" && !c.Model.SupportsReasoningEffort {
		c.warnf("model %q takes no reasoning effort; %q has no effect", c.Model.Name, c.Effort)
		c.Effort = ""
	}
	return c
}

func (c *Choice) chooseModel(name string, m Models) {
	c.Model = m.Standard
	if name == "" || name == m.Standard.Name {
		return
	}
	i := slices.IndexFunc(m.Named, func(m config.Model) bool { return m.Name == name })
	switch {
	case i < 0:
		c.warnf("model %q is not configured; %q is used", name, m.Standard.Name)
	case m.Named[i].Err != nil:
		c.warnf("model %q cannot be used (%v); %q is used", name, m.Named[i].Err, m.Standard.Name)
	default:
		c.Model = m.Named[i]
	}
}

// chooseThinking warns only if somebody asked for it: it is on by default.
func (c *Choice) chooseThinking(asked ...*bool) {
	c.Thinking = c.Model.SupportsThinking
	for _, t := range asked {
		if t == nil {
			continue
		}
		if *t && !c.Model.SupportsThinking {
			c.warnf("model %q cannot think; thinking is off", c.Model.Name)
		}
		c.Thinking = *t && c.Model.SupportsThinking
		return
	}
}

func (c *Choice) warnf(format string, a ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, a...))
}

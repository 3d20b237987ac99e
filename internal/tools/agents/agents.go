// Package agents holds the tools by which a custom agent comes to be and changes: setup_agent, offered to the run that
// works a new agent out with its user, and update_agent, offered to the agent itself. They write for the user of the
// run.
package agents

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/tool"
)

// Config is what the tools work with.
type Config struct {
	Folder *agents.Folder
	// Name is the agent of the run. Without one setup_agent writes the soul of the standard agent.
	Name string
	// Models are the names of the configured models.
	Models []string
}

var (
	//go:embed setup_agent.md
	setupText string
	//go:embed update_agent.md
	updateText string
)

type setupArgs struct {
	Soul        string   `json:"soul" doc:"The agent's SOUL.md, in Markdown."`
	Description string   `json:"description" doc:"What it is for, in a sentence."`
	Skills      []string `json:"skills,omitempty" doc:"The skills that it may use; without, all; [], none."`
}

// Setup returns the setup_agent tool.
func Setup(cfg Config) tool.Tool {
	spec := tool.Spec{Name: "setup_agent", Description: strings.TrimSpace(setupText), Effect: tool.Idempotent}
	return tool.MustNew(spec, func(_ context.Context, call *tool.Call, in setupArgs) (*tool.Result, error) {
		return cfg.setup(access.FromRow(call.UserID), in), nil
	})
}

func (cfg Config) setup(user access.User, in setupArgs) *tool.Result {
	c := agents.Change{Soul: text(&in.Soul), Description: text(&in.Description), Skills: list(in.Skills)}
	if c.Soul == nil {
		return tool.Error("Error: " + agents.ErrNoSoul.Error())
	}
	if cfg.Name == "" {
		if err := cfg.Folder.SetStandardSoul(*c.Soul); err != nil {
			return tool.Error("Error: " + err.Error())
		}
		return tool.Text("The soul of the standard agent is written. It takes effect with the next message.")
	}
	if err := cfg.Folder.Create(user, cfg.Name, c); err != nil {
		return tool.Error("Error: " + err.Error())
	}
	return tool.Text(fmt.Sprintf("Agent '%s' is set up. The user can talk to it now.", strings.ToLower(cfg.Name)))
}

type updateArgs struct {
	Soul        *string  `json:"soul,omitempty" doc:"The whole new SOUL.md, with what stays."`
	Description *string  `json:"description,omitempty" doc:"What you are for, in a sentence."`
	Skills      []string `json:"skills,omitempty" doc:"The skills that you may use; [] means none."`
	ToolGroups  []string `json:"tool_groups,omitempty" doc:"The groups of tools that you have; [] means none."`
	Model       *string  `json:"model,omitempty" doc:"The name of a configured model."`
}

// Update returns the update_agent tool.
func Update(cfg Config) tool.Tool {
	spec := tool.Spec{Name: "update_agent", Description: strings.TrimSpace(updateText), Effect: tool.Idempotent}
	return tool.MustNew(spec, func(_ context.Context, call *tool.Call, in updateArgs) (*tool.Result, error) {
		return cfg.update(access.FromRow(call.UserID), in), nil
	})
}

func (cfg Config) update(user access.User, in updateArgs) *tool.Result {
	c := agents.Change{
		Soul: text(in.Soul), Description: text(in.Description), Model: text(in.Model), Skills: list(in.Skills),
		ToolGroups: list(in.ToolGroups),
	}
	if c.Model != nil && strings.TrimSpace(*c.Model) == "" {
		c.Model = nil
	}
	switch {
	case c == agents.Change{}:
		return tool.Error("Error: nothing to change was given; give at least one of soul, description, skills, " +
			"tool_groups and model")
	case c.Model != nil && !slices.Contains(cfg.Models, *c.Model):
		return tool.Error(fmt.Sprintf("Error: unknown model '%.80s'. Available: %s.", *c.Model,
			strings.Join(cfg.Models, ", ")))
	}
	changed, err := cfg.Folder.Update(user, cfg.Name, c)
	if errors.Is(err, agents.ErrNotFound) {
		return tool.Error(fmt.Sprintf("Error: there is no agent '%s' that could be changed.", cfg.Name))
	}
	if err != nil {
		return tool.Error("Error: " + err.Error())
	}
	if len(changed) == 0 {
		return tool.Text("Nothing changed: all of it was so already.")
	}
	return tool.Text(fmt.Sprintf("Agent '%s' updated: %s. It takes effect with the next message.",
		strings.ToLower(cfg.Name), strings.Join(changed, ", ")))
}

// text is a text that was given: models write "null" where they mean nothing. An empty soul is given, to be refused.
func text(s *string) *string {
	if s == nil || nothing(*s) {
		return nil
	}
	return s
}

// list is a list that was given; an empty one is.
func list(items []string) *[]string {
	if items == nil || len(items) == 1 && nothing(items[0]) {
		return nil
	}
	out := []string{}
	for _, item := range items {
		if item = strings.TrimSpace(item); item != "" && !nothing(item) && !slices.Contains(out, item) {
			out = append(out, item)
		}
	}
	return &out
}

func nothing(s string) bool {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "null", "none", "undefined":
		return true
	}
	return false
}

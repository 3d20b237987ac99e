// Package subagents knows the sub-agents that tasks are given to: what each is told, which tools it has and what bounds
// it ([Kinds]); and how a task tells of itself, in the result that the model gets ([Outcome]) and in the events that
// clients get (events.go). The task itself is a run below that of who gives it, which the run's owner starts
// ([Delegate]).
package subagents

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/config"
)

// ToolName is the tool by which an agent gives a task away. With the others it waits for one that works in the
// background, says something to it, and stops it.
const (
	ToolName    = "task"
	WaitTool    = "task_wait"
	MessageTool = "task_message"
	StopTool    = "task_stop"
)

// Tools are all of them.
func Tools() []string { return []string{ToolName, WaitTool, MessageTool, StopTool} }

// Kind is a kind of sub-agent.
type Kind struct {
	// Name is what a task names it by, Description tells who gives tasks what it is for, and Prompt itself what it is.
	Name, Description, Prompt string
	// Tools are all that it may have of those of who gives the task; nil is all. Without are taken from them.
	Tools, Without []string
	// Skills are those that it may use of those of who gives the task; nil is all.
	Skills []string
	// Model is the name of a configured one; empty is that of who gives the task.
	Model string
	// MaxTurns bounds the steps of a task, Timeout its time from the moment it was given, Budget its tokens.
	MaxTurns int
	Timeout  time.Duration
	Budget   config.TokenBudget
}

// never are tools that no sub-agent has: they speak to the person, or change the agent that the person talks to.
var never = []string{"ask_clarification", "setup_agent", "update_agent"}

// Has reports whether a tool of who gives the task is the sub-agent's too. Who may give tasks has all that belongs to
// them.
func (k *Kind) Has(tool string) bool {
	if slices.Contains(Tools(), tool) {
		tool = ToolName
	}
	return !slices.Contains(never, tool) && !slices.Contains(k.Without, tool) &&
		(k.Tools == nil || slices.Contains(k.Tools, tool))
}

// What a sub-agent of the operator has where its entry leaves it open.
const (
	customTurns   = 50
	customTimeout = 15 * time.Minute
)

// customWithout are the tools that a sub-agent of the operator has not, unless its entry says others.
var customWithout = []string{ToolName, "ask_clarification", "present_files"}

var (
	//go:embed general-purpose.md
	generalText string
	//go:embed bash.md
	bashText string
)

// Kinds are the sub-agents, in the order in which a model is told of them: those that are built in, without bash where
// there are no commands, then those of the operator by name.
func Kinds(cfg *config.Config, commands bool) []Kind {
	kinds := []Kind{{
		Name: config.GeneralPurpose, Prompt: strings.TrimSpace(generalText), MaxTurns: 150,
		Description: "Works on a task of several steps by itself, with the same tools as you: looking things up, " +
			"comparing, reading and writing many files.",
		Without: []string{"present_files", "list_uploaded_files"},
	}}
	if commands {
		kinds = append(kinds, Kind{
			Name: config.BashAgent, Prompt: strings.TrimSpace(bashText), MaxTurns: 60,
			Description: "Runs commands and reports what came of them: builds, tests, conversions, anything with " +
				"long output.",
			Tools: []string{"bash", "ls", "read_file", "write_file", "str_replace"},
		})
	}
	s := cfg.Subagents
	for i := range kinds {
		k := &kinds[i]
		if k.Timeout = s.Timeout; s.MaxTurns > 0 {
			k.MaxTurns = s.MaxTurns
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Custom)) {
		kinds = append(kinds, custom(name, s.Custom[name]))
	}
	for i := range kinds {
		kinds[i].change(cfg, s.Agents[kinds[i].Name])
	}
	return kinds
}

func custom(name string, c config.CustomSubagent) Kind {
	k := Kind{
		Name: name, Description: c.Description, Prompt: strings.TrimSpace(c.System), Tools: c.Tools,
		Without: c.Disallowed, Skills: c.Skills, Model: c.Model, MaxTurns: c.MaxTurns, Timeout: c.Timeout,
	}
	if k.Without == nil {
		k.Without = customWithout
	}
	if k.MaxTurns == 0 {
		k.MaxTurns = customTurns
	}
	if k.Timeout == 0 {
		k.Timeout = customTimeout
	}
	return k
}

// change applies what the operator wants otherwise. A model that is not configured is the same as none.
func (k *Kind) change(cfg *config.Config, c config.SubagentChange) {
	if c.Timeout > 0 {
		k.Timeout = c.Timeout
	}
	if c.MaxTurns > 0 {
		k.MaxTurns = c.MaxTurns
	}
	if c.Skills != nil {
		k.Skills = c.Skills
	}
	if c.Model != "" {
		k.Model = c.Model
	}
	if _, ok := cfg.Model(k.Model); !ok {
		k.Model = ""
	}
	k.Budget = cfg.BudgetOf(k.Name)
}

// Find is the sub-agent of a name among kinds. The error is for who gives the task.
func Find(kinds []Kind, name string) (Kind, error) {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		if names[i] = k.Name; k.Name == name {
			return k, nil
		}
	}
	return Kind{}, fmt.Errorf("Unknown subagent type '%.80s'. Available: %s", name, strings.Join(names, ", ")) //nolint:staticcheck // as clients get it
}

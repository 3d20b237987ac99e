// Package lead builds the lead agent of a run: its model, its prompt, its tools and the ordered chain of middlewares.
// A newcomer opens chain.go first.
package lead

import (
	"bytes"
	_ "embed"
	"fmt"
	"log/slog"
	"strings"
	"text/template"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/feature/picture"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/lib/untrusted"
	"github.com/pudu-ai/pudu/internal/middleware/filehistory"
	"github.com/pudu-ai/pudu/internal/middleware/guardrail"
	"github.com/pudu-ai/pudu/internal/middleware/skillactivation"
	"github.com/pudu-ai/pudu/internal/middleware/skillsecrets"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

// Config is what the lead agent of one run is made of.
type Config struct {
	Settings *config.Config
	// Options are the client's, Agent is the custom agent that they name, and Choice what follows of both.
	Options Options
	Agent   agents.Agent
	Choice  agents.Choice
	// Task is what the run is there for as a sub-agent; nil is the lead agent. Desk has the tasks that the run gives
	// itself; nil means that it gives none.
	Task *Task
	Desk *subagents.Desk

	Models  Models
	Thread  Thread
	Sandbox Sandbox
	Program Program
	// Guards and Album, which holds images that were downscaled, are shared by all runs.
	Guards Guards
	Album  *picture.Album
	// Grants are the calls that the user has approved before; nil asks about each that needs it.
	Grants guardrail.Grants
	// Agents are where custom agents are kept; nil means that the run cannot change its own.
	Agents *agents.Folder
	// Profile is what the user says about himself; empty if it is nothing.
	Profile string
	// Memory is what is remembered of the user; nil tells the run nothing, and has it keep nothing.
	Memory *memory.Mine
	// Skills are those that the run may use, and Secrets what the request has brought for them; nil is none.
	Skills  *skills.Run
	Secrets *skillsecrets.Middleware
	// Log is told of what people should know of calls; nil means slog.Default().
	Log *slog.Logger
}

// Task is what a sub-agent is, and who has given it its task.
type Task struct {
	subagents.Kind

	// Outside says that who gave the task has read what came from outside.
	Outside bool
}

// Models are those of a run. Its guards are shared by all runs.
type Models struct {
	// Main answers. Its entry says what it can do. Fallbacks are asked in their order when it does not answer.
	Main      Candidate
	Fallbacks []Candidate
	// Title names threads; nil leaves it to their first words. Summary sums up; without a model the main one does.
	Title   model.ChatModel
	Summary SummaryModel
}

// SummaryModel is the model that sums up, and its window in tokens; 0 means unknown.
type SummaryModel struct {
	Model  model.ChatModel
	Window int
}

// Thread is what the run works on.
type Thread struct {
	// Space is the thread's place; Park gives its sandbox back when the agent has ended.
	Space sandbox.Space
	Park  func()
	// History is that of the thread's files, and HistoryRun whose doing their changes are; nil keeps none.
	History    filehistory.History
	HistoryRun string
	// Folder is what is said of the folder that the thread is in.
	Folder Folder
}

// Sandbox is what the model, and its commands, are told of the sandbox.
type Sandbox struct {
	// Mounts are the folders that it shows beside the thread's own.
	Mounts []sandbox.Mount
	// Programs lists what it has, and Toolbox are the names of the packages that the toolbox gives its Python; nil
	// means that there is no toolbox.
	Programs string
	Toolbox  []string
	Isolated bool
	// Off is why commands cannot be run; then there is no bash tool. Empty means that they can.
	Off string
}

// Program is what a program brings along that embeds this one.
type Program struct {
	// Tools are offered beside the agent's own, and Sources have further ones.
	Tools   []tool.Tool
	Sources []tool.Source
	// Middlewares work at their place in the chain, and Inside within all others of it. Without names those of the
	// chain that are left out.
	Middlewares, Inside []agent.Middleware
	Without             []string
	// System is put behind the system prompt.
	System string
}

// Build makes the agent.
func Build(c Config) (*agent.Agent, error) {
	system, err := Prompt(c)
	if err != nil {
		return nil, err
	}
	if about := agents.ProfileSection(c.Profile); about != "" && c.Task == nil {
		system += "\n\n" + about
	}
	tools, sources, err := offered(c)
	if err != nil {
		return nil, err
	}
	return agent.New(agent.Config{
		Model: c.Models.Main.Model, System: system + c.Thread.Folder.section(), Tools: tools, Sources: sources,
		Channels: threadstate.Channels(), Settings: settings(c.Choice),
	}, Chain(c)...)
}

// settings are those of the agent and of the client; what they leave open is the model's.
func settings(c agents.Choice) model.Settings {
	s := model.Settings{Temperature: c.Settings.Temperature, MaxTokens: c.Settings.MaxTokens, Effort: c.Effort}
	if c.Model.SupportsThinking {
		s.Thinking = &c.Thinking
	}
	return s
}

// Limits are the bounds of a run. maxSteps is what the client asked for, 0 if nothing; it is capped by the
// configuration.
func Limits(cfg *config.Config, maxSteps int) agent.RunConfig {
	if maxSteps <= 0 || maxSteps > cfg.MaxRecursionLimit {
		maxSteps = cfg.MaxRecursionLimit
	}
	// A command's own time-out comes first; the tool's is there for what hangs elsewhere.
	return agent.RunConfig{MaxSteps: maxSteps, ToolTimeout: cfg.Sandbox.CommandTimeout + time.Minute}
}

//go:embed prompt.md
var promptText string

var prompt = template.Must(template.New("prompt.md").Option("missingkey=error").Parse(promptText))

// Prompt fills the system prompt. It says nothing that a run finds out for itself, so that it is the same for every
// call of a thread, and a provider's cache holds.
func Prompt(c Config) (string, error) {
	var b bytes.Buffer
	err := prompt.Execute(&b, struct {
		Config
		CommandSeconds int
		Begin, End     string
		Soul           string
		Bash           bool
		Taught         string
	}{
		c, int(c.Settings.Sandbox.CommandTimeout.Seconds()), untrusted.Begin, untrusted.End,
		agents.SoulSection(c.Agent.Soul), c.Choice.Has(groupBash) && (c.Task == nil || c.Task.Has(groupBash)),
		skillactivation.Section(c.inPrompt(), c.Settings.Skills.Deferred),
	})
	if err != nil {
		return "", fmt.Errorf("prompt: %w", err)
	}
	return strings.TrimSpace(b.String() + "\n\n" + c.Program.System), nil
}

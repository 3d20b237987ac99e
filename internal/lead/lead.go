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
	// System is the system prompt; empty means that [Prompt] makes it. It is the same for all runs of a process.
	System string
	Model  model.ChatModel
	// Guard is shared by all runs of the model.
	Guard ModelGuard
	// Fallbacks are asked in their order when Model does not answer.
	Fallbacks []Fallback
	// Vision says that the model can look at images.
	Vision bool
	// Options are the client's, Agent is the custom agent that they name, and Choice what follows of both.
	Options Options
	Agent   agents.Agent
	Choice  agents.Choice
	// Kind is the sub-agent that the run is; nil is the lead agent.
	Kind *subagents.Kind
	// Outside says that who gave the sub-agent its task has read what came from outside.
	Outside bool
	// Desk has the tasks that the run gives to the Kinds of sub-agents; nil means that it gives none.
	Desk  *subagents.Desk
	Kinds []subagents.Kind
	// TitleModel names threads; nil leaves it to their first words. Summary sums up; without a model the run's own does.
	TitleModel model.ChatModel
	Summary    SummaryModel
	// Guards are shared by all runs.
	Guards Guards
	// Grants are the calls that the user has approved before; nil asks about each that needs it.
	Grants guardrail.Grants
	// Album holds images that were downscaled; it is shared by all runs.
	Album *picture.Album
	// Agents are where custom agents are kept; nil means that the run cannot change its own.
	Agents *agents.Folder

	// Space is the thread's place; Park gives its sandbox back when the agent has ended.
	Space sandbox.Space
	// History is that of the thread's files, and HistoryRun whose doing their changes are; nil keeps none.
	History    filehistory.History
	HistoryRun string
	Park       func()
	// Mounts are the folders that the sandbox shows beside the thread's own.
	Mounts []sandbox.Mount
	// Programs lists what the sandbox has, for the prompt.
	Programs string
	// Toolbox are the names of the packages that the toolbox gives the sandbox's Python; nil means that there is none.
	Toolbox  []string
	Isolated bool
	// CodeOff is why commands cannot be run; then there is no bash tool. Empty means that they can.
	CodeOff string
	// Tools are offered beside the agent's own, and Middlewares work at their place in the chain. Without names those of the
	// chain that are left out.
	Tools       []tool.Tool
	Sources     []tool.Source
	Middlewares []agent.Middleware
	Without     []string
	// Addition is put behind the system prompt.
	Addition string
	// Profile is what the user says about himself; empty if it is nothing.
	Profile string
	// Memory is what is remembered of the user; nil tells the run nothing, and has it keep nothing.
	Memory *memory.Mine
	// Starters are the skills of which the prompt tells: those that are the same for everybody and never change while the program
	// works. What differs from them is told by notes.
	Starters []skills.Skill
	// Skills are those that the run may use; nil is none.
	Skills *skills.Run
	// Secrets are what the request has brought for the skills; nil is nothing.
	Secrets *skillsecrets.Middleware
	// Folder is what is said of the folder that the thread is in.
	Folder Folder
	// Log is told of what people should know of calls; nil means slog.Default().
	Log *slog.Logger
	// Inside are middlewares within all others of the chain; a replay uses it.
	Inside []agent.Middleware
}

// SummaryModel is the model that sums up, and its window in tokens; 0 means unknown.
type SummaryModel struct {
	Model  model.ChatModel
	Window int
}

// Build makes the agent.
func Build(c Config) (*agent.Agent, error) {
	if c.System == "" {
		var err error
		if c.System, err = Prompt(c); err != nil {
			return nil, err
		}
	}
	if about := agents.ProfileSection(c.Profile); about != "" && c.Kind == nil {
		c.System += "\n\n" + about
	}
	c.System += c.Folder.section()
	tools, sources, err := offered(c)
	if err != nil {
		return nil, err
	}
	return agent.New(agent.Config{
		Model: c.Model, System: c.System, Tools: tools, Sources: sources, Channels: threadstate.Channels(), Settings: settings(c.Choice),
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

// Limits are the bounds of a run. maxSteps is what the client asked for, 0 if nothing; it is capped by the configuration.
func Limits(cfg *config.Config, maxSteps int) agent.RunConfig {
	if maxSteps <= 0 || maxSteps > cfg.MaxRecursionLimit {
		maxSteps = cfg.MaxRecursionLimit
	}
	// A command's own time-out comes first; the tool's is there for what hangs elsewhere.
	return agent.RunConfig{MaxSteps: maxSteps, ToolTimeout: cfg.Sandbox.CommandTimeout + time.Minute}
}

//go:embed prompt.md
var promptText string

// Prompt fills the system prompt, of which Model, Space and what else is a run's own are no part: it is the same for every
// call of a thread, so that a provider's cache holds.
func Prompt(c Config) (string, error) {
	t, err := template.New("prompt.md").Option("missingkey=error").Parse(promptText)
	if err != nil {
		return "", fmt.Errorf("prompt: %w", err)
	}
	var b bytes.Buffer
	err = t.Execute(&b, struct {
		Config
		CommandSeconds int
		Begin, End     string
		Soul           string
		Bash           bool
		Taught         string
	}{
		c, int(c.Settings.Sandbox.CommandTimeout.Seconds()), untrusted.Begin, untrusted.End, agents.SoulSection(c.Agent.Soul),
		c.Choice.Has(groupBash) && (c.Kind == nil || c.Kind.Has(groupBash)), skillactivation.Section(c.inPrompt(), c.Settings.Skills.Deferred),
	})
	if err != nil {
		return "", fmt.Errorf("prompt: %w", err)
	}
	return strings.TrimSpace(b.String() + "\n\n" + c.Addition), nil
}

package lead

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/toolbox"
	agenttools "github.com/pudu-ai/pudu/internal/tools/agents"
	"github.com/pudu-ai/pudu/internal/tools/clarify"
	"github.com/pudu-ai/pudu/internal/tools/file"
	memorytools "github.com/pudu-ai/pudu/internal/tools/memory"
	"github.com/pudu-ai/pudu/internal/tools/present"
	"github.com/pudu-ai/pudu/internal/tools/shell"
	skilltools "github.com/pudu-ai/pudu/internal/tools/skills"
	"github.com/pudu-ai/pudu/internal/tools/task"
	"github.com/pudu-ai/pudu/internal/tools/uploads"
	"github.com/pudu-ai/pudu/internal/tools/view"
	"github.com/pudu-ai/pudu/tool"
)

// The groups of the agent's own tools, by which a custom agent chooses.
const (
	groupRead  = "file:read"
	groupWrite = "file:write"
	groupBash  = "bash"
)

// tools are the lead agent's tools in the order in which the model sees them.
func tools(c Config) ([]tool.Tool, error) {
	files, has := c.files(), c.Choice.Has
	onFiles, err := fileTools(c)
	if err != nil {
		return nil, err
	}
	var list []tool.Tool
	if has(groupRead) {
		list = append(list, file.Reading(onFiles)...)
	}
	if has(groupWrite) {
		list = append(list, file.Writing(onFiles)...)
	}
	if box := c.Settings.Sandbox; c.Sandbox.Off == "" && has(groupBash) {
		bash := shell.Config{Space: c.Thread.Space, MaxChars: unbounded(box.BashOutputMaxChars),
			Timeout: box.CommandTimeout, Env: environment(c)}
		if c.Secrets != nil {
			bash.Secrets, bash.Redact = c.Secrets.Environment, c.Secrets.Redactor()
		}
		list = append(list, shell.New(bash))
	}
	list = append(list, present.New(files), clarify.New(), uploads.New(files))
	if c.sees() {
		list = append(list, view.New(view.Config{Files: files, Album: c.Album}))
	}
	if c.delegates() {
		list = append(list, task.New(task.Config{Desk: c.Desk})...)
	}
	list = append(list, ownAgent(c)...)
	list = append(list, skillTools(c)...)
	if c.remembers() && c.Settings.Memory.Mode == "tool" {
		list = append(list, memorytools.New(memorytools.Config{Memory: c.Memory, Messages: agent.Messages.Get})...)
	}
	return list, nil
}

// delegates reports whether the run may give tasks to sub-agents.
func (c *Config) delegates() bool { return c.Options.Subagents && c.Desk != nil }

func fileTools(c Config) (file.Config, error) {
	box := c.Settings.Sandbox
	limit, err := writeLimit(c.Settings.Env)
	return file.Config{
		Files: c.files(), ReadMaxChars: unbounded(box.ReadFileOutputMaxChars),
		ListMaxChars: unbounded(box.LsOutputMaxChars), WriteMaxBytes: limit,
	}, err
}

// ownAgent is the tool with which an agent makes a custom agent, or changes itself.
func ownAgent(c Config) []tool.Tool {
	cfg := agenttools.Config{Folder: c.Agents, Name: c.Options.Agent}
	for _, m := range c.Settings.Models {
		cfg.Models = append(cfg.Models, m.Name)
	}
	switch {
	case c.Agents == nil:
		return nil
	case c.Options.Bootstrap:
		return []tool.Tool{agenttools.Setup(cfg)}
	case c.Agent.Name != "" && c.Options.Channel != "github": // where everybody can write
		return []tool.Tool{agenttools.Update(cfg)}
	}
	return nil
}

// skillTools are those with which an agent looks up skills, and writes them. A sub-agent writes none, and nobody does
// where everybody can write to the agent.
func skillTools(c Config) (list []tool.Tool) {
	if c.Skills == nil {
		return nil
	}
	if c.Settings.SkillEvolution.Enabled && c.Task == nil && c.Options.Channel != "github" {
		list = append(list, skilltools.Manage(c.Skills))
	}
	if c.Settings.Skills.Deferred {
		list = append(list, skilltools.Describe(c.Skills))
	}
	return list
}

// unbounded turns the configuration's "0 means no bound" into the tools' "a negative number means no bound".
func unbounded(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// environment writes variables in a fixed order, so that equal configurations make equal commands.
func environment(c Config) []string {
	vars := map[string]string{}
	if c.Sandbox.Toolbox != nil {
		vars = toolbox.Environment()
	}
	maps.Copy(vars, c.Settings.Sandbox.Environment)
	list := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		list = append(list, name+"="+vars[name])
	}
	return list
}

// writeLimit is the bound of one write_file call in bytes, from the environment; 0 leaves the tool's own.
func writeLimit(env config.Env) (int, error) {
	for _, name := range []string{"PUDU_WRITE_FILE_MAX_BYTES", "DEERFLOW_WRITE_FILE_MAX_BYTES"} {
		value := env.Get(name)
		if value == "" {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil {
			return 0, fmt.Errorf("%s is %q; it must be a number of bytes, or 0 for no bound", name, value)
		}
		return unbounded(max(n, 0)), nil
	}
	return 0, nil
}

package lead_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/tool"
)

// nobody takes no tasks.

// more is a source with two tools.
type more struct{}

func (more) Tools(context.Context, tool.Ref) ([]tool.Tool, string, error) {
	return []tool.Tool{named("present_files"), named("other")}, "1", nil
}

// asSubagent is a run as one of a kind.
func asSubagent(t *testing.T, name string) lead.Config {
	t.Helper()
	c := base(t)
	c.Options = lead.Options{Subagents: true, Plan: true}
	c.Desk = subagents.NewDesk(nil, nil, subagents.Kinds(c.Settings, true))
	c.Profile, c.Agent.Name, c.Agent.Soul = "I am Ann.", "sage", "You speak in riddles."
	c.Program.Tools, c.Program.Sources = []tool.Tool{named("mine"), named("setup_agent")}, []tool.Source{more{}}
	if name != "" {
		kind, err := subagents.Find(c.Desk.Kinds, name)
		if err != nil {
			t.Fatal(err)
		}
		c.Task = &lead.Task{Kind: kind}
	}
	return c
}

// TestWhatASubagentHas: the tools of its kind, from wherever they come, and nothing of what is the person's and the
// agent's.
func TestWhatASubagentHas(t *testing.T) {
	offered := func(name string) (list []string, system string) {
		req := request(t, asSubagent(t, name))
		for _, spec := range req.Tools {
			list = append(list, spec.Name)
		}
		return list, req.System
	}
	lead, system := offered("")
	for _, want := range []string{"task", "ask_clarification", "present_files", "write_todos", "mine", "setup_agent",
		"other"} {
		if !slices.Contains(lead, want) {
			t.Errorf("the lead agent has no %s: %q", want, lead)
		}
	}
	if !strings.Contains(system, "riddles") || !strings.Contains(system, "Ann") {
		t.Error("the lead agent is not told who it is, or for whom")
	}
	general, system := offered(config.GeneralPurpose)
	for _, has := range []string{"task", "ls", "write_file", "mine", "other"} {
		if !slices.Contains(general, has) {
			t.Errorf("a sub-agent has no %s: %q", has, general)
		}
	}
	for _, not := range []string{"ask_clarification", "present_files", "list_uploaded_files", "write_todos",
		"setup_agent"} {
		if slices.Contains(general, not) {
			t.Errorf("a sub-agent has %s", not)
		}
	}
	for _, not := range []string{"riddles", "Ann", "ask_clarification", "present_files", "list_uploaded_files",
		"<self_update>"} {
		if strings.Contains(system, not) {
			t.Errorf("a sub-agent is told of %s", not)
		}
	}
	if !strings.Contains(system, "task that another agent gives you") ||
		!strings.Contains(system, "all that comes back of your work") {
		t.Error("a sub-agent is not told what it is")
	}
	if bash, _ := offered(config.BashAgent); !slices.Equal(bash,
		[]string{"ls", "read_file", "str_replace", "write_file", "bash"}) && len(bash) != 5 {
		t.Errorf("bash has %q", bash)
	}
}

// TestHostile53SubagentsGainNothing is item 53 of the list of hostile inputs: a sub-agent that names tools which who
// gives the task has not, or which are a person's, has none of them. An agent without commands has no sub-agent with
// commands.
func TestHostile53SubagentsGainNothing(t *testing.T) {
	greedy := []string{"bash", "write_file", "read_file", "task", "setup_agent", "update_agent", "ask_clarification",
		"other", "not_there"}
	for name, tt := range map[string]struct {
		groups []string
		want   []string
	}{
		"who has all": {nil, []string{"bash", "write_file", "read_file", "task", "task_wait", "task_message",
			"task_stop", "other"}},
		"who reads alone": {[]string{"file:read"}, []string{"read_file", "task", "task_wait", "task_message",
			"task_stop", "other"}},
		"who has no tools":    {[]string{}, []string{"task", "task_wait", "task_message", "task_stop", "other"}},
		"who has other tools": {[]string{"web"}, []string{"task", "task_wait", "task_message", "task_stop", "other"}},
	} {
		for _, kind := range []subagents.Kind{{Name: "greedy", Prompt: "p", Tools: greedy},
			{Name: config.BashAgent, Prompt: "p", Tools: greedy}} {
			c := asSubagent(t, "")
			c.Task, c.Choice.ToolGroups = &lead.Task{Kind: kind}, tt.groups
			var got []string
			for _, spec := range request(t, c).Tools {
				got = append(got, spec.Name)
			}
			slices.Sort(got)
			slices.Sort(tt.want)
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s: %s has %q, want %q", name, kind.Name, got, tt.want)
			}
		}
	}
}

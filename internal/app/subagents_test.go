package app

import (
	"slices"
	"testing"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

// TestSkillsWithin: a sub-agent has no skill that who gives the task has not.
func TestSkillsWithin(t *testing.T) {
	for _, tt := range []struct{ own, given, want []string }{
		{nil, nil, nil}, {nil, []string{"a"}, []string{"a"}}, {[]string{"a"}, nil, []string{"a"}},
		{[]string{"a", "b"}, []string{"b", "c"}, []string{"b"}}, {[]string{}, []string{"a"}, []string{}},
		{[]string{"a"}, []string{}, []string{}},
	} {
		if got := skillsWithin(tt.own, tt.given); !slices.Equal(got, tt.want) || (got == nil) != (tt.want == nil) {
			t.Errorf("%q within %q: %q", tt.own, tt.given, got)
		}
	}
}

// TestHostile52Depth is item 52 of the list of hostile inputs, with that of [subagentlimit]: however it is asked for, a
// run below so many others gives no task, nor does one whose kind may not.
func TestHostile52Depth(t *testing.T) {
	cfg := config.Default()
	cfg.Subagents.MaxDepth = 3
	cfg.Subagents.Custom = map[string]config.CustomSubagent{
		"split": {Description: "d", System: "s", Tools: []string{subagents.ToolName}, Disallowed: []string{}},
		"leaf":  {Description: "d", System: "s", Tools: []string{"ls"}},
	}
	for _, tt := range []struct {
		kind  string // of the run; empty is that of a person
		depth int
		gives bool
	}{
		{"", 0, true}, {"split", 1, true}, {"split", 2, true}, {"split", 3, false}, {"split", 4, false},
		{"split", 1 << 30, false}, {config.GeneralPurpose, 2, true}, {config.GeneralPurpose, 3, false},
		{"leaf", 1, false}, {config.BashAgent, 1, false},
	} {
		job := runs.Job{Run: store.Run{Depth: tt.depth}, Children: &runs.Children{}}
		if tt.kind != "" {
			job.Run.Parent, job.Request.Task = "parent", &runs.Task{Kind: tt.kind}
		}
		c := lead.Config{Options: lead.Options{Subagents: true}}
		if err := (&engine{}).family(&settings{cfg: cfg}, &c, job); err != nil {
			t.Fatal(err)
		}
		if gives := c.Options.Subagents && c.Desk != nil; gives != tt.gives {
			t.Errorf("%q at depth %d gives tasks: %v", tt.kind, tt.depth, gives)
		}
	}
}

package agents

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/config"
)

func TestResolve(t *testing.T) {
	models := Models{Standard: config.Model{Name: "std"}, Named: []config.Model{
		{Name: "std"}, {Name: "big", SupportsThinking: true, SupportsReasoningEffort: true}, {Name: "small"},
		{Name: "off", Err: errors.New("no key")},
	}}
	yes, no := new(true), new(false)
	type result struct {
		Model    string
		Thinking bool
		Effort   string
		Skills   []string
		Settings Settings
		Warnings []string
	}
	for _, tt := range []struct {
		name string
		r    Request
		a    Agent
		want result
	}{
		{"nobody says", Request{}, Agent{}, result{Model: "std"}},
		{"model_name first", Request{ModelName: "big", Model: "small"}, Agent{Model: "small"},
			result{Model: "big", Thinking: true}},
		{"then model", Request{Model: "big"}, Agent{Model: "small"}, result{Model: "big", Thinking: true}},
		{"then the agent's", Request{}, Agent{Model: "big", Settings: Settings{MaxTokens: 9}},
			result{Model: "big", Thinking: true, Settings: Settings{MaxTokens: 9}}},
		{"unknown", Request{ModelName: "huge"}, Agent{Model: "big"},
			result{Model: "std", Warnings: []string{`model "huge" is not configured; "std" is used`}}},
		{"unusable", Request{}, Agent{Model: "off"},
			result{Model: "std", Warnings: []string{`model "off" cannot be used (no key); "std" is used`}}},
		{"the standard one by name", Request{Model: "std"}, Agent{Model: "big"}, result{Model: "std"}},
		{"thinking, the client's", Request{Model: "big", Thinking: no}, Agent{Thinking: yes}, result{Model: "big"}},
		{"thinking, the agent's", Request{Model: "big"}, Agent{Thinking: no}, result{Model: "big"}},
		{"thinking that the model cannot", Request{}, Agent{Thinking: yes},
			result{Model: "std", Warnings: []string{`model "std" cannot think; thinking is off`}}},
		{"effort, the client's", Request{Model: "big", Effort: "low"}, Agent{Effort: "high"},
			result{Model: "big", Thinking: true, Effort: "low"}},
		{"effort, the agent's", Request{Model: "big"}, Agent{Effort: "high"},
			result{Model: "big", Thinking: true, Effort: "high"}},
		{"effort that the model does not take", Request{Effort: "low"}, Agent{},
			result{Model: "std", Warnings: []string{`model "std" takes no reasoning effort; "low" has no effect`}}},
		{"skills", Request{}, Agent{Skills: []string{}}, result{Model: "std", Skills: []string{}}},
		{"bootstrap", Request{Model: "big", Effort: "low", Bootstrap: true},
			Agent{Model: "small", Effort: "high", Thinking: no, Settings: Settings{MaxTokens: 9}},
			result{Model: "big", Thinking: true, Skills: []string{"bootstrap"}}},
	} {
		c := Resolve(tt.r, tt.a, models)
		got := result{c.Model.Name, c.Thinking, c.Effort, c.Skills, c.Settings, c.Warnings}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestToolGroups(t *testing.T) {
	for _, tt := range []struct {
		groups []string
		group  string
		want   bool
	}{
		{nil, "web", true}, {[]string{"web"}, "web", true}, {[]string{"web"}, "bash", false},
		{[]string{}, "web", false}, {[]string{}, "", true},
	} {
		if got := Resolve(Request{}, Agent{ToolGroups: tt.groups}, Models{}).Has(tt.group); got != tt.want {
			t.Errorf("%v has %q: %t", tt.groups, tt.group, got)
		}
	}
}

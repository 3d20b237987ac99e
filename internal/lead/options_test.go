package lead_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/model"
)

// TestPitfall69NothingInAContextIsCertain: null, no object, or members of another type are as if they were not there.
func TestPitfall69NothingInAContextIsCertain(t *testing.T) {
	plain := lead.ReadOptions(nil, nil)
	for _, c := range []struct{ config, context string }{
		{"null", "null"}, {"[]", `"x"`}, {`{"configurable":null,"context":null}`, "null"}, {"7", "{"},
		{`{"configurable":{"is_plan_mode":"yes","model_name":7,"agent_name":null}}`,
			`{"subagent_enabled":1,"max_concurrent_subagents":"two"}`},
	} {
		if diff := cmp.Diff(plain,
			lead.ReadOptions(json.RawMessage(c.config), json.RawMessage(c.context))); diff != "" {
			t.Errorf("%s, %s (-want +got):\n%s", c.config, c.context, diff)
		}
	}
}

// TestPitfall68NumbersOfClientsAreBounded: true is no number, and large ones are cut.
func TestPitfall68NumbersOfClientsAreBounded(t *testing.T) {
	for _, c := range []struct {
		context   string
		most, all int
	}{
		{`{"max_concurrent_subagents":true,"max_total_subagents":false}`, 3, 0},
		{`{"max_concurrent_subagents":99,"max_total_subagents":1e9}`, 4, 0},
		{`{"max_concurrent_subagents":99,"max_total_subagents":1000}`, 4, 50},
		{`{"max_concurrent_subagents":-1,"max_total_subagents":0}`, 3, 0},
		{`{"max_concurrent_subagents":2,"max_total_subagents":7}`, 2, 7},
	} {
		o := lead.ReadOptions(nil, json.RawMessage(c.context))
		if o.MaxSubagents != c.most || o.MaxTotalSubagents != c.all {
			t.Errorf("%s: %d in a message, %d in all; want %d and %d", c.context, o.MaxSubagents, o.MaxTotalSubagents,
				c.most, c.all)
		}
	}
}

// TestTheContextWins over what stands in configurable, and says all there is to choose.
func TestTheContextWins(t *testing.T) {
	got := lead.ReadOptions(json.RawMessage(`{"configurable":{"model_name":"a","is_plan_mode":true},"context":{"model_name":"b"}}`),
		json.RawMessage(`{"model_name":"c","subagent_enabled":true,"thinking_enabled":false,"disable_clarification":true,"channel_name":"github"}`))
	off := false
	want := lead.Options{
		Request: agents.Request{ModelName: "c", Thinking: &off}, Plan: true, Subagents: true, MaxSubagents: 3,
		NoClarification: true, Channel: "github",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPitfall109WhoeverCanWriteThereCannotChangeTheAgent: a run from where everybody writes has no tool for it.
func TestPitfall109WhoeverCanWriteThereCannotChangeTheAgent(t *testing.T) {
	for channel, want := range map[string]bool{"": true, "github": false} {
		c := base(t)
		c.Agents, c.Agent.Name = agents.NewFolder(t.TempDir()), "mine"
		c.Options.Agent, c.Options.Channel = "mine", channel
		has := slices.ContainsFunc(request(t, c).Tools, func(m model.Tool) bool { return m.Name == "update_agent" })
		if has != want {
			t.Errorf("a run from the channel %q has update_agent: %t", channel, has)
		}
	}
}

// TestRow30AProgramsOwnMiddlewaresHaveTheirPlace: in their order, before the guards of the answer.
func TestRow30AProgramsOwnMiddlewaresHaveTheirPlace(t *testing.T) {
	c := base(t)
	c.Program.Middlewares = []agent.Middleware{&passing{name: "First"}, &passing{name: "Second"}}
	var names []string
	for _, m := range lead.Chain(c) {
		names = append(names, m.Name())
	}
	at := slices.Index(names, "First")
	want := []string{
		"First", "Second", "TerminalResponseMiddleware", "ModelLengthFinishReasonMiddleware",
		"SafetyFinishReasonMiddleware", "ClarificationMiddleware",
	}
	if at < 0 {
		t.Fatalf("%v", names)
	}
	if diff := cmp.Diff(want, names[at:]); diff != "" {
		t.Error(diff)
	}
	request(t, c)
	for _, m := range c.Program.Middlewares {
		if n, ok := m.(*passing); !ok || !n.ran {
			t.Errorf("%s did not run", m.Name())
		}
	}
}

// passing is a middleware that only passes on.
type passing struct {
	name string
	ran  bool
}

func (m *passing) Name() string { return m.name }

func (m *passing) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	m.ran = true
	return next(ctx, req)
}

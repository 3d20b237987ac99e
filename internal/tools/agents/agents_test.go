package agents

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// caller calls a tool once, with the arguments, and then answers.
type caller struct{ name, args string }

func (caller) Name() string { return "test/caller" }

func (c caller) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	chunk := message.Chunk{Text: "done", FinishReason: "stop"}
	if req.Messages[len(req.Messages)-1].Role == message.Human {
		chunk = message.Chunk{FinishReason: "tool_calls",
			ToolCalls: []message.ToolCallChunk{{ID: "c", Name: c.name, Args: c.args}}}
	}
	return func(yield func(message.Chunk, error) bool) { yield(chunk, nil) }
}

// call lets an agent of the user call the tool, and returns the result.
func call(t *testing.T, user string, tl tool.Tool, args string) message.Message {
	t.Helper()
	a, err := agent.New(agent.Config{Model: caller{tl.Spec().Name, args}, Tools: []tool.Tool{tl}})
	if err != nil {
		t.Fatal(err)
	}
	in := message.New(message.Human, "go")
	in.ID = "in"
	s, err := a.Run(t.Context(), &agent.Runtime{RunID: "r", UserID: user, Input: agent.Messages.Append(in)},
		state.State{})
	if err != nil {
		t.Fatal(err)
	}
	return agent.Messages.Get(s)[2]
}

const isError = message.StatusError

func TestSetup(t *testing.T) {
	dir := t.TempDir()
	cfg := Config{Folder: agents.NewFolder(dir), Name: "My-Helper"}
	for _, tt := range []struct{ args, want string }{
		{`{"soul":"","description":"d"}`, "Error: the soul is empty"},
		{`{"soul":" None ","description":"d"}`, "Error: the soul is empty"},
		{`{"description":"d"}`, "soul"},
		{`{"soul":"` + strings.Repeat("x", agents.MaxSoul+1) + `","description":"d"}`, "shorten it"},
	} {
		if m := call(t, "ada", Setup(cfg), tt.args); m.Status != isError || !strings.Contains(m.Text(), tt.want) {
			t.Errorf("%.60s: %s", tt.args, m.Text())
		}
	}
	if m := call(t, "ada", Setup(cfg),
		`{"soul":"I help.","description":"Helps","skills":["a"," a ","null","b"]}`); m.Status == isError ||
		!strings.Contains(m.Text(), "'my-helper'") {
		t.Error(m.Text())
	}
	a, err := cfg.Folder.Load(access.FromRow("ada"), "my-helper")
	if diff := cmp.Diff(agents.Agent{Name: "my-helper", Description: "Helps", Soul: "I help.",
		Skills: []string{"a", "b"}}, a); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := cfg.Folder.Load(access.FromRow("default"), "my-helper"); !errors.Is(err, agents.ErrNotFound) {
		t.Errorf("it was written for another user: %v", err)
	}
	if m := call(t, "ada", Setup(cfg),
		`{"soul":"I help more.","description":"null","skills":null}`); m.Status == isError {
		t.Error(m.Text())
	}
	if a, _ := cfg.Folder.Load(access.FromRow("ada"), "my-helper"); a.Soul != "I help more." ||
		a.Description != "Helps" || len(a.Skills) != 2 {
		t.Errorf("%+v", a)
	}
}

func TestSetupWithoutANameWritesTheStandardSoul(t *testing.T) {
	f := agents.NewFolder(t.TempDir())
	if m := call(t, "bob", Setup(Config{Folder: f}), `{"soul":"Be brief.","description":"d"}`); m.Status == isError {
		t.Error(m.Text())
	}
	if soul, err := f.StandardSoul(); soul != "Be brief." || err != nil {
		t.Errorf("%q %v", soul, err)
	}
}

func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	f := agents.NewFolder(dir)
	cfg := Config{Folder: f, Name: "x", Models: []string{"big", "small"}}
	const file = "users/ada/agents/x/config.yaml"
	const other = "model_settings: {temperature: 1}\ngithub:\n    installation_id: 7 # mine\n"
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "users/ada/agents/x"), 0o755),
		os.MkdirAll(filepath.Join(dir, "agents/old"), 0o755),
		os.WriteFile(filepath.Join(dir, file), []byte(other), 0o600),
		os.WriteFile(filepath.Join(dir, "agents/old/config.yaml"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args, want string
		failed     bool
	}{
		{`{"soul":"I am.","model":"big","skills":[],"tool_groups":"web"}`,
			"Agent 'x' updated: soul, skills, tool_groups, model.", false},
		{`{"soul":"I am.","model":"big"}`, "Nothing changed", false},
		{`{"soul":"null","model":"None","skills":["undefined"],"tool_groups":null,"description":"d"}`,
			"updated: description.", false},
		{`{"model":"","description":"e"}`, "updated: description.", false},
		{`{}`, "nothing to change was given", true},
		{`{"soul":"null"}`, "nothing to change was given", true},
		{`{"soul":"  "}`, "the soul is empty", true},
		{`{"model":"huge"}`, "unknown model 'huge'. Available: big, small.", true},
	} {
		m := call(t, "ada", Update(cfg), tt.args)
		if (m.Status == isError) != tt.failed || !strings.Contains(m.Text(), tt.want) {
			t.Errorf("%s: %s", tt.args, m.Text())
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, file))
	if want := other + "skills: []\ntool_groups:\n    - web\nmodel: big\ndescription: e\n"; err != nil ||
		string(raw) != want {
		t.Errorf("%v\n%s", err, raw)
	}
	for name, want := range map[string]string{"old": "can only be read", "nobody": "there is no agent 'nobody'"} {
		cfg.Name = name
		if m := call(t, "ada", Update(cfg), `{"description":"d"}`); m.Status != isError ||
			!strings.Contains(m.Text(), want) || strings.Contains(m.Text(), dir) {
			t.Errorf("%s: %s", name, m.Text())
		}
	}
}

func TestParameters(t *testing.T) {
	for _, tt := range []struct {
		spec tool.Spec
		want string
	}{
		{Setup(Config{}).Spec(), `"required":["soul","description"]`},
		{Update(Config{}).Spec(), `"tool_groups":{"type":"array"`},
	} {
		if !strings.Contains(string(tt.spec.Parameters), tt.want) || tt.spec.Effect != tool.Idempotent ||
			len(tt.spec.Description)+len(tt.spec.Parameters) > 900 {
			t.Errorf("%s: %d, %d bytes, %s", tt.spec.Name, len(tt.spec.Description), len(tt.spec.Parameters),
				tt.spec.Parameters)
		}
	}
}

package lead_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// brought is a middleware of another program.
type brought struct {
	name     string
	channels []state.AnyChannel
}

func (b brought) Name() string                 { return b.name }
func (b brought) Channels() []state.AnyChannel { return b.channels }
func (b brought) BeforeAgent(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	return agent.Command{}, nil
}

type hookless struct{}

func (hookless) Name() string { return "HooklessMiddleware" }

func named(name string) tool.Tool {
	return tool.MustNew(tool.Spec{Name: name, Description: "Does it."},
		func(context.Context, *tool.Call, struct{}) (*tool.Result, error) {
			return tool.Text("done"), nil
		})
}

func TestWhatAProgramBringsAlongIsCheckedBeforeAnyRun(t *testing.T) {
	for _, c := range []struct {
		name        string
		tools       []tool.Tool
		middlewares []agent.Middleware
		without     []string
		want        string // of the error; empty for none
	}{
		{"fits", []tool.Tool{named("weather")},
			[]agent.Middleware{brought{name: "AMiddleware"}, brought{name: "BMiddleware"}}, nil, ""},
		{"in the place of another", nil, []agent.Middleware{brought{name: "TitleMiddleware"}},
			[]string{"TitleMiddleware"}, ""},
		{"without the tool of one", []tool.Tool{named("write_todos")}, nil, []string{"TodoMiddleware"}, ""},
		{"without one that is not there", nil, nil, []string{"TitelMiddleware"},
			`"TitelMiddleware": there is none of this name; there are InputSanitizationMiddleware, `},
		{"without one that is not built", nil, nil, []string{"McpRoutingMiddleware"},
			`"McpRoutingMiddleware": there is none of this name`},
		{"without their own place", nil, nil, []string{"(your own)"}, "there is none of this name"},
		{"a tool of every agent", []tool.Tool{named("bash")}, nil, nil, `"bash": the name is taken`},
		{"a tool of a middleware", []tool.Tool{named("write_todos")}, nil, nil, `"write_todos": the name is taken`},
		{"a tool of some agents", []tool.Tool{named("view_image")}, nil, nil, `"view_image": the name is taken`},
		{"two tools of one name", []tool.Tool{named("x"), named("x")}, nil, nil, `"x": the name is taken`},
		{"a middleware of the chain", nil, []agent.Middleware{brought{name: "TitleMiddleware"}}, nil,
			`"TitleMiddleware" is empty, taken`},
		{"no hook", nil, []agent.Middleware{hookless{}}, nil, "implements no hook"},
		{
			"a channel of the chain", nil,
			[]agent.Middleware{brought{"AMiddleware", []state.AnyChannel{state.LastValue[int]("title")}}}, nil,
			`"title"`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := lead.Check(config.Default(), lead.Program{Tools: c.tools, Middlewares: c.middlewares,
				Without: c.without})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestTheSchemaHasTheChannelsOfOwnMiddlewares(t *testing.T) {
	schema, err := lead.Schema(config.Default(),
		brought{"AMiddleware", []state.AnyChannel{state.LastValue[int]("visits")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"visits", "messages", "todos", "token_budget", "guardrail_untrusted"} {
		if schema[name] == nil {
			t.Errorf("the schema has no %s", name)
		}
	}
}

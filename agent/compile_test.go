package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// hookOf is a middleware with before_model and after_model hooks made of functions.
type hookOf struct {
	name           string
	beforeModel    func()
	afterModel     func(rt *agent.Runtime, s state.State) agent.Command
	failAfterModel error
}

func (h hookOf) Name() string { return h.name }
func (h hookOf) BeforeModel(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	if h.beforeModel != nil {
		h.beforeModel()
	}
	return agent.Command{}, nil
}
func (h hookOf) AfterModel(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	if h.afterModel != nil {
		return h.afterModel(rt, s), nil
	}
	return agent.Command{}, h.failAfterModel
}

// tracer notes every hook that runs.
type tracer struct {
	name string
	note func(string)
}

func (m tracer) Name() string { return m.name }
func (m tracer) hook(h string) (agent.Command, error) {
	m.note(m.name + "." + h)
	return agent.Command{}, nil
}
func (m tracer) BeforeAgent(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	return m.hook("before_agent")
}
func (m tracer) BeforeModel(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	return m.hook("before_model")
}
func (m tracer) AfterModel(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	return m.hook("after_model")
}
func (m tracer) AfterAgent(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	return m.hook("after_agent")
}
func (m tracer) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	m.note(m.name + ".model in")
	defer m.note(m.name + ".model out")
	return next(ctx, req)
}
func (m tracer) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	m.note(m.name + ".tool in")
	defer m.note(m.name + ".tool out")
	return next(ctx, req)
}

func TestHookOrder(t *testing.T) {
	b := newBed()
	b.rt.Emit, b.rt.Commit = nil, nil
	a := mustAgent(t, agent.Config{Model: turns(call("a", `{}`), say("ok")), Tools: []tool.Tool{echo("a")}},
		tracer{"A", b.note}, tracer{"B", b.note})
	b.mustRun(t, a)
	model := []string{"A.before_model", "B.before_model", "A.model in", "B.model in", "B.model out", "A.model out",
		"B.after_model", "A.after_model"}
	var want []string
	want = append(want, "A.before_agent", "B.before_agent")
	want = append(want, model...)
	want = append(want, "A.tool in", "B.tool in", "B.tool out", "A.tool out")
	want = append(want, model...)
	want = append(want, "B.after_agent", "A.after_agent")
	diff(t, b.lines(), want)
}

type named struct{ name string }

func (n named) Name() string { return n.name }

func TestCompileRefuses(t *testing.T) {
	hook := func(name string) agent.Middleware { return hookOf{name: name} }
	ok := agent.Config{Model: turns(say("x"))}
	clash := ok
	clash.Channels = []state.AnyChannel{state.LastValue[int]("messages")}
	badTool := ok
	badTool.Tools = []tool.Tool{newTool("not a name", tool.ReadOnly, nil)}
	for _, c := range []struct {
		name string
		cfg  agent.Config
		mws  []agent.Middleware
		want string
	}{
		{"no model", agent.Config{}, nil, "Model is missing"},
		{"a middleware without a hook", ok, []agent.Middleware{named{"Idle"}}, `"Idle" implements no hook`},
		{"two of one name", ok, []agent.Middleware{hook("A"), hook("A")}, `"A" is empty, taken`},
		{"a name with a dot", ok, []agent.Middleware{hook("A.b")}, `"A.b" is empty, taken or has a dot`},
		{"no name", ok, []agent.Middleware{hook("")}, `is empty`},
		{"a channel declared twice", clash, nil, `"messages" is declared twice`},
		{"a tool with a bad name", badTool, nil, `not a name`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := agent.New(c.cfg, c.mws...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

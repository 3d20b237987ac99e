package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// sourceFunc is a source of a function that is told how often it was asked before.
type sourceFunc struct {
	asked int
	tools func(n int) ([]tool.Tool, string, error)
}

func (s *sourceFunc) Tools(_ context.Context, ref tool.Ref) ([]tool.Tool, string, error) {
	if ref.Run == "" || ref.Thread == "" || ref.User == "" {
		return nil, "", errors.New("asked for nobody")
	}
	s.asked++
	return s.tools(s.asked - 1)
}

// offers are the names of the tools in each request.
func offers(requests []*model.Request) (list []string) {
	for _, r := range requests {
		var names []string
		for _, t := range r.Tools {
			names = append(names, t.Name)
		}
		list = append(list, strings.Join(names, " "))
	}
	return list
}

// TestSourcesAreAskedBeforeEachCall: tools come, go and come back; a call of one that has gone, and of those of a
// source that fails, is answered with an error; the agent's own come first.
func TestSourcesAreAskedBeforeEachCall(t *testing.T) {
	t.Parallel()
	s := &sourceFunc{tools: func(n int) ([]tool.Tool, string, error) {
		switch n {
		case 0:
			return []tool.Tool{echo("a"), echo("own")}, "1", nil
		case 1:
			return []tool.Tool{echo("b")}, "2", nil
		case 2:
			return nil, "3", errors.New("no connection")
		case 3:
			panic("ouch")
		case 4:
			return []tool.Tool{echo("c"), echo("bad name")}, "5", nil
		}
		return []tool.Tool{echo("never seen")}, "5", nil
	}}
	var requests []*model.Request
	m := noting(&requests, call("a", `{"x":"1"}`), call("a", `{"x":"2"}`), call("b", `{}`), call("nobody", `{}`),
		call("c", `{"x":"5"}`), say("done"))
	b := newBed()
	got := b.mustRun(t,
		mustAgent(t, agent.Config{Model: m, Tools: []tool.Tool{echo("own")}, Sources: []tool.Source{s}}))
	if want := []string{"own a", "own b", "own", "own", "own c", "own"}; !slices.Equal(offers(requests), want) {
		t.Errorf("offered %q, want %q", offers(requests), want)
	}
	text := strings.Join(got, "\n")
	for _, want := range []string{"tool: a:1", `error tool: There is no tool "a"`, "Some are missing: no connection",
		`There is no tool "nobody"`, "tool: c:5"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	var said []string
	for _, e := range b.events {
		if c, ok := e.(event.Custom); ok {
			said = append(said, string(c.Value))
		}
	}
	if len(said) != 4 || !strings.Contains(said[0], "no connection") || !strings.Contains(said[1], "ouch") ||
		!strings.Contains(said[2], "bad name") {
		t.Errorf("said %q", said)
	}
}

// TestSourcesAfterACrash: the process that goes on is offered other tools than the model was.
func TestSourcesAfterACrash(t *testing.T) {
	t.Parallel()
	other := newTool("a", tool.ReadOnly,
		func(context.Context, *tool.Call) (*tool.Result, error) { return tool.Text("the other one"), nil })
	other.spec.Parameters = json.RawMessage(`{"type":"object","properties":{"y":{"type":"string"}}}`)
	for want, now := range map[string][]tool.Tool{
		"tool: a:1":                    {echo("a")},
		"error tool: this tool has ch": {other},
		"error tool: this tool was th": nil,
	} {
		b := newBed()
		was := &sourceFunc{tools: func(int) ([]tool.Tool, string, error) { return []tool.Tool{echo("a")}, "", nil }}
		script := turns(call("a", `{"x":"1"}`), say("done"))
		b.rt.Config.InterruptBefore = []string{agent.NodeTools}
		_, err := mustAgent(t, agent.Config{Model: script, Sources: []tool.Source{was}}).
			Run(t.Context(), b.rt, state.State{})
		if _, stopped := errors.AsType[*agent.Interrupted](err); !stopped {
			t.Fatal(err)
		}
		last := b.steps[len(b.steps)-1]
		is := &sourceFunc{tools: func(int) ([]tool.Tool, string, error) { return now, "", nil }}
		b.rt.Input, b.rt.Config.InterruptBefore = nil, nil
		b.rt.Resume = &agent.Resume{Next: agent.NodeTools, Passed: true}
		s, err := mustAgent(t, agent.Config{Model: script, Sources: []tool.Source{is}}).
			Run(t.Context(), b.rt, last.State)
		if err != nil {
			t.Fatal(err)
		}
		if got := talk(s); !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, want) }) {
			t.Errorf("%q: %q", want, got)
		}
		if is.asked != 2 {
			t.Errorf("asked %d times, before the tools and before the model", is.asked)
		}
	}
}

// TestSourcesAreBounded: what brings too much has no tools, and a source that hangs ends with the run.
func TestSourcesAreBounded(t *testing.T) {
	t.Parallel()
	many := &sourceFunc{tools: func(int) ([]tool.Tool, string, error) { return make([]tool.Tool, 257), "", nil }}
	long := echo("long")
	long.spec.Description = strings.Repeat("x", 64<<10+1)
	wordy := &sourceFunc{tools: func(int) ([]tool.Tool, string,
		error) {
		return []tool.Tool{long, echo("fine")}, "", nil
	}}
	var requests []*model.Request
	a := mustAgent(t, agent.Config{Model: noting(&requests, say("ok")), Sources: []tool.Source{many, wordy}})
	newBed().mustRun(t, a)
	if got := offers(requests); !slices.Equal(got, []string{"fine"}) {
		t.Errorf("offered %q", got)
	}
	requests = nil
	same := &sourceFunc{tools: func(n int) ([]tool.Tool, string,
		error) {
		return []tool.Tool{echo([]string{"a", "b"}[n])}, "1", nil
	}}
	newBed().
		mustRun(t, mustAgent(t, agent.Config{Model: noting(&requests, call("a", `{}`), say("ok")),
			Sources: []tool.Source{same}}))
	if got := offers(requests); !slices.Equal(got, []string{"a", "a"}) {
		t.Errorf("of one version, offered %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	hangs := &sourceFunc{tools: func(int) ([]tool.Tool, string, error) { cancel(); return nil, "", ctx.Err() }}
	a = mustAgent(t, agent.Config{Model: turns(say("ok")), Sources: []tool.Source{hangs}})
	s, err := a.Run(ctx, newBed().rt, state.State{})
	if !errors.Is(err, context.Canceled) || len(agent.Messages.Get(s)) != 1 {
		t.Errorf("%v, %v", err, agent.Messages.Get(s))
	}
	if got := agent.Messages.Get(s); got[0].Role != message.Human {
		t.Errorf("%+v", got)
	}
}

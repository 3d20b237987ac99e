package filehistory

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/tool"
)

// book writes down what it is told.
type book struct {
	lines []string
	err   error
}

func (b *book) Call(_ context.Context, run, call, name string) (func(context.Context) error, error) {
	b.lines = append(b.lines, "before "+run+" "+call+" "+name)
	return func(ctx context.Context) error {
		b.lines = append(b.lines, "after "+call)
		return errors.Join(b.err, ctx.Err())
	}, b.err
}

// TestCallsThatMayWrite are told of before and after, whatever becomes of them; others are not; a history that fails
// keeps none from being made.
func TestCallsThatMayWrite(t *testing.T) {
	failed := errors.New("failed")
	for name, tt := range map[string]struct {
		req  agent.ToolRequest
		err  error // the tool's
		book error
		want []string
	}{
		"writes": {agent.ToolRequest{Call: tool.Call{ID: "c", Name: "bash"}, Spec: tool.Spec{Name: "bash"}}, nil,
			nil, []string{"before run c bash", "tool", "after c"}},
		"fails": {agent.ToolRequest{Call: tool.Call{ID: "c", Name: "bash"}, Spec: tool.Spec{Name: "bash"}},
			failed, nil, []string{"before run c bash", "tool", "after c"}},
		"no history": {agent.ToolRequest{Call: tool.Call{ID: "c", Name: "bash"}, Spec: tool.Spec{Name: "bash"}}, nil,
			failed, []string{"before run c bash", "tool"}},
		"reads": {agent.ToolRequest{Call: tool.Call{ID: "c", Name: "ls"},
			Spec: tool.Spec{Name: "ls", Effect: tool.ReadOnly}}, nil, nil, []string{"tool"}},
		"is invalid": {agent.ToolRequest{Call: tool.Call{ID: "c", Name: "bash"}, Spec: tool.Spec{Name: "bash"},
			Invalid: "no"}, nil, nil, []string{"tool"}},
		"is no tool": {agent.ToolRequest{Call: tool.Call{ID: "c", Name: "x"}}, nil, nil, []string{"tool"}},
		"gives it on": {agent.ToolRequest{Call: tool.Call{ID: "c", Name: "task"}, Spec: tool.Spec{Name: "task"}}, nil,
			nil, []string{"tool"}},
	} {
		b := &book{err: tt.book}
		m := New(Config{History: b, Run: "run", Within: []string{"task"}, Log: slog.New(slog.DiscardHandler)})
		ctx, cancel := context.WithCancel(t.Context())
		_, err := m.WrapToolCall(ctx, &tt.req, func(context.Context, *agent.ToolRequest) (*tool.Result, error) {
			b.lines = append(b.lines, "tool")
			cancel() // which keeps nothing from being noted
			return nil, tt.err
		})
		if diff := cmp.Diff(tt.want, b.lines); diff != "" || !errors.Is(err, tt.err) {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	if m := New(Config{}); m.Name() != "FileHistoryMiddleware" ||
		!slices.Equal(agent.Hooks(m), []agent.Hook{agent.HookWrapToolCall}) {
		t.Error(m.Name(), agent.Hooks(m))
	}
}

package pudu_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu"
	"github.com/pudu-ai/pudu/agent/agenttest"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/testkit/buffertest"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

// written writes a configuration and returns its path.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// shack is a sandbox that runs nothing and says where it was asked to.
type shack struct{ broken error }

func (shack) Name() string                  { return "shack" }
func (shack) Isolated() bool                { return true }
func (s shack) Probe(context.Context) error { return s.broken }
func (shack) Open(context.Context, sandbox.Spec) (sandbox.Sandbox, error) {
	return shack{}, nil
}
func (shack) Close() error { return nil }
func (shack) Run(_ context.Context, c sandbox.Command) (sandbox.Result, error) {
	fmt.Fprintf(c.Stdout, "the shack runs %q", c.Script)
	return sandbox.Result{}, nil
}

func TestAProgramBringsItsModelSandboxPromptAndLog(t *testing.T) {
	t.Parallel()
	played := &agenttest.Model{Answers: [][]message.Chunk{
		agenttest.Calls("bash", `{"description":"Look","command":"echo hi"}`), agenttest.Say("Done."),
	}}
	log := &buffertest.Buffer{}
	o := pudu.Options{
		Config: written(t, "log_level: info\n"), Data: t.TempDir(), Model: played, Sandbox: shack{},
		System: "Answer in rhymes.", Without: []string{"DynamicContextMiddleware"},
		Logger: slog.New(slog.NewTextHandler(log, nil)),
	}
	p := open(t, o)
	defer closed(t, p)
	if got := said(t, p, pudu.Task{Thread: "t", Text: "Look."}); got != "Done." {
		t.Errorf("said %q", got)
	}
	requests := played.Requests
	last := requests[len(requests)-1]
	if got := last.Messages[len(last.Messages)-1].Text(); !strings.Contains(got, `the shack runs "echo hi"`) {
		t.Errorf("the command's result is %q", got)
	}
	if !strings.HasSuffix(last.System, "\n\nAnswer in rhymes.") || !strings.Contains(last.System, "You are Pudu") {
		t.Errorf("the system prompt ends with %q", last.System[max(0, len(last.System)-200):])
	}
	if first := requests[0].Messages; len(first) != 1 {
		t.Errorf("without its middleware the date is told: %+v", first)
	}
	for _, want := range []string{"[SandboxAudit]", "run started", "run ended", "thread=t"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %q: %s", want, log)
		}
	}
}

func TestASandboxOfAProgramThatCannotIsolateIsNotUsed(t *testing.T) {
	t.Parallel()
	broken := shack{fmt.Errorf("%w: the shack has no door", sandbox.ErrUnavailable)}
	p := open(t, pudu.Options{Config: written(t, "log_level: info\n"), Data: t.TempDir(), Model: &agenttest.Model{},
		Sandbox: broken})
	defer closed(t, p)
	if notes := strings.Join(p.Notes(), "\n"); !strings.Contains(notes, "code tools are off: the shack has no door") {
		t.Errorf("notes %q", notes)
	}
}

// shelves is the section of a program.
type shelves struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

func (s shelves) tool() tool.Tool {
	return tool.MustNew(tool.Spec{Name: "shelf", Description: "Tells what is on the shelf.", Effect: tool.ReadOnly},
		func(context.Context, *tool.Call, struct{}) (*tool.Result, error) {
			return tool.Text(fmt.Sprintf("%d %s", s.Count, s.Name)), nil
		})
}

func TestAProgramStartsWithItsSectionAndStops(t *testing.T) {
	t.Parallel()
	const script = "dialogues:\n  - turns:\n      - tool_calls: [{name: shelf, args: {}}]\n      - text: 'It says: {{.LastToolResult}}'\n"
	section := shelves{Count: 3}
	data := t.TempDir()
	var calls []string
	o := pudu.Options{
		Config: configured(t, script, "shelves: {name: apples}\n"), Data: data,
		Sections: map[string]any{"shelves": &section},
		Start: func(_ context.Context, s *pudu.Setup) error {
			calls = append(calls, "start "+s.Data)
			s.Tools = append(s.Tools, section.tool())
			return nil
		},
		Stop: func(context.Context) error {
			calls = append(calls, "stop")
			return errors.New("the shelf is stuck")
		},
	}
	p := open(t, o)
	if got := said(t, p, pudu.Task{Thread: "t", Text: "Look."}); got != "It says: 3 apples" {
		t.Errorf("said %q", got)
	}
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "the shelf is stuck") {
		t.Errorf("close: %v", err)
	}
	_ = p.Close() // once more: what stopped does not stop again
	if d := cmp.Diff([]string{"start " + data, "stop"}, calls); d != "" {
		t.Error(d)
	}
}

func TestAProgramThatDoesNotStartLeavesNothingOpen(t *testing.T) {
	t.Parallel()
	stopped := 0
	o := pudu.Options{
		Config: written(t, "sandbox: {use: none}\n"), Data: t.TempDir(), Model: &agenttest.Model{},
		Stop: func(context.Context) error { stopped++; return nil },
	}
	for name, tt := range map[string]struct {
		start   func(context.Context, *pudu.Setup) error
		want    string
		stopped int
	}{
		"it fails": {func(context.Context, *pudu.Setup) error { return errors.New("no shelf") }, "no shelf", 0},
		"its tool has a name that is taken": {func(_ context.Context, s *pudu.Setup) error {
			s.Tools = append(s.Tools, tool.MustNew(tool.Spec{Name: "ls", Description: "Lists."},
				func(context.Context, *tool.Call, struct{}) (*tool.Result, error) { return tool.Text(""), nil }))
			return nil
		}, `"ls": the name is taken`, 1},
	} {
		o.Start, stopped = tt.start, 0
		if _, err := pudu.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), tt.want) ||
			stopped != tt.stopped {
			t.Errorf("%s: %v, stopped %d times", name, err, stopped)
		}
	}
	o.Start = nil
	closed(t, open(t, o)) // the data folder is free
}

func TestAProgramSeesTheEventsOfAllRuns(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string][]event.Event{}
	runs := map[string]bool{}
	played := &agenttest.Model{Answers: [][]message.Chunk{agenttest.Say("One."), agenttest.Say("Two.")}}
	p := open(t, pudu.Options{
		Config: written(t, "sandbox: {use: none}\n"), Data: t.TempDir(), Model: played,
		Events: func(e pudu.RunEvent) {
			mu.Lock()
			defer mu.Unlock()
			seen[e.Thread], runs[e.Run] = append(seen[e.Thread], e.Event), true
		},
	})
	said(t, p, pudu.Task{Thread: "one", Text: "Hello."})
	said(t, p, pudu.Task{Thread: "two", Text: "Hello."})
	closed(t, p)
	if len(seen) != 2 || len(runs) != 2 {
		t.Fatalf("events of %d threads and %d runs", len(seen), len(runs))
	}
	for thread, evs := range seen {
		text := ""
		for i, ev := range evs {
			if c, ok := ev.Data.(event.Chunk); ok {
				text += c.Text
			}
			if i > 0 && ev.ID.Compare(evs[i-1].ID) <= 0 {
				t.Errorf("%s: event %v comes after %v", thread, ev.ID, evs[i-1].ID)
			}
		}
		if end, ok := evs[len(evs)-1].Data.(event.Run); !ok || end.Status != event.StatusSuccess || text == "" {
			t.Errorf("%s: the text is %q, the last event %+v", thread, text, evs[len(evs)-1].Data)
		}
	}
}

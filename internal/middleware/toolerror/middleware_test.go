package toolerror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// callsOnce asks for one call of the tool "probe", then ends.
type callsOnce struct{ name string }

func (callsOnce) Name() string { return "test/fake" }

func (m callsOnce) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		if len(req.Messages) > 1 {
			yield(message.Chunk{Text: "done", FinishReason: "stop"}, nil)
			return
		}
		call := message.ToolCallChunk{ID: "x", Name: m.name, Args: "{}"}
		yield(message.Chunk{ToolCalls: []message.ToolCallChunk{call}, FinishReason: "tool_calls"}, nil)
	}
}

type probe func(ctx context.Context, call *tool.Call) (*tool.Result, error)

func (probe) Spec() tool.Spec { return tool.Spec{Name: "probe"} }
func (p probe) Run(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	return p(ctx, call)
}

// run makes one call and returns the tool message, if the run got so far.
func run(t *testing.T, rt agent.Runtime, name string, p probe) (message.Message, error) {
	t.Helper()
	a, err := agent.New(agent.Config{Model: callsOnce{name}, Tools: []tool.Tool{p}}, New())
	if err != nil {
		t.Fatal(err)
	}
	m := message.New(message.Human, "go")
	m.ID = "1"
	rt.RunID, rt.Input = "run", agent.Messages.Append(m)
	s, err := a.Run(t.Context(), &rt, state.State{})
	for _, m := range agent.Messages.Get(s) {
		if m.Role == message.Tool {
			return m, err
		}
	}
	return message.Message{}, err
}

func metaOf(t *testing.T, m message.Message) string {
	t.Helper()
	return string(m.Kwargs[toolmeta.Key])
}

func TestGoErrorBecomesAResult(t *testing.T) {
	tests := []struct {
		name, class, kind string
		err               error
	}{
		{"plain", "Error", "unknown", errors.New("the cat sat on it.")},
		{"typed", "PathError", "not_found", &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}},
		{"wrapped", "PathError", "permission",
			fmt.Errorf("load: %w", &fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission})},
		{"joined", "Error", "rate_limited", errors.Join(errors.New("429 slow down"))},
		{"its own cancelled context", "Error", "unknown", context.Canceled},
		{"long", "Error", "unknown", errors.New(strings.Repeat("é", 1000))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := run(t, agent.Runtime{}, "probe",
				func(context.Context, *tool.Call) (*tool.Result, error) { return nil, tt.err })
			if err != nil {
				t.Fatal(err)
			}
			begin := "Error: Tool 'probe' failed with " + tt.class + ": "
			const end = ". Continue with available context, or choose an alternative tool."
			text := m.Text()
			if !strings.HasPrefix(text, begin) || !strings.HasSuffix(text, end) || strings.HasSuffix(text, "."+end) {
				t.Errorf("text %q", text)
			}
			if len(text) > 500+len(begin)+len(end)+len("…") || m.Status != message.StatusError {
				t.Errorf("%d bytes with status %s", len(text), m.Status)
			}
			var meta toolmeta.Meta
			if err := json.Unmarshal(m.Kwargs[toolmeta.Key], &meta); err != nil || meta.ErrorType == nil ||
				*meta.ErrorType != tt.kind || meta.Source != toolmeta.SourceException {
				t.Errorf("meta %s", m.Kwargs[toolmeta.Key])
			}
		})
	}
}

func TestOtherEndsPassThrough(t *testing.T) {
	t.Run("a question to a human", func(t *testing.T) {
		_, err := run(t, agent.Runtime{}, "probe", func(_ context.Context, c *tool.Call) (*tool.Result, error) {
			_, err := c.Ask("sure?")
			return nil, fmt.Errorf("ask: %w", err)
		})
		if _, ok := errors.AsType[*agent.Interrupted](err); !ok {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("a failed commit", func(t *testing.T) {
		fenced, ran := errors.New("fenced"), false
		rt := agent.Runtime{Commit: func(_ context.Context, step agent.Step) error {
			for _, e := range step.Events {
				if e.Data.Kind() == event.KindToolStart {
					return fenced
				}
			}
			return nil
		}}
		_, err := run(t, rt, "probe", func(context.Context, *tool.Call) (*tool.Result, error) {
			ran = true
			return tool.Text("ok"), nil
		})
		if !errors.Is(err, fenced) || ran {
			t.Fatalf("got %v, tool ran: %v", err, ran)
		}
	})
	t.Run("the end of the run", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := New().WrapToolCall(ctx, &agent.ToolRequest{},
			func(context.Context, *agent.ToolRequest) (*tool.Result, error) {
				cancel()
				return nil, ctx.Err()
			})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
	})
}

func TestMetaOnTheWire(t *testing.T) {
	m, err := run(t, agent.Runtime{}, "probe",
		func(context.Context, *tool.Call) (*tool.Result, error) { return tool.Text("hello"), nil })
	if err != nil {
		t.Fatal(err)
	}
	want := `{"status":"success","error_type":null,"recoverable_by_model":true,"recommended_next_action":"continue","source":"content_analysis"}`
	if diff := cmp.Diff(want, metaOf(t, m)); diff != "" {
		t.Error(diff)
	}
	m, err = run(t, agent.Runtime{}, "rate_limit_403", nil) // no such tool
	if err != nil {
		t.Fatal(err)
	}
	want = `{"status":"error","error_type":"unknown","recoverable_by_model":true,"recommended_next_action":"try_alternative","source":"tool_return"}`
	if diff := cmp.Diff(want, metaOf(t, m)); diff != "" {
		t.Error(diff)
	}
}

func TestResultsThatAreNotMarked(t *testing.T) {
	title := state.LastValue[string]("title")
	tests := map[string]*tool.Result{
		"goto":   {Command: tool.Command{Goto: tool.End}},
		"update": {Command: tool.Command{Update: title.Put("x")}},
	}
	for name, res := range tests {
		t.Run(name, func(t *testing.T) {
			m, err := run(t, agent.Runtime{}, "probe",
				func(context.Context, *tool.Call) (*tool.Result, error) { return res, nil })
			if err != nil || m.Role == "" || metaOf(t, m) != "" {
				t.Fatalf("meta %s, error %v", metaOf(t, m), err)
			}
		})
	}
	t.Run("marked by the tool", func(t *testing.T) {
		own := &tool.Result{Kwargs: message.Fields{toolmeta.Key: json.RawMessage(`{"status":"mine"}`)}}
		m, err := run(t, agent.Runtime{}, "probe",
			func(context.Context, *tool.Call) (*tool.Result, error) { return own, nil })
		if err != nil || metaOf(t, m) != `{"status":"mine"}` {
			t.Fatalf("meta %s, error %v", metaOf(t, m), err)
		}
	})
}

// TestSharedResultIsNotChanged: a tool may return the same result for every call.
func TestSharedResultIsNotChanged(t *testing.T) {
	shared := tool.Text("ok")
	shared.Kwargs = message.Fields{"a": json.RawMessage("1")}
	m, err := run(t, agent.Runtime{}, "probe",
		func(context.Context, *tool.Call) (*tool.Result, error) { return shared, nil })
	if err != nil || len(shared.Kwargs) != 1 || len(m.Kwargs) != 2 {
		t.Fatalf("shared %v, message %v, error %v", shared.Kwargs, m.Kwargs, err)
	}
}

func TestToolTimeoutIsAnErrorResult(t *testing.T) {
	rt := agent.Runtime{Config: agent.RunConfig{ToolTimeout: time.Millisecond}}
	m, err := run(t, rt, "probe", func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if err != nil || !strings.Contains(metaOf(t, m), `"transient"`) {
		t.Fatalf("meta %s, error %v", metaOf(t, m), err)
	}
}

// TestPitfall48StatusWordsInAPageAreNoError: what a page says of codes and errors is its text; of JSON only the error
// field counts, and a number is a code only as a word.
func TestPitfall48StatusWordsInAPageAreNoError(t *testing.T) {
	for text, want := range map[string]string{
		"The history of HTTP: 404 Not Found, 500 Internal Server Error and 401 Unauthorized.": "success",
		`{"results":["error 404","forbidden"],"error":null}`:                                  "success",
		`{"error":"none","note":"500"}`:                                                       "success",
		`{"error":"quota exceeded"}`:                                                          "error rate_limited",
		"Error: room 4040 is closed":                                                          "error unknown",
		"Error: HTTP 404":                                                                     "error not_found",
	} {
		m, err := run(t, agent.Runtime{}, "probe",
			func(context.Context, *tool.Call) (*tool.Result, error) { return tool.Text(text), nil })
		if err != nil {
			t.Fatal(err)
		}
		meta, _ := toolmeta.Of(m)
		if got := strings.TrimSpace(meta.Status + " " + meta.Kind()); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func demo(t *testing.T) *Model {
	t.Helper()
	m, err := New(Config{Path: "testdata/demo.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func human(s string) message.Message { return message.New(message.Human, s) }
func result(s string) message.Message {
	return message.New(message.Tool, s)
}

func ask(t *testing.T, m model.ChatModel, msgs ...message.Message) message.Message {
	t.Helper()
	got, err := model.Collect(m.Stream(t.Context(), &model.Request{Messages: msgs}))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestDemoFollowsTheConversation(t *testing.T) {
	m := demo(t)
	if m.Name() != "scripted/demo" {
		t.Errorf("name %s", m.Name())
	}
	first := ask(t, m, human("list /tmp please"))
	if first.Text() != "I look." || first.Reasoning() != "The user wants files." {
		t.Errorf("%q, %q", first.Text(), first.Reasoning())
	}
	call := first.ToolCalls[0]
	if want := `{"path":"/tmp","depth":2,"all":true,"tags":["\u003ca\u003e",null]}`; call.ID != "call_0_0" ||
		string(call.Args) != want {
		t.Errorf("%s %s, want %s", call.ID, call.Args, want)
	}
	if len(first.InvalidToolCalls) != 1 || first.InvalidToolCalls[0].Args != `{"path` {
		t.Errorf("invalid calls %+v", first.InvalidToolCalls)
	}
	first.Role = message.AI
	second := ask(t, m, human("list /tmp please"), first, result("\n a.txt \nb"), result("no"))
	if got, want := second.Text(), "First: no; of call 0: \n a.txt \nb"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if d := cmp.Diff(&message.Usage{InputTokens: 7, OutputTokens: 3, TotalTokens: 10, CacheRead: 2},
		second.Usage); d != "" {
		t.Error(d)
	}
	again := ask(t, m, human("list /tmp please"), first, result("x"), second, result("y"))
	if got := again.Text(); !strings.HasPrefix(got, "First: y") {
		t.Errorf("the last turn is not repeated: %q", got)
	}
}

func TestTurnIsChosenByTheLastVisibleHumanMessage(t *testing.T) {
	m := demo(t)
	hint := human("hint")
	hint.Kwargs = message.Fields{message.KeyHidden: json.RawMessage("true")}
	got := ask(t, m, human("list /a"), message.New(message.AI, "x"), result("r"), hint)
	if got.Text() != "First: r; of call 0: r" {
		t.Errorf("a hidden message was taken as the user's: %q", got.Text())
	}
	got = ask(t, m, human("list /a"), message.New(message.AI, "x"), result("r"), human("list /b"))
	if got.Text() != "I look." || got.ToolCalls[0].ID != "call_1_0" {
		t.Errorf("%q, %+v", got.Text(), got.ToolCalls)
	}
}

func TestNoToolsGetsTheFinalText(t *testing.T) {
	req := &model.Request{Messages: []message.Message{human("list /a"), message.New(message.AI, ""), result("r")},
		Settings: model.Settings{NoTools: true}}
	got, err := model.Collect(demo(t).Stream(t.Context(), req))
	if err != nil || got.Text() != "I stop: 1 result(s)." || len(got.ToolCalls) > 0 {
		t.Errorf("%q, %v", got.Text(), err)
	}
	req.Messages = []message.Message{human("loop")}
	got, err = model.Collect(demo(t).Stream(t.Context(), req))
	if err != nil || len(got.ToolCalls) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFailures(t *testing.T) {
	tests := []struct {
		name string
		msgs []message.Message
		want model.Error
	}{
		{"scripted", []message.Message{human("fail")}, model.Error{Class: model.ClassRateLimit, Status: 429,
			Code: "slow_down", Message: "slow", RetryAfter: 2 * time.Second}},
		{"no dialogue", []message.Message{human("what?")}, model.Error{Class: model.ClassBadRequest,
			Message: `no dialogue of the script matches "what?"; add one without match`}},
		{"turns used up", []message.Message{human("loop"), message.New(message.AI, "")},
			model.Error{Class: model.ClassBadRequest,
				Message: "dialogue 3 of the script has 1 turns and the conversation needs turn 2; add it, or end the dialogue with a turn without tool calls"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := model.Collect(demo(t).Stream(t.Context(), &model.Request{Messages: tt.msgs}))
			tt.want.Provider, tt.want.Model = "scripted", "demo"
			if d := cmp.Diff(&tt.want, model.AsError(err)); d != "" {
				t.Error(d)
			}
		})
	}
	got, _ := model.Collect(demo(t).Stream(t.Context(), &model.Request{Messages: tests[0].msgs}))
	if got.Text() != "partial" {
		t.Errorf("text before the error: %q", got.Text())
	}
	_, err := model.Collect(demo(t).Stream(t.Context(), &model.Request{Messages: []message.Message{human("late")}}))
	if e := model.AsError(err); e == nil || !strings.Contains(e.Message, "line 25") {
		t.Errorf("template error without its line: %v", err)
	}
}

func TestDelaysAndCancel(t *testing.T) {
	var slept []time.Duration
	sleep := func(ctx context.Context, d time.Duration) error { slept = append(slept, d); return ctx.Err() }
	m, err := New(Config{Path: "testdata/demo.yaml", Sleep: sleep})
	if err != nil {
		t.Fatal(err)
	}
	got := ask(t, m, human("slow"))
	if d := cmp.Diff([]time.Duration{3 * time.Second, time.Second, time.Second}, slept); d != "" ||
		got.Text() != "0123456789" {
		t.Errorf("%q %s", got.Text(), d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	begin := time.Now()
	_, err = model.Collect(demo(t).Stream(ctx, &model.Request{Messages: []message.Message{human("slow")}}))
	if !errors.Is(err, context.Canceled) || time.Since(begin) > 4*time.Second {
		t.Errorf("error %v after %v", err, time.Since(begin))
	}
	for range demo(t).Stream(t.Context(), &model.Request{Messages: []message.Message{human("list a")}}) {
		break
	}
}

func TestFunc(t *testing.T) {
	f := Func(func(req *model.Request) Turn {
		return Turn{Text: "you said " + req.Messages[0].Text(), ToolCalls: []Call{{ID: "x", Name: "f", Args: "{}"}}}
	})
	got := ask(t, f, human("hi"))
	if got.Text() != "you said hi" || got.ToolCalls[0].ID != "x" || got.Usage.TotalTokens == 0 ||
		f.Name() != "scripted/func" {
		t.Errorf("%+v", got)
	}
}

func TestLoadErrorsNameFileLineAndRemedy(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"unknown field", "dialogues:\n- turns:\n  - txt: a", "line 3: field txt not found; use the fields"},
		{"no YAML", "a: [", "did not find expected node content; check the indentation"},
		{"nothing", "", "line 1: there are no dialogues; add"},
		{"no turns", "dialogues:\n- match: a", "dialogue 1 has no turns; add"},
		{"no tool name", "dialogues:\n- turns:\n  - tool_calls: [{args: {}}]",
			`dialogue 1, turn 1: a tool call has no name; add "name:"`},
		{"bad expression", "dialogues:\n- match: '('\n  turns: [{}]", "line 2: match is not a regular expression"},
		{"bad template", "dialogues:\n- turns:\n  - text: '{{'", "line 3: template: text:1: unclosed action"},
		{"bad class", "dialogues:\n- turns:\n  - error: {class: funny}",
			`line 3: unknown error class "funny"; use one of`},
		{"bad duration", "dialogues:\n- turns:\n  - delay: soon",
			"line 3: cannot unmarshal !!str `soon` into time.Duration"},
		{"text that is a list", "dialogues:\n- turns:\n  - text: [a]", "line 3: a text is expected here; quote it"},
		{"arguments that hold themselves", "dialogues:\n- turns:\n  - tool_calls: [{name: f, args: &a [*a]}]",
			"too much; write them as a JSON string"},
		{"infinite argument", "dialogues:\n- turns:\n  - tool_calls: [{name: f, args: {x: .inf}}]", "quote the value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.yaml")
			if err := os.WriteFile(path, []byte(tt.script), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := New(Config{Path: path})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "s.yaml") {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
	if _, err := New(Config{Path: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
}

func TestNames(t *testing.T) {
	plain := []byte(`{"dialogues":[{"turns":[{"text":"hi"}]}]}`)
	for want, cfg := range map[string]Config{"scripted/inline": {Script: plain},
		"scripted/tour": {Path: "x/tour.yaml", Script: plain}} {
		m, err := New(cfg)
		if err != nil || m.Name() != want {
			t.Errorf("%v, %v, want %s", m, err, want)
		}
	}
}

// FuzzScript wants an error or a script that answers, never a panic or an endless loop.
func FuzzScript(f *testing.F) {
	seed, err := os.ReadFile("testdata/demo.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	for _, s := range []string{`{"dialogues":[{"turns":[{"text":"{{.User}}"}]}]}`,
		"dialogues:\n- turns:\n  - tool_calls: [{name: f, args: &a {x: *a}}]",
		"a: &a [*a]", "dialogues: [{turns: [{text: &t '{{1}}', reasoning: *t}]}]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := New(Config{Script: data,
			Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
		if err != nil {
			return
		}
		_, err = model.Collect(m.Stream(t.Context(),
			&model.Request{Messages: []message.Message{human("list /tmp"), result("r")}}))
		if err != nil && model.AsError(err) == nil {
			t.Errorf("%v", err)
		}
	})
}

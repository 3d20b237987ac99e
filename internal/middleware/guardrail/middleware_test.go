package guardrail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/feature/guardrail"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// fakeModel makes the calls of its turns, one turn an answer ("name args"), and then says "done".
type fakeModel struct {
	turns    [][]string
	requests [][]message.Message
}

func (*fakeModel) Name() string { return "test/fake" }

func (f *fakeModel) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	f.requests = append(f.requests, req.Messages)
	said := 0
	for _, m := range req.Messages {
		if m.Role == message.AI {
			said++
		}
	}
	c := message.Chunk{Text: "done", FinishReason: "stop"}
	if said < len(f.turns) {
		c = message.Chunk{FinishReason: "tool_calls"}
		for i, line := range f.turns[said] {
			name, args, _ := strings.Cut(line, " ")
			c.ToolCalls = append(c.ToolCalls,
				message.ToolCallChunk{Index: i, ID: fmt.Sprintf("%s-%d-%d", name, said, i), Name: name, Args: args})
		}
	}
	return func(yield func(message.Chunk, error) bool) { yield(c, nil) }
}

// provider is one of a function.
type provider func(ctx context.Context, req *guardrail.Request) (guardrail.Decision, error)

func (p provider) Evaluate(ctx context.Context, req *guardrail.Request) (guardrail.Decision, error) {
	return p(ctx, req)
}

func says(d guardrail.Decision, err error) provider {
	return func(context.Context, *guardrail.Request) (guardrail.Decision, error) { return d, err }
}

func rulesOf(t *testing.T, list ...config.GuardrailRule) guardrail.Provider {
	t.Helper()
	r, err := guardrail.NewRules(list)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// bed runs an agent with guardrails around the tools bash, web_fetch and note.
type bed struct {
	t     *testing.T
	agent *agent.Agent
	model *fakeModel
	state state.State
	n     int

	waits []event.Interrupt // of the last run

	mu     sync.Mutex
	ran    []string
	log    []string // tool starts and custom events
	events []json.RawMessage
}

func newBed(t *testing.T, turns [][]string, cfgs ...Config) *bed {
	t.Helper()
	b := &bed{t: t, model: &fakeModel{turns: turns}}
	var tools []tool.Tool
	for _, name := range []string{"bash", "web_fetch", "note"} {
		tools = append(tools, tool.MustNew(tool.Spec{Name: name, Description: "Works."},
			func(_ context.Context, c *tool.Call, in struct {
				Command string `json:"command"`
			}) (*tool.Result, error) {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.ran = append(b.ran, name+" "+in.Command)
				return tool.Text("answer:" + string(c.Answer)), nil
			}))
	}
	var mws []agent.Middleware
	for _, c := range cfgs {
		mws = append(mws, New(c))
	}
	var err error
	if b.agent, err = agent.New(agent.Config{Model: b.model, Tools: tools}, mws...); err != nil {
		t.Fatal(err)
	}
	return b
}

// run makes one run; answers, if there are some, are those to the calls that wait.
func (b *bed) run(answers map[string]string) error {
	b.t.Helper()
	b.n++
	rt := &agent.Runtime{RunID: fmt.Sprint("run", b.n), ThreadID: "thread", UserID: "user",
		Now: func() time.Time { return time.Unix(7, 0) }, Emit: b.emit,
		Commit: func(_ context.Context, step agent.Step) error {
			for _, e := range step.Events {
				b.emit(e.Node, e.Data)
			}
			return nil
		}}
	if answers == nil {
		in := message.New(message.Human, "go")
		in.ID = fmt.Sprint("in", b.n)
		rt.Input = agent.Messages.Append(in)
	} else {
		rt.Resume = &agent.Resume{Next: agent.NodeTools, Passed: true, Answers: map[string]map[string]json.RawMessage{}}
		for _, q := range b.waits {
			if a, ok := answers[q.CallID]; ok {
				rt.Resume.Answers[q.CallID] = map[string]json.RawMessage{q.InterruptID: json.RawMessage(a)}
			}
		}
	}
	var err error
	b.state, err = b.agent.Run(b.t.Context(), rt, b.state)
	if waits, ok := errors.AsType[*agent.Interrupted](err); ok {
		b.waits = waits.Interrupts
	}
	return err
}

func (b *bed) emit(_ string, d event.Data) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch d := d.(type) {
	case event.Custom:
		b.events = append(b.events, d.Value)
	case event.ToolStart:
		b.log = append(b.log, "start "+d.Tool+" "+string(d.Args))
	case event.Interrupt:
		b.log = append(b.log, "interrupt "+d.CallID)
	}
}

func (b *bed) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// asked returns the questions of a run that waits.
func (b *bed) asked(err error) []event.Interrupt {
	b.t.Helper()
	waits, ok := errors.AsType[*agent.Interrupted](err)
	if !ok {
		b.t.Fatalf("the run does not wait: %v", err)
	}
	return waits.Interrupts
}

// result is the last tool message.
func (b *bed) result() *message.Message {
	b.t.Helper()
	msgs := agent.Messages.Get(b.state)
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role == message.Tool {
			return &msgs[i]
		}
	}
	b.t.Fatal("no tool message")
	return nil
}

var one = [][]string{{`bash {"command":"ls"}`}}

const callID = "bash-0-0"

func TestDeniedCallGetsTheReason(t *testing.T) {
	b := newBed(t, one, Config{Provider: &guardrail.Allowlist{Allowed: []string{}}})
	b.must(b.run(nil))
	want := "Guardrail denied: tool 'bash' was blocked (oap.tool_not_allowed). Reason: this tool is not on the list of allowed tools. Choose an alternative approach."
	if diff := cmp.Diff(want, b.result().Text()); diff != "" || b.result().Status != message.StatusError ||
		len(b.ran) != 0 || len(b.log) != 0 {
		t.Errorf("%s status %s, ran %v, log %v", diff, b.result().Status, b.ran, b.log)
	}
	if b.result().Kwargs["deerflow_tool_meta"] != nil {
		t.Error("a call that never ran has the mark of one that did")
	}
	journal := `{"type":"middleware:guardrail","name":"GuardrailMiddleware","hook":"wrap_tool_call","action":"deny_tool_call","changes":` +
		`{"tool_name":"bash","tool_call_id":"bash-0-0","code":"oap.tool_not_allowed","reason":"this tool is not on the list of allowed tools"}}`
	if len(b.events) != 1 || string(b.events[0]) != journal {
		t.Errorf("events %s", b.events)
	}
	if len(b.model.requests) != 2 {
		t.Errorf("%d model calls", len(b.model.requests))
	}
}

func TestAllowedCallRuns(t *testing.T) {
	b := newBed(t, one, Config{Provider: &guardrail.Allowlist{}})
	b.must(b.run(nil))
	if b.result().Text() != "answer:" || len(b.ran) != 1 || len(b.events) != 0 {
		t.Errorf("%q, events %s", b.result().Text(), b.events)
	}
}

func TestProviderSeesWhoCalls(t *testing.T) {
	var got guardrail.Request
	b := newBed(t, one, Config{AgentID: "agent-7", Role: "guest", Subagent: true,
		Provider: provider(func(_ context.Context, req *guardrail.Request) (guardrail.Decision, error) {
			got = *req
			return guardrail.Decision{Action: guardrail.Allow}, nil
		})})
	b.must(b.run(nil))
	want := guardrail.Request{Tool: "bash", Args: json.RawMessage(`{"command":"ls"}`), CallID: callID,
		ThreadID: "thread", RunID: "run1", UserID: "user",
		AgentID: "agent-7", Role: "guest", Subagent: true, Time: time.Unix(7, 0)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestProviderErrorObeysFailClosed: errors, panics, no answer in time and no answer at all.
func TestProviderErrorObeysFailClosed(t *testing.T) {
	for name, p := range map[string]guardrail.Provider{
		"error": says(guardrail.Decision{Action: guardrail.Allow}, errors.New("down")),
		"panic": provider(func(context.Context, *guardrail.Request) (guardrail.Decision, error) { panic("oops") }),
		"hangs": provider(func(ctx context.Context, _ *guardrail.Request) (guardrail.Decision, error) {
			<-ctx.Done()
			return guardrail.Decision{Action: guardrail.Allow}, ctx.Err()
		}),
		"no decision": says(guardrail.Decision{}, nil),
		"none":        nil,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, one, Config{Provider: p, Timeout: 10 * time.Millisecond})
			b.must(b.run(nil))
			if text := b.result().Text(); !strings.HasPrefix(text,
				"Guardrail denied: tool 'bash' was blocked (oap.evaluator_error). Reason: ") || len(b.ran) != 0 {
				t.Errorf("closed: %q, ran %v", text, b.ran)
			}
			b = newBed(t, one, Config{Provider: p, Timeout: 10 * time.Millisecond, FailOpen: true})
			b.must(b.run(nil))
			if len(b.ran) != 1 || len(b.events) != 1 ||
				!strings.Contains(string(b.events[0]), `"action":"allow_tool_call_after_provider_error"`) {
				t.Errorf("open: ran %v, events %s", b.ran, b.events)
			}
		})
	}
}

func TestExemptToolsAndCallsThatCannotRunAreNotJudged(t *testing.T) {
	deny := says(guardrail.Decision{Action: guardrail.Deny}, nil)
	b := newBed(t, one, Config{Provider: deny, Exempt: []string{"bash"}})
	b.must(b.run(nil))
	if len(b.ran) != 1 {
		t.Errorf("ran %v", b.ran)
	}
	b = newBed(t, [][]string{{"no_such_tool {}"}}, Config{Provider: deny})
	b.must(b.run(nil))
	if strings.Contains(b.result().Text(), "Guardrail") {
		t.Errorf("%q", b.result().Text())
	}
}

// TestTwoGuardrailsInOneChain: authorization and the explicit provider.
func TestTwoGuardrailsInOneChain(t *testing.T) {
	ask := says(guardrail.Decision{Action: guardrail.Ask, Reason: "please"}, nil)
	b := newBed(t, one, Config{Name: "AuthorizationMiddleware",
		Provider: &guardrail.Allowlist{Denied: []string{"bash"}}}, Config{Provider: ask})
	b.must(b.run(nil))
	if !strings.Contains(string(b.events[0]), `"name":"AuthorizationMiddleware"`) || len(b.events) != 1 {
		t.Errorf("events %s", b.events)
	}
	b = newBed(t, one, Config{Name: "AuthorizationMiddleware", Provider: &guardrail.Allowlist{}}, Config{Provider: ask})
	b.asked(b.run(nil))
	b.must(b.run(map[string]string{callID: `{"decisions":[{"type":"approve"}]}`}))
	if len(b.ran) != 1 {
		t.Errorf("ran %v", b.ran)
	}
}

func asking(t *testing.T) guardrail.Provider {
	t.Helper()
	return rulesOf(t, config.GuardrailRule{Command: config.Words{"rm*"}, Action: "deny", Reason: "it deletes"},
		config.GuardrailRule{Tools: config.Words{"bash"}, Action: "ask", Reason: "it runs a command"})
}

func TestAskPausesBeforeTheIntent(t *testing.T) {
	b := newBed(t, one, Config{Provider: asking(t)})
	qs := b.asked(b.run(nil))
	want := string(approval.Ask(tool.Call{Name: "bash", Args: json.RawMessage(`{"command":"ls"}`)}, "it runs a command",
		"").Questions[0].Value)
	if len(qs) != 1 || string(qs[0].Value) != want || qs[0].CallID != callID {
		t.Fatalf("%s", qs[0].Value)
	}
	if diff := cmp.Diff([]string{"interrupt " + callID}, b.log); diff != "" {
		t.Fatalf("something began before the approval: %s", diff)
	}
	b.must(b.run(map[string]string{callID: `{"decisions":[{"type":"approve"}]}`}))
	if diff := cmp.Diff([]string{"interrupt " + callID, `start bash {"command":"ls"}`}, b.log); diff != "" {
		t.Error(diff)
	}
	if got := b.result().Text(); got != "answer:" {
		t.Errorf("the tool got the approval as its own answer: %q", got)
	}
	if !strings.Contains(string(b.events[0]), `"action":"approve_tool_call"`) {
		t.Errorf("events %s", b.events)
	}
}

// TestACallThatWasApprovedAndThenHandsOnQuestions is not asked about again when those are answered: they can only come
// from one that has begun.
func TestACallThatWasApprovedAndThenHandsOnQuestions(t *testing.T) {
	m := New(Config{Provider: asking(t), Timeout: time.Second})
	req := &agent.ToolRequest{Runtime: &agent.Runtime{Now: time.Now, Emit: func(string, event.Data) {}},
		Call: tool.Call{
			Name: "bash", Args: json.RawMessage(`{"command":"ls"}`),
			Answers: map[string]json.RawMessage{"below": json.RawMessage(`1`)},
		}}
	var got tool.Call
	next := func(_ context.Context, req *agent.ToolRequest) (*tool.Result, error) {
		got = req.Call
		return tool.Text("went on"), nil
	}
	if res, err := m.WrapToolCall(t.Context(), req, next); err != nil || res.Text() != "went on" ||
		got.Answers["below"] == nil {
		t.Errorf("%v, %v: %v", res, err, got.Answers)
	}
	req.Call.Args = json.RawMessage(`{"command":"rm x"}`)
	if res, err := m.WrapToolCall(t.Context(), req, next); err != nil ||
		!strings.Contains(res.Text(), "Guardrail denied") {
		t.Errorf("what a rule denies by now: %v, %v", res, err)
	}
	req.Call.Args, req.Call.Answers = json.RawMessage(`{"command":"ls"}`), map[string]json.RawMessage{}
	var ask *tool.InterruptError
	if res, err := m.WrapToolCall(t.Context(), req, next); !errors.As(err, &ask) {
		t.Errorf("without an answer: %v, %v", res, err)
	}
}

func TestEditedArgumentsRunAndTheModelIsTold(t *testing.T) {
	for _, key := range []string{"editedAction", "edited_action"} {
		b := newBed(t, one, Config{Provider: asking(t)})
		b.asked(b.run(nil))
		b.must(b.run(map[string]string{callID: `{"decisions":[{"type":"edit","` + key +
			`":{"name":"bash","args":{"command":"ls -la"}}}]}`}))
		if diff := cmp.Diff([]string{"bash ls -la"}, b.ran); diff != "" {
			t.Error(diff)
		}
		if got, want := b.result().Text(),
			`The user changed the arguments of this call before it ran, to: {"command":"ls -la"}`; !strings.HasSuffix(got, want) {
			t.Errorf("the model sees %q", got)
		}
	}
}

// TestEditIsJudgedAgain: the person who approves is not the one who wrote the rules.
func TestEditIsJudgedAgain(t *testing.T) {
	b := newBed(t, one, Config{Provider: asking(t)})
	b.asked(b.run(nil))
	b.must(b.run(map[string]string{callID: `{"decisions":[{"type":"edit","editedAction":{"name":"bash","args":{"command":"rm x"}}}]}`}))
	if !strings.Contains(b.result().Text(), "was blocked (rule.matched). Reason: it deletes") || len(b.ran) != 0 {
		t.Errorf("%q, ran %v", b.result().Text(), b.ran)
	}
}

func TestRejectTellsTheModel(t *testing.T) {
	for answer, want := range map[string]string{
		`{"type":"reject","message":"no <system-reminder>way"}`: "The user did not allow this call; it was not executed. They say: no &lt;system-reminder&gt;way",
		`{"type":"reject"}`: "The user did not allow this call; it was not executed. Ask what to do instead, or go on without it.",
	} {
		b := newBed(t, one, Config{Provider: asking(t)})
		b.asked(b.run(nil))
		b.must(b.run(map[string]string{callID: answer}))
		if diff := cmp.Diff(want, b.result().Text()); diff != "" || b.result().Status != message.StatusError ||
			len(b.ran) != 0 {
			t.Error(diff, b.ran)
		}
	}
}

// TestAnswerThatCannotBeUsedAsksAgain: nothing but a clear approval lets the call run.
func TestAnswerThatCannotBeUsedAsksAgain(t *testing.T) {
	for answer, want := range map[string]string{
		`"yes"`:                      "a decision is an object",
		`{"decisions":[]}`:           "one call waits for one decision, got 0",
		`{"type":"maybe"}`:           `"maybe" is no decision`,
		`{"type":"edit","args":{}}`:  "the changed arguments do not fit the tool",
		`{"type":"edit","args":"x"}`: "as an object",
		`{"type":"edit","editedAction":{"name":"note","args":{"command":"x"}}}`: "the tool of a call cannot be changed",
	} {
		b := newBed(t, one, Config{Provider: asking(t)})
		first := b.asked(b.run(nil))
		again := b.asked(b.run(map[string]string{callID: answer}))
		if !strings.Contains(string(again[0].Value), strings.Trim(string(must(json.Marshal(want))), `"`)) ||
			len(b.ran) != 0 {
			t.Errorf("%s: %s", answer, again[0].Value)
		}
		if first[0].InterruptID != again[0].InterruptID {
			t.Error("the question has another id")
		}
		b.must(b.run(map[string]string{callID: `{"type":"approve"}`}))
		if len(b.ran) != 1 {
			t.Errorf("ran %v", b.ran)
		}
	}
}

func must(raw []byte, _ error) []byte { return raw }

func TestSeveralCallsAskAtOnceAndOthersRun(t *testing.T) {
	b := newBed(t, [][]string{{`bash {"command":"a"}`, `note {"command":"n"}`, `bash {"command":"b"}`}},
		Config{Provider: asking(t)})
	qs := b.asked(b.run(nil))
	if len(qs) != 2 || qs[0].CallID != "bash-0-0" || qs[1].CallID != "bash-0-2" {
		t.Fatalf("%+v", qs)
	}
	if diff := cmp.Diff([]string{"note n"}, b.ran); diff != "" {
		t.Error(diff)
	}
}

func TestUnattendedRunDeniesWhatItWouldAsk(t *testing.T) {
	b := newBed(t, one, Config{Provider: asking(t), Unattended: true})
	b.must(b.run(nil))
	if text := b.result().Text(); !strings.Contains(text, "(approval.unavailable)") ||
		!strings.Contains(text, "(it runs a command)") || len(b.ran) != 0 {
		t.Errorf("%q", text)
	}
}

// TestTextFromTheWebMakesTheThreadUntrusted: the next step and every later turn, whatever became of the messages.
func TestTextFromTheWebMakesTheThreadUntrusted(t *testing.T) {
	yes := true
	rules := rulesOf(t, config.GuardrailRule{Tools: config.Words{"note"}, When: config.RuleWhen{Untrusted: &yes},
		Action: "deny", Reason: "text from outside"})
	turns := [][]string{{`note {"command":"1"}`}, {`web_fetch {"command":"u"}`, `note {"command":"2"}`},
		{`note {"command":"3"}`}}
	b := newBed(t, turns, Config{Provider: rules})
	b.must(b.run(nil))
	if diff := cmp.Diff([]string{"note 1", "note 2", "web_fetch u"}, slices.Sorted(slices.Values(b.ran))); diff != "" {
		t.Errorf("ran: %s", diff)
	}
	if !strings.Contains(b.result().Text(), "text from outside") || !Untrusted.Get(b.state) {
		t.Errorf("%q", b.result().Text())
	}
	s, _, err := b.state.Apply(agent.Messages.Reset()) // as a compaction does
	b.must(err)
	b.state, b.ran, b.model.turns = s, nil, [][]string{{`note {"command":"4"}`}}
	b.must(b.run(nil))
	if len(b.ran) != 0 {
		t.Errorf("a compaction made it trusted: %v", b.ran)
	}
}

func TestRefusedFetchDoesNotMakeTheThreadUntrusted(t *testing.T) {
	b := newBed(t, [][]string{{`web_fetch {"command":"u"}`}},
		Config{Provider: &guardrail.Allowlist{Denied: []string{"web_fetch"}}})
	b.must(b.run(nil))
	if Untrusted.Get(b.state) {
		t.Error("nothing came from outside")
	}
}

// TestHistoryFromElsewhereIsLookedAt: a conversation that was imported, or began without guardrails.
func TestHistoryFromElsewhereIsLookedAt(t *testing.T) {
	for name, want := range map[string]bool{"web_fetch": true, "ls": false} {
		b := newBed(t, nil, Config{Provider: &guardrail.Allowlist{}})
		ai := message.New(message.AI, "")
		ai.ID, ai.ToolCalls = "ai", []message.ToolCall{{ID: "old", Name: name, Args: json.RawMessage("{}")}}
		res := message.New(message.Tool, "page")
		res.ID, res.Name, res.ToolCallID = "tool", name, "old"
		s, _, err := b.state.Apply(agent.Messages.Append(ai, res))
		b.must(err)
		b.state = s
		b.must(b.run(nil))
		if Untrusted.Get(b.state) != want {
			t.Errorf("%s: untrusted is %v", name, !want)
		}
	}
}

func TestRequestsGrowAtTheEndOnly(t *testing.T) {
	b := newBed(t, [][]string{{`web_fetch {"command":"u"}`}, {`note {"command":"1"}`}},
		Config{Provider: &guardrail.Allowlist{Denied: []string{"note"}}})
	b.must(b.run(nil))
	for i := 1; i < len(b.model.requests); i++ {
		before, now := b.model.requests[i-1], b.model.requests[i]
		if diff := cmp.Diff(before, now[:len(before)]); diff != "" {
			t.Error(diff)
		}
	}
}

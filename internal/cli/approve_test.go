package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// wants is a question about a call of bash.
func wants(id, args string) event.Interrupt {
	ask := approval.Ask(tool.Call{ID: id, Name: "bash", Args: json.RawMessage(args)}, "it \x1b[31mwrites", "")
	return event.Interrupt{InterruptID: id, CallID: id, Value: ask.Questions[0].Value}
}

func TestApprovalAtATerminal(t *testing.T) {
	for _, c := range []struct {
		name, lines string
		want        approval.Decision
	}{
		{"yes", "y\n", approval.Decision{Kind: approval.Approve}},
		{"yes, after a slip", "maybe\n\nYES\n", approval.Decision{Kind: approval.Approve}},
		{"no", "n\n\n", approval.Decision{Kind: approval.Reject}},
		{"no, and nothing more", "n\n", approval.Decision{Kind: approval.Reject}},
		{"no, with a reason", "no\nnot \"here\"\n", approval.Decision{Kind: approval.Reject, Message: `not "here"`}},
		{"other arguments", "e\n{\"command\":\"ls\"}\n", approval.Decision{Kind: approval.Edit, Name: "bash",
			Args: json.RawMessage(`{"command":"ls"}`)}},
		{"other arguments, after slips", "e\nls\n{\"command\"\n[1]\n{}\n",
			approval.Decision{Kind: approval.Edit, Name: "bash", Args: json.RawMessage(`{}`)}},
		{"none after all", "edit\n\ny\n", approval.Decision{Kind: approval.Approve}},
	} {
		stdio, shown := typed(c.lines)
		raw, err := (&turn{io: stdio}).approve([]event.Interrupt{wants("i1", `{"command":"touch a"}`)})
		var answers map[string]json.RawMessage
		if err != nil || json.Unmarshal(raw, &answers) != nil {
			t.Errorf("%s: %s, error %v\n%s", c.name, raw, err, shown)
			continue
		}
		got, err := approval.Read(answers["i1"])
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v, %s", c.name, err, diff)
		}
	}
}

// TestScopesAtATerminal: where the question offers them, how long and for which calls is asked, until the pattern
// covers the call.
func TestScopesAtATerminal(t *testing.T) {
	ask := approval.AskWithScopes(tool.Call{ID: "i1", Name: "bash", Args: json.RawMessage(`{"command":"git status"}`)},
		"it runs", "")
	for lines, want := range map[string]approval.Decision{
		"y\n":                           {Kind: approval.Approve},
		"t\n\n":                         {Kind: approval.Approve, Scope: approval.Thread},
		"THREAD\ngit status\n":          {Kind: approval.Approve, Scope: approval.Thread, Pattern: "git status"},
		"w\n*\ngit log*\ngit status*\n": {Kind: approval.Approve, Scope: approval.Always, Pattern: "git status*"},
		"what\nalways\n\n":              {Kind: approval.Approve, Scope: approval.Always},
		"n\nno\n":                       {Kind: approval.Reject, Message: "no"},
	} {
		stdio, shown := typed(lines)
		raw, err := stdio.decide(ask.Questions[0].Value)
		got, errRead := approval.Read(raw)
		if diff := cmp.Diff(want, got); diff != "" || err != nil || errRead != nil {
			t.Errorf("%q: %v, %v, %s", lines, err, errRead, diff)
		}
		if !strings.Contains(shown.String(), "in this (t)hread; al(w)ays") {
			t.Errorf("shown: %s", shown)
		}
	}
	stdio, _ := typed("w\n")
	if raw, err := stdio.decide(ask.Questions[0].Value); err == nil {
		t.Errorf("the end of the input is %s", raw)
	}
	stdio, shown := typed("t\ny\n") // which this question does not offer
	if raw, err := stdio.decide(wants("i1", `{}`).Value); err != nil ||
		!strings.Contains(shown.String(), "Enter y, n, e or a.") {
		t.Errorf("%s, %v, %s", raw, err, shown)
	}
}

func TestACallIsShownHarmlessAndBounded(t *testing.T) {
	long := strings.Repeat("x", maxShown)
	stdio, shown := typed("a\ny\n")
	q := wants("i1", fmt.Sprintf(`{"command":"one\ntwo\u001b[2J\u202e","n":[1, 2],"z":"%s end"}`, long))
	if _, err := (&turn{io: stdio}).approve([]event.Interrupt{q}); err != nil {
		t.Fatal(err)
	}
	first, all, _ := strings.Cut(shown.String(), "again: ")
	head := "\n! Tool execution requires approval: it writes\n\n  bash\n    command: one\n      two\n    n: [1, 2]\n    z: x"
	if !strings.HasPrefix(first, head) || !strings.Contains(first, "more characters") ||
		strings.Contains(first, "end") || len(first) > maxShown+300 {
		t.Errorf("shown: %.300s", first)
	}
	if !strings.Contains(all, long+" end\n") || strings.ContainsAny(shown.String(), "\x1b\u202e") {
		t.Errorf("all of it is not shown, or as it is: %.300s", all)
	}
}

func TestWithoutATerminalTheCallsAreTheOutput(t *testing.T) {
	asked := []event.Interrupt{wants("first", `{"command":"a"}`),
		{InterruptID: "second", Value: json.RawMessage(`"Really?"`)}}
	for asJSON, want := range map[bool]string{
		false: "! Tool execution requires approval: it writes\n\n  bash\n    command: a\n? Really?\n", true: "",
	} {
		var out bytes.Buffer
		yes := true
		_, err := (&turn{io: IO{Out: &out}, thread: "t1",
			flags: runFlags{json: asJSON, choices: choices{Plan: true, Agent: "poet", Think: &yes, Effort: "low"}}}).
			approve(asked)
		var coded *codeError
		if !errors.As(err, &coded) || coded.code != ExitWaiting || out.String() != want {
			t.Errorf("%v, shown %q", err, out.String())
		}
		if !strings.Contains(fmt.Sprint(err),
			`pudu run --thread t1 --plan --agent poet --think=true --effort low --approve, or --reject "WHY"`) {
			t.Errorf("it does not say what to type: %v", err)
		}
	}
	stdio, _ := typed("n")
	if _, err := (&turn{io: stdio, thread: "t1"}).approve(asked); err == nil ||
		!strings.Contains(err.Error(), "later: pudu run --thread t1 --approve") {
		t.Errorf("the end of the input: %v", err)
	}
}

// guarded is a Pudu whose agent wants two calls approved, and then answers.
type guarded struct {
	Runner
	Lister

	got []runs.Request
}

func (g *guarded) Run(_ context.Context, req runs.Request, _ map[string][]byte, _ func(event.Event),
	_ func(string)) (runs.Outcome, error) {
	if g.got = append(g.got, req); len(g.got) == 1 {
		return runs.Outcome{Run: store.Run{Status: event.StatusInterrupted}}, nil
	}
	return runs.Outcome{Run: store.Run{Status: event.StatusSuccess}}, nil
}

func (*guarded) Thread(context.Context, string) (store.Thread, error) { return store.Thread{}, nil }

func TestDecisionsAreTheNextRun(t *testing.T) {
	stdio, shown := typed("y\nWhy?\n")
	g := &guarded{}
	tn := &turn{
		session: &Session{Runner: g, List: g, Questions: func(context.Context, string) ([]event.Interrupt, error) {
			return []event.Interrupt{wants("i1", `{}`),
				{InterruptID: "i2", Value: json.RawMessage(`{"say":"something"}`)}}, nil
		}},
		io: stdio, thread: "t1", input: []message.Message{message.New(message.Human, "go")},
		flags: runFlags{choices: choices{Plan: true}},
	}
	if err := tn.converse(t.Context(), tn.carryOut); err != nil {
		t.Fatal(err, shown)
	}
	last := g.got[len(g.got)-1]
	want := `{"i1":{"decisions":[{"type":"approve"}]},"i2":"Why?"}`
	if len(g.got) != 2 || string(last.Resume) != want || last.Input != nil ||
		string(last.Context) != `{"is_plan_mode":true}` {
		t.Errorf("%d runs, the last with %s in %s and input %v", len(g.got), last.Resume, last.Context, last.Input)
	}
}

func TestChoicesAreTheContextOfARun(t *testing.T) {
	no := false
	for want, c := range map[string]choices{
		"":                      {},
		`{"is_plan_mode":true}`: {Plan: true},
		`{"agent_name":"a\"b"}`: {Agent: `a"b`},
		`{"thinking_enabled":false,"reasoning_effort":"high"}`: {Think: &no, Effort: "high"},
	} {
		if got := string(c.context()); got != want {
			t.Errorf("%+v is %s, want %s", c, got, want)
		}
	}
}

package approval

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/tool"
)

func TestAnswersWithAScope(t *testing.T) {
	for raw, want := range map[string]Decision{
		`{"decisions":[{"type":"approve","scope":"once"}]}`:   {Kind: Approve},
		`{"decisions":[{"type":"approve","scope":"thread"}]}`: {Kind: Approve, Scope: Thread},
		`[{"type":"approve","scope":"always","pattern":"git log*"}]`: {Kind: Approve, Scope: Always,
			Pattern: "git log*"},
		`{"type":"approve","scope":"thread","pattern":"x"}`:           {Kind: Approve, Scope: Thread, Pattern: "x"},
		`{"type":"edit","scope":"once","edited_action":{"args":{}}}`:  {Kind: Edit, Args: json.RawMessage("{}")},
		`{"decisions":[{"type":"reject","scope":"","message":"no"}]}`: {Kind: Reject, Message: "no"},
	} {
		got, err := Read(json.RawMessage(raw))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", raw, err, diff)
		}
		if again, err := Read(got.Answer()); err != nil || !cmp.Equal(again, got) {
			t.Errorf("%s is written as %s", raw, got.Answer())
		}
		if HasScope(json.RawMessage(raw)) != (want.Scope != Once) ||
			HasScope(json.RawMessage(`{"id":`+raw+`}`)) != (want.Scope != Once) {
			t.Errorf("%s: HasScope", raw)
		}
	}
	for raw, want := range map[string]string{
		`{"type":"approve","scope":"forever"}`:                        `"forever" is no scope: once, thread or always`,
		`{"type":"approve","pattern":"x"}`:                            "a pattern goes with",
		`{"type":"approve","scope":"once","pattern":"x"}`:             "a pattern goes with",
		`{"type":"reject","scope":"always"}`:                          "reject is for once",
		`{"type":"edit","scope":"thread","editedAction":{"args":{}}}`: "edit is for once",
	} {
		if !HasScope(json.RawMessage(raw)) {
			t.Errorf("%s: HasScope", raw)
		}
		if _, err := Read(json.RawMessage(raw)); !errors.Is(err, ErrScope) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestOtherAnswersHaveNoScope(t *testing.T) {
	for _, raw := range []string{``, `"always"`, `{"scope":"always"}`, `{"form":{"pattern":"x"}}`, `{"type":"approve"}`,
		`{"type":"approve","scope":7}`} {
		if HasScope(json.RawMessage(raw)) {
			t.Error(raw)
		}
	}
	if !HasScope(json.RawMessage(`{"id":[{"TYPE":"approve","Scope":"thread"}]}`)) { // which Read takes
		t.Error("names in another case")
	}
}

func TestAQuestionOffersItsScopes(t *testing.T) {
	call := tool.Call{Name: "bash", Args: json.RawMessage(`{"command":"ls *"}`)}
	value := string(AskWithScopes(call, "", "").Questions[0].Value)
	if n := strings.Count(value, `"scopes":["once","thread","always"],"pattern":"ls *"`); n != 2 { // in both spellings
		t.Errorf("%d offers in %s", n, value)
	}
	call.Args = json.RawMessage(`{"command":"` + strings.Repeat("x", MaxPattern+1) + `"}`)
	if long := string(AskWithScopes(call, "", "").Questions[0].Value); strings.Contains(long, "scopes") {
		t.Errorf("a command that no grant can hold is offered one: %.300s", long)
	}
}

func TestWhatADecisionGrants(t *testing.T) {
	call := tool.Call{Name: "bash", Args: json.RawMessage(`{"command":"git status *","description":"x"}`)}
	value := AskWithScopes(call, "", "").Questions[0].Value
	for pattern, want := range map[string]Pattern{
		// the own text is exact, whatever it ends in
		"": {"git status *", true}, "git status *": {"git status *", true},
	} {
		g, err := Granted(value, Decision{Kind: Approve, Scope: Thread, Pattern: pattern})
		if diff := cmp.Diff(Grant{Tool: "bash", Pattern: want}, g); diff != "" || err != nil {
			t.Errorf("%q: %v %s", pattern, err, diff)
		}
	}
	call.Args = json.RawMessage(`{"command":"git status"}`)
	plainly := AskWithScopes(call, "", "").Questions[0].Value
	if g, err := Granted(plainly, Decision{Scope: Always, Pattern: "git status*"}); err != nil ||
		g.Pattern != (Pattern{Text: "git status*"}) {
		t.Errorf("%+v, %v", g, err)
	}
	for pattern, question := range map[string]json.RawMessage{
		"git log*": plainly, "git*": plainly, "ls": plainly, "git status*": value,
		" ": Ask(call, "", "").Questions[0].Value, "x": json.RawMessage(`"Really?"`),
	} {
		if g, err := Granted(question, Decision{Kind: Approve, Scope: Always, Pattern: pattern}); !errors.Is(err,
			ErrScope) {
			t.Errorf("%q grants %+v, %v", pattern, g, err)
		}
	}
}

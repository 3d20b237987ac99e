package guardrail

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/tool"
)

// fakeGrants cover one command.
type fakeGrants struct {
	command string
	err     error
	asked   []string
}

func (f *fakeGrants) Use(_ context.Context, c *tool.Call, now time.Time) (approval.Grant, bool, error) {
	f.asked = append(f.asked, c.ThreadID+" "+c.Name+" "+string(c.Args))
	p := approval.Pattern{Text: f.command, Exact: true}
	return approval.Grant{ID: "g1", Via: "token ci", GivenAt: now.UTC()}, p.Covers(c.Name, c.Args), f.err
}

func TestAGrantStandsForTheAnswerAndLeavesATrace(t *testing.T) {
	for _, unattended := range []bool{false, true} {
		grants := &fakeGrants{command: "ls"}
		b := newBed(t, one, Config{Provider: asking(t), Grants: grants, Unattended: unattended})
		b.must(b.run(nil))
		want := `{"type":"middleware:guardrail","name":"GuardrailMiddleware","hook":"wrap_tool_call","action":"approve_tool_call","changes":` +
			`{"tool_name":"bash","tool_call_id":"bash-0-0","code":"rule.matched","reason":"it runs a command","grant_id":"g1","granted_via":"token ci",` +
			`"granted_at":"1970-01-01T00:00:07Z"}}`
		if len(b.ran) != 1 || len(b.events) != 1 || string(b.events[0]) != want {
			t.Errorf("ran %v, events %s", b.ran, b.events)
		}
		if d := cmp.Diff([]string{`thread bash {"command":"ls"}`}, grants.asked); d != "" {
			t.Error(d)
		}
	}
}

func TestWithoutAGrantAPersonIsAskedAndOfferedScopes(t *testing.T) {
	for name, grants := range map[string]*fakeGrants{"another": {command: "pwd"},
		"nobody can tell": {command: "ls", err: errors.New("away")}} {
		b := newBed(t, one, Config{Provider: asking(t), Grants: grants})
		qs := b.asked(b.run(nil))
		if !strings.Contains(string(qs[0].Value), `"scopes":["once","thread","always"],"pattern":"ls"`) ||
			len(b.ran) != 0 {
			t.Errorf("%s: %s", name, qs[0].Value)
		}
	}
}

// TestAQuestionNamesTheSecretsOfTheRun, with scopes and without.
func TestAQuestionNamesTheSecretsOfTheRun(t *testing.T) {
	secrets := func(_ context.Context, c *tool.Call) []approval.Secret {
		return []approval.Secret{{Name: "KEY_OF_" + c.Name}}
	}
	for _, cfg := range []Config{{}, {Grants: &fakeGrants{command: "pwd"}}} {
		cfg.Provider, cfg.Secrets = asking(t), secrets
		b := newBed(t, one, cfg)
		if qs := b.asked(b.run(nil)); !strings.Contains(string(qs[0].Value), `"secrets":[{"name":"KEY_OF_bash"}]`) {
			t.Errorf("%s", qs[0].Value)
		}
	}
}

// TestTheAnswerToTheQuestionCounts: what a person says to this call stands above what was said before.
func TestTheAnswerToTheQuestionCounts(t *testing.T) {
	grants := &fakeGrants{command: "pwd"}
	b := newBed(t, one, Config{Provider: asking(t), Grants: grants})
	b.asked(b.run(nil))
	grants.command = "ls"
	b.must(b.run(map[string]string{callID: `{"type":"reject"}`}))
	if len(b.ran) != 0 || len(grants.asked) != 1 {
		t.Errorf("ran %v, asked %q", b.ran, grants.asked)
	}
	b = newBed(t, one, Config{Provider: asking(t), Grants: &fakeGrants{}})
	b.asked(b.run(nil))
	b.must(b.run(map[string]string{callID: `{"type":"approve","scope":"always"}`}))
	if len(b.ran) != 1 || !strings.Contains(string(b.events[0]), `"scope":"always"`) {
		t.Errorf("ran %v, events %s", b.ran, b.events)
	}
}

func TestNoGrantIsLookedForWhereTheRulesAllowOrDeny(t *testing.T) {
	grants := &fakeGrants{command: "rm x"}
	b := newBed(t, [][]string{{`bash {"command":"rm x"}`, `note {"command":"x"}`}},
		Config{Provider: asking(t), Grants: grants})
	b.must(b.run(nil))
	if d := cmp.Diff([]string{"note x"}, b.ran); d != "" || len(grants.asked) != 0 {
		t.Errorf("%s, asked %q", d, grants.asked)
	}
}

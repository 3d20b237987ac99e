package guardrail

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pudu-ai/pudu/internal/config"
)

func judge(t *testing.T, p Provider, req Request) Decision {
	t.Helper()
	d, err := p.Evaluate(t.Context(), &req)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAllowlist(t *testing.T) {
	for _, tt := range []struct {
		name            string
		allowed, denied []string
		want            Action
	}{
		{"nothing said", nil, nil, Allow},
		{"allowed", []string{"bash"}, nil, Allow},
		{"not allowed", []string{"ls"}, nil, Deny},
		{"empty allows nothing", []string{}, nil, Deny},
		{"denied wins", []string{"bash"}, []string{"bash"}, Deny},
		{"denied", nil, []string{"bash"}, Deny},
		{"no pattern", []string{"*"}, nil, Deny},
	} {
		d := judge(t, &Allowlist{tt.allowed, tt.denied}, Request{Tool: "bash"})
		if d.Action != tt.want || d.Action == Deny && d.Code != "oap.tool_not_allowed" {
			t.Errorf("%s: %+v", tt.name, d)
		}
	}
}

func authorization(policy *config.Access) config.Authorization {
	return config.Authorization{Enabled: true, DefaultRole: "user", Provider: config.AuthorizationProvider{
		Use: config.RBAC, Roles: config.Roles{"admin": {},
			"user": {Tools: policy, Routes: &config.Access{Deny: config.Words{"runs:create"}}}},
	}}
}

func TestRBAC(t *testing.T) {
	for _, tt := range []struct {
		name   string
		role   string
		policy *config.Access
		want   bool
	}{
		{"no policy", "user", nil, true},
		{"empty policy", "user", &config.Access{}, true},
		{"none", "user", &config.Access{Allow: config.Names{}}, false},
		{"list", "user", &config.Access{Allow: config.Names{"ls", "bash"}}, true},
		{"other list", "user", &config.Access{Allow: config.Names{"ls"}}, false},
		{"pattern", "user", &config.Access{Allow: config.Names{"ba*"}}, true},
		{"deny wins", "user", &config.Access{Allow: config.Names{"bash"}, Deny: config.Words{"bash"}}, false},
		{"default role", "", &config.Access{Allow: config.Names{}}, false},
		{"other role", "admin", &config.Access{Allow: config.Names{}}, true},
	} {
		r, err := NewRBAC(authorization(tt.policy))
		if err != nil {
			t.Fatal(err)
		}
		if d := judge(t, r, Request{Tool: "bash", Role: tt.role}); (d.Action == Allow) != tt.want {
			t.Errorf("%s: %+v", tt.name, d)
		}
	}
	r, err := NewRBAC(authorization(nil))
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := r.Allows("user", Routes, "runs:create"); ok || err != nil {
		t.Errorf("route: %v, %v", ok, err)
	}
	if _, err := r.Evaluate(t.Context(), &Request{Tool: "bash", Role: "stranger"}); err == nil ||
		!strings.Contains(err.Error(), `role "stranger" is not defined`) {
		t.Errorf("a role that is not defined: %v", err)
	}
}

func TestProvidersThatCannotBeMade(t *testing.T) {
	bad := authorization(&config.Access{Allow: config.Names{"re:("}})
	if _, err := NewRBAC(bad); err == nil || !strings.Contains(err.Error(), "role user: tools.allow") {
		t.Errorf("%v", err)
	}
	bad = authorization(nil)
	bad.DefaultRole = "x"
	if _, err := NewRBAC(bad); err == nil {
		t.Error("a default role that is no role is taken")
	}
	bad.Provider.Use = "other"
	if _, err := NewRBAC(bad); err == nil {
		t.Error("an unknown provider is taken")
	}
	if _, err := Explicit(config.Guardrails{Enabled: true,
		Provider: config.GuardrailProvider{Use: "other"}}); err == nil {
		t.Error("an unknown provider is taken")
	}
	if _, err := NewRules([]config.GuardrailRule{{Action: "maybe"}}); err == nil {
		t.Error("an unknown action is taken")
	}
	if r, err := NewRBAC(config.Authorization{}); r != nil || err != nil {
		t.Errorf("authorization that is off: %v, %v", r, err)
	}
	if p, err := Explicit(config.Guardrails{Rules: []config.GuardrailRule{{Action: "deny"}}}); p != nil || err != nil {
		t.Errorf("guardrails that are off: %v, %v", p, err)
	}
}

type always struct {
	d   Decision
	err error
}

func (a always) Evaluate(context.Context, *Request) (Decision, error) { return a.d, a.err }

func TestTheStrictestDecisionCounts(t *testing.T) {
	allow, ask, deny := always{d: Decision{Action: Allow}}, always{d: Decision{Action: Ask}},
		always{d: Decision{Action: Deny}}
	for _, tt := range []struct {
		all  strictest
		want Action
	}{{strictest{allow, allow}, Allow}, {strictest{allow, ask}, Ask}, {strictest{ask, allow}, Ask},
		{strictest{ask, deny}, Deny}, {strictest{deny, ask}, Deny}} {
		if d := judge(t, tt.all, Request{}); d.Action != tt.want {
			t.Errorf("%v: %v", tt.all, d)
		}
	}
	if _, err := (strictest{allow, always{err: errors.New("down")}}).Evaluate(t.Context(), &Request{}); err == nil {
		t.Error("an error is lost")
	}
	both, err := Explicit(config.Guardrails{Enabled: true, Rules: []config.GuardrailRule{{Action: "allow"}},
		Provider: config.GuardrailProvider{Use: config.Allowlist,
			Allowlist: config.AllowlistSettings{AllowedTools: []string{}}}})
	if err != nil {
		t.Fatal(err)
	}
	if d := judge(t, both, Request{Tool: "bash"}); d.Action != Deny {
		t.Errorf("a rule that allows got around the empty list: %+v", d)
	}
}

func TestRemoteTools(t *testing.T) {
	usual, err := RemoteTools(config.Guardrails{})
	if err != nil {
		t.Fatal(err)
	}
	own, err := RemoteTools(config.Guardrails{RemoteTools: config.Words{"mcp__*"}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][2]bool{}
	for _, name := range []string{"web_fetch", "browser_click", "task", "mcp__x", "bash"} {
		got[name] = [2]bool{usual.Match(name), own.Match(name)}
	}
	want := map[string][2]bool{"web_fetch": {true, false}, "browser_click": {true, false}, "task": {true, false},
		"mcp__x": {false, true}, "bash": {false, false}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func raw(args map[string]any) json.RawMessage {
	b, _ := json.Marshal(args)
	return b
}

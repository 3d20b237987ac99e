package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGuardrails(t *testing.T) {
	cfg, _ := mustParse(t, `
guardrails:
  enabled: true
  fail_closed: false
  passport: agent-7
  provider:
    use: deerflow.guardrails.builtin:AllowlistProvider
    config: {allowed_tools: [bash, ls], denied_tools: [task]}
  remote_tools: "web_*"
  rules:
    - {tools: bash, command: "git push*", action: ask, reason: it pushes}
    - tools: [web_fetch]
      args: {url: "re:^http://"}
      when: {untrusted: true}
      action: deny
    - {paths: ["/mnt/user-data/outputs/*"], action: allow}
`, nil)
	yes := true
	want := Guardrails{
		Enabled: true, Passport: "agent-7", RemoteTools: Words{"web_*"}, Line: 3,
		Provider: GuardrailProvider{Use: Allowlist, Allowlist: AllowlistSettings{AllowedTools: []string{"bash", "ls"},
			DeniedTools: []string{"task"}}, Line: 7},
		Rules: []GuardrailRule{
			{Tools: Words{"bash"}, Command: Words{"git push*"}, Action: "ask", Reason: "it pushes", Line: 11},
			{Tools: Words{"web_fetch"}, Args: map[string]string{"url": "re:^http://"}, When: RuleWhen{Untrusted: &yes},
				Action: "deny", Line: 12},
			{Paths: Words{"/mnt/user-data/outputs/*"}, Action: "allow", Line: 16},
		},
	}
	if diff := cmp.Diff(want, cfg.Guardrails); diff != "" {
		t.Error(diff)
	}
}

func TestAllowlistOfNothingIsNotAllowlistOfAll(t *testing.T) {
	const head = "guardrails: {enabled: true, provider: {use: allowlist, config: {allowed_tools: "
	none, _ := mustParse(t, head+"[]}}}", nil)
	all, _ := mustParse(t, head+"null}}}", nil)
	if l := none.Guardrails.Provider.Allowlist.AllowedTools; l == nil || len(l) != 0 {
		t.Errorf("[] reads as %#v", l)
	}
	if l := all.Guardrails.Provider.Allowlist.AllowedTools; l != nil {
		t.Errorf("null reads as %#v", l)
	}
}

func TestGuardrailsThatAreOffLoadWithAnyProvider(t *testing.T) {
	cfg, warnings := mustParse(t,
		"guardrails: {enabled: false, provider: {use: my.own:Provider, config: {key: $NOT_SET, x: [1]}}}\n"+
			"authorization: {enabled: false, provider: {use: my.own:Provider, config: {roles: 7}}}", nil)
	if len(warnings) != 0 || cfg.Guardrails.Enabled || !cfg.Guardrails.FailClosed || !cfg.Authorization.FailClosed ||
		cfg.Authorization.DefaultRole != "user" {
		t.Errorf("%+v, %+v, warnings %v", cfg.Guardrails, cfg.Authorization, warnings)
	}
}

func TestGuardrailsWithoutAnythingWarn(t *testing.T) {
	_, warnings := mustParse(t, "guardrails:\n  enabled: true", nil)
	if !strings.Contains(lines(warnings), "config.yaml:2: guardrails: enabled without a provider and rules") {
		t.Error(warnings)
	}
}

func TestAuthorization(t *testing.T) {
	cfg, warnings := mustParse(t, `
authorization:
  enabled: true
  default_role: guest
  provider:
    use: deerflow.authz.rbac:RbacAuthorizationProvider
    config:
      roles:
        admin: {}
        guest:
          tools: {allow: [ls, "read_*"], deny: [read_file]}
          models: {allow: "*"}
          skills: {allow: false}
        other: {tools: {}}
`, nil)
	want := Roles{
		"admin": {},
		"guest": {Tools: &Access{Allow: Names{"ls", "read_*"}, Deny: Words{"read_file"}}, Models: &Access{},
			Skills: &Access{Allow: Names{}}},
		"other": {Tools: &Access{}},
	}
	if diff := cmp.Diff(want, cfg.Authorization.Provider.Roles); diff != "" || cfg.Authorization.Provider.Use != RBAC {
		t.Error(diff, cfg.Authorization.Provider.Use)
	}
	if w := lines(warnings); !strings.Contains(w, "roles.guest.models (line 12)") ||
		!strings.Contains(w, "roles.guest.skills (line 13)") {
		t.Errorf("resources that nothing enforces are not named: %s", w)
	}
}

func TestGuardrailMistakes(t *testing.T) {
	const auth = "authorization:\n  enabled: true\n  provider:\n    use: rbac\n    config: "
	for text, want := range map[string]string{
		"guardrails:\n  enabled: true\n  provider: {use: my.own:Provider}":                       `config.yaml:3: guardrails.provider.use: "my.own:Provider" cannot be loaded`,
		"guardrails:\n  enabled: true\n  provider: {config: {}}":                                 `config.yaml:3: guardrails.provider: needs the key "use"`,
		"guardrails:\n  rules:\n  - {tools: x, action: maybe}":                                   `config.yaml:3: guardrails.rules[0].action: "maybe" is not allowed`,
		"guardrails:\n  rules:\n  - {tools: x}":                                                  `config.yaml:3: guardrails.rules[0]: needs the key "action"`,
		"guardrails:\n  rules:\n  - tools: x\n    args: {url: 're:('}\n    action: deny":         `config.yaml:4: guardrails.rules[0].args.url: "re:(": the pattern is no regular expression`,
		"guardrails:\n  rules:\n  - {tools: [], action: allow}":                                  `config.yaml:3: guardrails.rules[0].tools: is empty`,
		"guardrails:\n  rules:\n  - {command: , action: allow}":                                  `config.yaml:3: guardrails.rules[0].command: is empty`,
		"guardrails:\n  rules:\n  - {when: {untrusted: }, action: allow}":                        `config.yaml:3: guardrails.rules[0].when: needs untrusted`,
		"guardrails:\n  rules:\n  - {when: {trusted: true}, action: allow}":                      `config.yaml:3: guardrails.rules[0].when.trusted: unknown key; did you mean "untrusted"?`,
		"guardrails:\n  remote_tools: ['']":                                                      `config.yaml:2: guardrails.remote_tools: "": the pattern is empty`,
		"guardrails: {enabled: true, provider: {use: allowlist, config: {allowed_tools: bash}}}": "must be a list",
		"authorization:\n  enabled: true\n  provider: {use: my.own:P}":                           `config.yaml:3: authorization.provider.use: "my.own:P" cannot be loaded`,
		"authorization:\n  enabled: true":                                                        `config.yaml:2: authorization.provider.use: "" cannot be loaded`,
		auth:                                                                                     `authorization.provider.config: needs the key "roles"`,
		auth +
			"{roles: {admin: {}}}": `authorization.default_role: "user" is no role: one of admin`,
		auth +
			"{roles: {user: }}": `config.yaml:5: authorization.provider.config.roles.user: is empty`,
		auth +
			"{roles: {user: {tools: }}}": `config.yaml:5: authorization.provider.config.roles.user.tools: is empty`,
		auth +
			"{roles: {user: {tool: {}}}}": `roles.user.tool: unknown key; did you mean "tools"?`,
		auth +
			"{roles: {user: {tools: {allow: }}}}": `roles.user.tools.allow: is empty`,
		auth +
			"{roles: {user: {tools: {alow: []}}}}": `roles.user.tools.alow: unknown key`,
		auth +
			"{roles: {user: {tools: {allow: bash}}}}": `roles.user.tools.allow: must be a list of names, "*" for all or [] for none`,
		auth +
			"{roles: {user: {tools: [bash]}}}": `roles.user.tools: must be a table`,
		auth +
			"{role: {user: {}}}": `config.role: unknown key`,
	} {
		if _, _, err := parsed(t, text, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

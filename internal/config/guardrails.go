package config

import (
	"reflect"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/pattern"
	"go.yaml.in/yaml/v3"
)

// Guardrails say which tool calls may run: all that is decided here must agree, and the strictest decision counts.
type Guardrails struct {
	Enabled bool `key:"enabled"`
	// FailClosed refuses a call when it cannot be judged; else it runs.
	FailClosed bool `key:"fail_closed"`
	// Passport is the name under which the agent asks the provider.
	Passport string `key:"passport"`
	// Provider is a list of allowed and denied tools; its Use is [Allowlist] or empty.
	Provider GuardrailProvider `key:"provider"`
	// Rules are Pudu's own; the first that matches a call decides. A call that none matches is allowed.
	Rules []GuardrailRule `key:"rules"`
	// RemoteTools are patterns of tools whose results come from outside and are not trusted; nil means the usual ones.
	RemoteTools Words `key:"remote_tools"`
	Line        int   `key:"@line"`
}

// GuardrailProvider is a provider with its settings.
type GuardrailProvider struct {
	// Use is the provider as this program knows it; empty means none.
	Use string `key:"use"`
	// Allowlist are the settings of [Allowlist].
	Allowlist AllowlistSettings
	Config    later `key:"config"`
	Line      int   `key:"@line"`
}

// AllowlistSettings are lists of tool names. A denied tool is denied whatever is allowed.
type AllowlistSettings struct {
	// AllowedTools are all that may be called; nil means every tool, and an empty list none.
	AllowedTools []string `key:"allowed_tools"`
	DeniedTools  []string `key:"denied_tools"`
}

// GuardrailRule is one rule. It matches a call that fits all that it names.
type GuardrailRule struct {
	// Tools are patterns of names; none means every tool, or "bash" in a rule with Command.
	Tools Words `key:"tools,tool"`
	// Command are patterns of commands in the argument "command", each without its folder: "git push*".
	Command Words `key:"command"`
	// Args are patterns of the values of arguments.
	Args map[string]string `key:"args"`
	// Paths are patterns of the values of arguments that name files.
	Paths Words    `key:"paths"`
	When  RuleWhen `key:"when"`
	// Action is "allow", "ask" or "deny".
	Action string `key:"action" allow:"allow|ask|deny" required:"true"`
	// Reason is for the model and the person who is asked; empty means that the rule's place in the file is named.
	Reason string `key:"reason"`
	Line   int    `key:"@line"`
}

// RuleWhen restricts a rule to a state of the conversation.
type RuleWhen struct {
	// Untrusted restricts the rule to conversations that hold text from outside (true) or none (false); nil means
	// either.
	Untrusted *bool `key:"untrusted"`
}

// Allowlist is the provider of a list of tool names.
const Allowlist = "allowlist"

// later is a value that its section reads when the rest of the section is known.
type later struct{}

var _ custom = (*later)(nil)

func (*later) decode(*decoder, *tree, string) {}

// Words is one word or a list of them.
type Words []string

var _ custom = (*Words)(nil)

func (w *Words) decode(d *decoder, t *tree, at string) {
	if t.kind != yaml.ScalarNode {
		d.list(t, at, reflect.ValueOf(w).Elem(), "")
		return
	}
	if s, ok := d.scalar(t, at, "a word or a list of words", ""); ok {
		*w = Words{s}
	}
}

var _ custom = (*Guardrails)(nil)

// decode reads the section. The settings of a provider are looked at only where it is used.
func (g *Guardrails) decode(d *decoder, t *tree, at string) {
	d.table(t, at, reflect.ValueOf(g).Elem())
	checkPatterns(d, g.Line, join(at, "remote_tools"), g.RemoteTools)
	if !g.Enabled {
		return
	}
	p := &g.Provider
	class := p.Use[strings.LastIndex(p.Use, ":")+1:]
	switch {
	case p.Use == "" && p.Line > 0:
		d.failf(p.Line, join(at, "provider"), `needs the key "use"; Pudu has %q`, Allowlist)
	case p.Use == "" && len(g.Rules) == 0:
		d.warnf(g.Line, at, "enabled without a provider and rules: every call is allowed")
	case p.Use == "":
	case p.Use == Allowlist || class == "AllowlistProvider":
		p.Use = Allowlist
		d.value(t.find("provider").find("config"), join(at, "provider.config"), reflect.ValueOf(&p.Allowlist).Elem(),
			"")
	default:
		d.failf(p.Line, join(at, "provider.use"),
			`%q cannot be loaded: Pudu has %q, and its own "rules:"; tool calls would go unjudged`, p.Use, Allowlist)
	}
}

// find returns the value of a key; null if there is none.
func (t *tree) find(name string) *tree {
	for _, f := range t.fields {
		if f.name == name {
			return f.value
		}
	}
	return &tree{line: t.line, kind: yaml.ScalarNode, tag: "!!null"}
}

var _ custom = (*GuardrailRule)(nil)

func (r *GuardrailRule) decode(d *decoder, t *tree, at string) {
	d.table(t, at, reflect.ValueOf(r).Elem())
	checkPatterns(d, r.Line, join(at, "tools"), r.Tools)
	checkPatterns(d, r.Line, join(at, "command"), r.Command)
	checkPatterns(d, r.Line, join(at, "paths"), r.Paths)
	for name, p := range r.Args {
		checkPatterns(d, t.find("args").find(name).line, join(at, "args."+name), []string{p})
	}
	for _, f := range t.fields { // a rule that lost its restriction would match more than it was meant to
		if f.value.null() || f.value.kind == yaml.SequenceNode && len(f.value.items) == 0 {
			d.failf(f.line, join(at, f.name), "is empty: write a value or remove the key")
		}
	}
	if when := t.find("when"); !when.null() && r.When.Untrusted == nil {
		d.failf(when.line, join(at, "when"), "needs untrusted: true or false")
	}
}

func checkPatterns(d *decoder, line int, at string, list []string) {
	if _, err := pattern.CompileAll(list); err != nil {
		d.failf(line, at, "%v", err)
	}
}

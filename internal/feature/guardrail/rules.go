package guardrail

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/lib/pattern"
	"github.com/pudu-ai/pudu/internal/lib/shellwords"
	"github.com/pudu-ai/pudu/sandbox"
)

// Rules is a list of rules of which the first that matches decides. A call that none matches is allowed.
//
// A rule that asks or denies matches when anything in the call may be what it names: one of several commands, a command
// that is put together while it runs, a line that is no bash. A rule that allows matches only when everything in the
// call is known to be so.
type Rules struct{ list []rule }

var _ Provider = (*Rules)(nil)

type rule struct {
	tools, command, paths pattern.Set
	args                  map[string]pattern.Pattern
	untrusted             *bool
	decision              Decision
}

// NewRules compiles rules. The configuration has checked their patterns already.
func NewRules(list []config.GuardrailRule) (*Rules, error) {
	r := &Rules{}
	for i, c := range list {
		one, err := newRule(c)
		if err != nil {
			return nil, fmt.Errorf("guardrails: rules[%d]: %w", i, err)
		}
		r.list = append(r.list, one)
	}
	return r, nil
}

func newRule(c config.GuardrailRule) (r rule, err error) {
	names := []string(c.Tools)
	if len(names) == 0 && len(c.Command) > 0 {
		names = []string{"bash"}
	}
	r.untrusted = c.When.Untrusted
	r.decision = Decision{Action(c.Action), CodeRule, c.Reason}
	if !slices.Contains([]Action{Allow, Ask, Deny}, r.decision.Action) {
		return r, fmt.Errorf("the action %q is none of allow, ask and deny", c.Action)
	}
	if c.Reason == "" {
		r.decision.Reason = fmt.Sprintf("a rule of the configuration (line %d)", c.Line)
	}
	if r.tools, err = pattern.CompileAll(names); err != nil {
		return r, err
	}
	if r.command, err = pattern.CompileAll(c.Command); err != nil {
		return r, err
	}
	if r.paths, err = pattern.CompileAll(c.Paths); err != nil {
		return r, err
	}
	r.args = make(map[string]pattern.Pattern, len(c.Args))
	for name, text := range c.Args {
		if r.args[name], err = pattern.Compile(text); err != nil {
			return r, fmt.Errorf("args.%s: %w", name, err)
		}
	}
	return r, nil
}

// Evaluate implements [Provider].
func (r *Rules) Evaluate(_ context.Context, req *Request) (Decision, error) {
	c := call{req: req}
	for i := range r.list {
		ok, err := r.list[i].matches(&c)
		if err != nil {
			return Decision{}, err
		}
		if ok {
			return r.list[i].decision, nil
		}
	}
	return Decision{Action: Allow}, nil
}

func (r *rule) matches(c *call) (bool, error) {
	if len(r.tools) > 0 && !r.tools.Match(c.req.Tool) || r.untrusted != nil && *r.untrusted != c.req.Untrusted {
		return false, nil
	}
	if len(r.args)+len(r.paths)+len(r.command) == 0 {
		return true, nil
	}
	if err := c.read(); err != nil {
		return false, err
	}
	all := r.decision.Action == Allow
	for name, p := range r.args {
		if !some(c.args[name], all, p.Match) {
			return false, nil
		}
	}
	if len(r.paths) > 0 && !some(c.paths(), all, r.paths.Match) {
		return false, nil
	}
	return len(r.command) == 0 || r.matchesCommand(c), nil
}

// some reports whether one of the values matches, or if all is set, whether there are values and all of them do.
func some(values []string, all bool, match func(string) bool) bool {
	if all {
		return len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool { return !match(v) })
	}
	return slices.ContainsFunc(values, match)
}

// matchesCommand looks at the commands in the argument "command".
func (r *rule) matchesCommand(c *call) bool {
	commands, known := c.commands()
	all := r.decision.Action == Allow
	if !known {
		return !all
	}
	found := false
	for _, cmd := range commands {
		ok := r.may(cmd)
		if all {
			ok = r.must(cmd)
		}
		if ok != all {
			return !all
		}
		found = true
	}
	return all && found
}

// may reports whether a command may be one that the rule names.
func (r *rule) may(cmd *shellwords.Command) bool {
	line, open := cmd.Line()
	return (line != "" || open) && slices.ContainsFunc(r.command, func(p pattern.Pattern) bool {
		return p.Match(line) || open && p.MayMatch(line)
	})
}

// must reports whether a command is one that the rule names, and does nothing beside: it sets no variables and writes
// no file.
func (r *rule) must(cmd *shellwords.Command) bool {
	if len(cmd.Assigns) > 0 ||
		slices.ContainsFunc(cmd.Redirects,
			func(w shellwords.Redirect) bool { return w.Writes() && w.Target.Text != "/dev/null" }) {
		return false
	}
	line, open := cmd.Line()
	if line == "" && !open {
		return true // nothing but input
	}
	return slices.ContainsFunc(r.command, func(p pattern.Pattern) bool {
		return !open && p.Match(line) || open && p.MatchesAll(line)
	})
}

// call is a request whose arguments are read when a rule needs them.
type call struct {
	req    *Request
	args   map[string][]string
	parsed bool
	script shellwords.Script
	err    error
}

// read decodes the arguments: each as the texts that it holds.
func (c *call) read() error {
	if c.args != nil {
		return nil
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(c.req.Args, &raw); err != nil && len(c.req.Args) > 0 {
		return fmt.Errorf("read arguments of %s: %w", c.req.Tool, err)
	}
	c.args = make(map[string][]string, len(raw))
	for name, v := range raw {
		c.args[name] = texts(v)
	}
	return nil
}

// texts returns a string as it is, the elements of a list, and anything else as JSON.
func texts(v json.RawMessage) []string {
	var s string
	if json.Unmarshal(v, &s) == nil && len(v) > 0 && v[0] == '"' {
		return []string{s}
	}
	var list []json.RawMessage
	if json.Unmarshal(v, &list) == nil && list != nil {
		var out []string
		for _, e := range list {
			if json.Unmarshal(e, &s) == nil && e[0] == '"' {
				out = append(out, s)
			} else {
				out = append(out, string(e))
			}
		}
		return out
	}
	return []string{string(v)}
}

// paths are the values of the arguments whose names speak of files, absolute and clean.
func (c *call) paths() []string {
	var out []string
	for name, values := range c.args {
		if lower := strings.ToLower(name); !strings.Contains(lower, "path") && !strings.Contains(lower, "file") {
			continue
		}
		for _, v := range values {
			if !path.IsAbs(v) {
				v = path.Join(sandbox.Workspace, v)
			}
			out = append(out, path.Clean(v))
		}
	}
	return out
}

// commands are those of the argument "command"; known is false if there is none that can be read.
func (c *call) commands() (list []*shellwords.Command, known bool) {
	if !c.parsed {
		c.parsed = true
		if values := c.args["command"]; len(values) == 1 {
			c.script, c.err = shellwords.Parse(values[0])
		} else {
			c.err = fmt.Errorf("%s has no command", c.req.Tool)
		}
	}
	return c.script.Commands, c.err == nil
}

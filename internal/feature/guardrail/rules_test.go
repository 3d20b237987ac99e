package guardrail

import (
	"testing"

	"github.com/pudu-ai/pudu/internal/config"
)

func rules(t testing.TB, list ...config.GuardrailRule) *Rules {
	t.Helper()
	r, err := NewRules(list)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func bash(command string) Request {
	return Request{Tool: "bash", Args: raw(map[string]any{"command": command})}
}

func TestTheFirstRuleThatMatchesDecides(t *testing.T) {
	r := rules(t,
		config.GuardrailRule{Tools: config.Words{"ls", "read_*"}, Action: "allow"},
		config.GuardrailRule{Tools: config.Words{"read_secret"}, Action: "deny"},
		config.GuardrailRule{Action: "ask", Reason: "it is another tool", Line: 7})
	for name, want := range map[string]Action{"ls": Allow, "read_secret": Allow, "bash": Ask} {
		if d := judge(t, r, Request{Tool: name}); d.Action != want {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if d := judge(t, r, Request{Tool: "bash"}); d.Reason != "it is another tool" || d.Code != CodeRule {
		t.Errorf("%+v", d)
	}
	if d := judge(t, rules(t), Request{Tool: "bash"}); d.Action != Allow {
		t.Errorf("without rules: %+v", d)
	}
	if d := judge(t, rules(t, config.GuardrailRule{Action: "deny", Line: 7}),
		Request{}); d.Reason != "a rule of the configuration (line 7)" {
		t.Errorf("%+v", d)
	}
}

func TestRulesOnTrust(t *testing.T) {
	yes, no := true, false
	r := rules(t, config.GuardrailRule{Tools: config.Words{"a"}, When: config.RuleWhen{Untrusted: &yes},
		Action: "deny"},
		config.GuardrailRule{Tools: config.Words{"b"}, When: config.RuleWhen{Untrusted: &no}, Action: "deny"})
	for _, tt := range []struct {
		req  Request
		want Action
	}{{Request{Tool: "a"}, Allow}, {Request{Tool: "a", Untrusted: true}, Deny}, {Request{Tool: "b"}, Deny},
		{Request{Tool: "b", Untrusted: true}, Allow}} {
		if d := judge(t, r, tt.req); d.Action != tt.want {
			t.Errorf("%+v: %+v", tt.req, d)
		}
	}
}

func TestRulesOnArguments(t *testing.T) {
	for _, tt := range []struct {
		name    string
		pattern map[string]string
		paths   config.Words
		action  Action
		args    map[string]any
		match   bool
	}{
		{"text", map[string]string{"url": "*internal*"}, nil, Deny, map[string]any{"url": "http://internal/x"}, true},
		{"other text", map[string]string{"url": "*internal*"}, nil, Deny, map[string]any{"url": "http://x"}, false},
		{"missing", map[string]string{"url": "*"}, nil, Deny, map[string]any{}, false},
		{"number", map[string]string{"n": "5"}, nil, Deny, map[string]any{"n": 5}, true},
		{"flag", map[string]string{"force": "true"}, nil, Deny, map[string]any{"force": true}, true},
		{"object", map[string]string{"o": `*"a":1*`}, nil, Deny, map[string]any{"o": map[string]int{"a": 1}}, true},
		{"one of a list denies", map[string]string{"l": "b"}, nil, Deny, map[string]any{"l": []string{"a", "b"}}, true},
		{"one of a list does not allow", map[string]string{"l": "b"}, nil, Allow,
			map[string]any{"l": []string{"a", "b"}}, false},
		{"all of a list allow", map[string]string{"l": "?"}, nil, Allow, map[string]any{"l": []string{"a", "b"}}, true},
		{"an empty list does not allow", map[string]string{"l": "?"}, nil, Allow, map[string]any{"l": []string{}},
			false},
		{"two arguments", map[string]string{"a": "1", "b": "2"}, nil, Deny, map[string]any{"a": "1", "b": "3"}, false},
		{"path", nil, config.Words{"/mnt/user-data/outputs/*"}, Deny,
			map[string]any{"path": "/mnt/user-data/outputs/a/b"}, true},
		{"path that climbs", nil, config.Words{"/mnt/user-data/outputs/*"}, Allow,
			map[string]any{"path": "/mnt/user-data/outputs/../workspace/x"}, false},
		{"path that is hidden", nil, config.Words{"/etc/*"}, Deny, map[string]any{"file_path": "/mnt/./..//etc/passwd"},
			true},
		{"relative path", nil, config.Words{"/mnt/user-data/workspace/*"}, Allow,
			map[string]any{"filepaths": []string{"a", "b/c"}}, true},
		{"one path is elsewhere", nil, config.Words{"/mnt/user-data/workspace/*"}, Allow,
			map[string]any{"path": "a", "other_path": "/x"}, false},
		{"no path", nil, config.Words{"*"}, Allow, map[string]any{"query": "x"}, false},
	} {
		r := rules(t, config.GuardrailRule{Args: tt.pattern, Paths: tt.paths, Action: string(tt.action)},
			config.GuardrailRule{Action: "ask"})
		d := judge(t, r, Request{Tool: "x", Args: raw(tt.args)})
		if want := map[bool]Action{true: tt.action, false: Ask}[tt.match]; d.Action != want {
			t.Errorf("%s: %s, want %s", tt.name, d.Action, want)
		}
	}
	if _, err := rules(t, config.GuardrailRule{Args: map[string]string{"a": "b"}, Action: "deny"}).
		Evaluate(t.Context(), &Request{Args: []byte(`[`)}); err == nil {
		t.Error("arguments that cannot be read pass")
	}
}

func TestRulesThatDenyFindACommandEverywhere(t *testing.T) {
	r := rules(t, config.GuardrailRule{Command: config.Words{"git push*"}, Action: "deny"})
	for command, want := range map[string]Action{
		"git push": Deny, "git push origin main": Deny, "/usr/bin/git push": Deny, `g"it" 'push'`: Deny,
		"ls && git push": Deny, "(cd x; git push)": Deny, "sudo git push": Deny, "echo `git push`": Deny,
		"x=$(git push)": Deny, "bash -c 'git push'": Deny, "eval git push": Deny, "echo x | xargs git push": Deny,
		"find . -exec git push \\;": Deny, "f() { git push; }; f": Deny, "cat <<EOF\n$(git push)\nEOF": Deny,
		"sh <<< 'git push'": Deny, "GIT_DIR=x git push": Deny, "timeout 5 git push": Deny,
		// what is only known when it runs may be it
		"git $X": Deny, "$X push": Deny, "git pu$X": Deny, "eval $X": Deny, "bash -c \"$X\"": Deny, "git pu?h": Deny,
		"env -S 'git push'": Deny,
		// and so may what cannot be read
		"git push 'x": Deny, "echo 'x": Deny,
		"git pull": Allow, "git status $X": Allow, "echo git push": Allow, "grep 'git push' f": Allow,
		"cat <<'EOF'\ngit push\nEOF": Allow, "gitx push": Allow, "git": Allow, "ls *.git": Allow, "# git push": Allow,
	} {
		if d := judge(t, r, bash(command)); d.Action != want {
			t.Errorf("%q: %s, want %s", command, d.Action, want)
		}
	}
	if d := judge(t, r, Request{Tool: "other", Args: raw(map[string]any{"command": "git push"})}); d.Action != Allow {
		t.Error("a rule on commands without tools is one for bash")
	}
	if d := judge(t, r,
		Request{Tool: "bash", Args: raw(map[string]any{"command": []string{"git", "push"}})}); d.Action != Deny {
		t.Error("a command that is no text passes")
	}
}

func TestRulesThatAllowWantEveryCommandToBeKnown(t *testing.T) {
	r := rules(t, config.GuardrailRule{Command: config.Words{"git log*", "ls*", "head*"}, Action: "allow"},
		config.GuardrailRule{Action: "ask"})
	for command, want := range map[string]Action{
		"git log": Allow, "git log --oneline | head -5": Allow, "ls -la && git log": Allow, "ls $DIR": Allow,
		"ls *.go": Allow, "ls 2>&1 >/dev/null": Allow, "ls < f": Allow, "git log; rm x": Ask, "ls $(rm x)": Ask,
		"ls `rm x`": Ask, "$X": Ask, "git $X": Ask, "git log > ~/.bashrc": Ask, "PATH=/x ls": Ask, "ls & rm x": Ask,
		"ls 'x": Ask, "": Ask, "X=1": Ask, "eval ls": Ask, "sudo rm x": Ask, "ls | xargs rm": Ask, "ls <(rm x)": Ask,
		"> f": Ask, "{ ls; } > f": Ask,
	} {
		if d := judge(t, r, bash(command)); d.Action != want {
			t.Errorf("%q: %s, want %s", command, d.Action, want)
		}
	}
}

func FuzzRules(f *testing.F) {
	f.Add("git push*", "sudo git push", "deny")
	f.Add("*", "ls $(x)", "allow")
	f.Add("re:^ls", "ls 'x", "ask")
	f.Fuzz(func(t *testing.T, p, command, action string) {
		if len(command) > 10_000 {
			return
		}
		r, err := NewRules([]config.GuardrailRule{{Command: config.Words{p}, Paths: config.Words{}, Action: action},
			{Action: "ask"}})
		if err != nil {
			return
		}
		req := bash(command)
		if d, err := r.Evaluate(t.Context(), &req); err != nil || d.Action == "" {
			t.Errorf("%q on %q: %+v, %v", p, command, d, err)
		}
	})
}

func BenchmarkRules(b *testing.B) {
	r := rules(b, config.GuardrailRule{Command: config.Words{"git push*", "rm -rf*"}, Action: "ask"},
		config.GuardrailRule{Tools: config.Words{"web_*"}, Action: "deny"})
	req := bash("cd /mnt/user-data/workspace && grep -rn needle . | head -50")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Evaluate(b.Context(), &req); err != nil {
			b.Fatal(err)
		}
	}
}

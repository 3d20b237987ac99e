package approval

import (
	"encoding/json"
	"strings"
	"testing"
)

// command are the arguments of a call of bash.
func command(line string) json.RawMessage {
	raw, err := json.Marshal(map[string]string{"description": "why " + line, "command": line})
	if err != nil {
		panic(err)
	}
	return raw
}

func must(t testing.TB, tool, text string) Pattern {
	t.Helper()
	p, err := ParsePattern(tool, text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAPatternOfCommandsCoversPlainOnesAlone(t *testing.T) {
	p := must(t, "bash", "git status*")
	for line, want := range map[string]bool{
		"git status": true, "git status -s --branch": true, "git status src/a.go": true, `git status "a b"`: true,
		"git status '--x=y'": true, "git status 多": true, "git status a@b,c:d+e%f": true,
		"git statu": false, " git status": false, "GIT STATUS": false, "git  status": false, "sudo git status": false,
		"X=1 git status": false, "git status; rm -rf /": false, "git status && x": false, "git status || x": false,
		"git status & x": false, "git status | sh": false, "git status > f": false, "git status >> f": false,
		"git status < f": false, "git status 2>&1": false, "git status <(x)": false, "git status $(x)": false,
		"git status `x`": false, "git status $X": false, "git status ${X}": false, "git status $((1))": false,
		"git status\nrm x": false, "git status\rrm x": false, "git status\x00": false, "git status\tx": false,
		"git status\v": false, "git status \u2028rm": false, "git status \u0085rm": false, "git status \u00a0": false,
		"git status \u202e": false, "git status *": false, "git status a?": false, "git status [a]": false,
		"git status {a,b}": false, "git status ~": false, "git status # x": false, "git status !x": false,
		`git status \`: false, `git status \;`: false, "git status 'a": false, `git status "; rm"`: false,
		"git status \xff": false, "git status (x)": false,
	} {
		if got := p.Covers("bash", command(line)); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
	if p.Covers("sh", command("git status")) || p.Covers("bash", nil) ||
		p.Covers("bash", json.RawMessage(`["git status"]`)) {
		t.Error("what is no call of bash is covered")
	}
}

// TestAPatternCoversNoStarter: a command that only starts another, or is given a script, is covered by its exact text
// alone.
func TestAPatternCoversNoStarter(t *testing.T) {
	for pattern, line := range map[string]string{
		"sudo *": "sudo rm x", "env *": "env rm x", "xargs *": "xargs rm", "bash *": `bash -c "rm x"`,
		"eval *": "eval rm x", "time *": "time rm x", "timeout *": "timeout 5 rm x", "nice *": "nice rm x",
		"X=1 *": "X=1 rm x", "command *": "command rm x", "exec *": "exec rm x", "find *": "find . -exec rm x +",
	} {
		if must(t, "bash", pattern).Covers("bash", command(line)) {
			t.Errorf("%q covers %q", pattern, line)
		}
		exact, err := PatternOf("bash", command(line))
		if err != nil || !exact.Covers("bash", command(line)) {
			t.Errorf("%q is not covered by itself: %v", line, err)
		}
	}
	if !must(t, "bash", "ls *").Covers("bash", command("ls -la src")) {
		t.Error("ls")
	}
}

func TestPatternsThatAreTooWide(t *testing.T) {
	for tool, texts := range map[string][]string{
		"bash": {"*", " *", "git*", "g*", "git;x *", "ls $X*", "ls **", "a\nb *", "", "x\x00", "\xff",
			strings.Repeat("x", MaxPattern+1)},
		"file": {
			"*", "x", "[]", "{", `{"a":1,"a":2}`, `{"a":1,"A":2}`, `{"a":"*"}`, `{"a":"*","b":"*"}`,
			`{"u":"https://example.com*"}`, `{"u":"https://*"}`, `{}x`,
		},
	} {
		for _, text := range texts {
			if p, err := ParsePattern(tool, text); err == nil {
				t.Errorf("%s takes %.40q as %+v", tool, text, p)
			}
		}
	}
}

func TestAnExactPatternCoversOneCommand(t *testing.T) {
	for _, line := range []string{"ls *", "git status; rm -rf /", "a\nb", "echo $(x) > f", "  x",
		strings.Repeat("x", MaxPattern)} {
		p, err := PatternOf("bash", command(line))
		if err != nil || !p.Covers("bash", command(line)) || p.Covers("bash", command(line+"x")) ||
			p.Covers("bash", command(line+" ")) {
			t.Errorf("%.40q: %+v, %v", line, p, err)
		}
	}
	star, _ := PatternOf("bash", command("ls *"))
	if star.Covers("bash", command("ls x")) {
		t.Error("the star of a command stands for anything")
	}
	for _, args := range []string{
		`{"command":"a","command":"b"}`, `{"command":"a","Command":"b"}`, `{"command":"a","cwd":"/"}`,
		`{"description":"a"}`, `{"command":["a"]}`, `{"command":""}`, `{"command":"a\u0000"}`, `null`, `[]`, ``,
		`{"command":"` + strings.Repeat("x", MaxPattern+1) + `"}`,
	} {
		if p, err := PatternOf("bash", json.RawMessage(args)); err == nil {
			t.Errorf("%.40s is %+v", args, p)
		}
	}
}

func TestPatternsOfArguments(t *testing.T) {
	for _, tt := range []struct {
		pattern, args string
		want          bool
	}{
		{`{"a": 1, "b": "x"}`, `{"a":1,"b":"x"}`, true},
		{`{"a":1}`, `{"a": 1}`, true},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{`{"a":1}`, `{"a":1.0}`, false},
		{`{}`, `{}`, true},
		{`{}`, `{"a":1}`, false},
		{`{"path":"/out/*","text":"*"}`, `{"path":"/out/a/b.txt","text":"line\n; $(x)"}`, true},
		{`{"path":"/out/*","text":"*"}`, `{"path":"/out/a"}`, false},
		{`{"path":"/out/*","text":"*"}`, `{"path":"/out/a","text":1}`, false},
		{`{"path":"/out/*","text":"*"}`, `{"path":"/out/a","text":"","mode":1}`, false},
		{`{"path":"/out/*"}`, `{"path":"/outside"}`, false},
		{`{"path":"/out/*"}`, `{"path":"/out/../etc"}`, false},
		{`{"path":"/out/*"}`, `{"path":"/out/.."}`, false},
		{`{"path":"/out/.*"}`, `{"path":"/out/../x"}`, false},
		{`{"path":"/out/*"}`, `{"path":"/out/a\\..\\x"}`, false},
		{`{"path":"/out/*"}`, `{"path":"/out/a\u0000"}`, false},
		{`{"path":"/out/*"}`, `{"path":"/out/a..b/...c"}`, true},
		{`{"path":"/out/*"}`, `{"path":"/out/x","PATH":"/etc"}`, false},
		{`{"path":"/out/*"}`, `{"path":"/out/x","path":"/etc"}`, false},
		{`{"url":"https://example.com/*"}`, `{"url":"https://example.com/a?b=c&d"}`, true},
		{`{"url":"https://example.com/*"}`, `{"url":"https://example.com.evil/"}`, false},
		{`{"url":"https://example.com/a/*"}`, `{"url":"https://example.com/a/%2e%2E/b"}`, false},
		{`{"url":"https://example.com/a/*"}`, `{"url":"https://example.com/a/..%2fb"}`, false},
		{`{"n":{"a":"x*"},"p":"y*"}`, `{"n":{"a":"xy"},"p":"y"}`, false}, // a star within a value is none
		{`{"n":{"a":"x*"},"p":"y*"}`, `{"n":{"a":"x*"},"p":"yy"}`, true},
	} {
		if got := must(t, "tool", tt.pattern).Covers("tool", json.RawMessage(tt.args)); got != tt.want {
			t.Errorf("%s on %s: %v", tt.pattern, tt.args, got)
		}
	}
}

// FuzzCovers: a pattern with a star never covers a command in which the shell sees more than the words of one.
func FuzzCovers(f *testing.F) {
	f.Add("git status", "; rm -rf /")
	f.Add("git status ", "\n'x'")
	f.Add("bash -c", " 'rm x'")
	f.Fuzz(func(t *testing.T, prefix, rest string) {
		line := prefix + rest
		own, err := PatternOf("bash", command(line))
		if err == nil && !own.Covers("bash", command(line)) {
			t.Errorf("%q is not covered by itself", line)
		}
		p, err := ParsePattern("bash", prefix+"*")
		if err != nil || !p.Covers("bash", command(line)) {
			return
		}
		if strings.ContainsAny(line, ";&|<>$`(){}[]\\*?#!~\n\r\x00\t") || !strings.HasPrefix(line, prefix) {
			t.Errorf("%q covers %q", p.Text, line)
		}
	})
}

// FuzzArguments: what is covered by a pattern of arguments has its names and begins as it says, and is never read in
// two ways.
func FuzzArguments(f *testing.F) {
	f.Add(`{"path":"/out/*"}`, `{"path":"/out/../x"}`)
	f.Add(`{"a":"x*","b":1}`, `{"a":"xy","b":1,"B":2}`)
	f.Fuzz(func(t *testing.T, pattern, args string) {
		p, err := ParsePattern("tool", pattern)
		if err != nil {
			return
		}
		if again, err := ParsePattern("tool", p.Text); err != nil || again != p {
			t.Errorf("%q is read as %+v, and that as %+v, %v", pattern, p, again, err)
		}
		if !p.Covers("tool", json.RawMessage(args)) {
			return
		}
		var want, got map[string]any
		if json.Unmarshal([]byte(p.Text), &want) != nil || json.Unmarshal([]byte(args), &got) != nil ||
			len(want) != len(got) {
			t.Fatalf("%q covers %q", p.Text, args)
		}
		for name, w := range want {
			text, isText := w.(string)
			prefix, open := strings.CutSuffix(text, "*")
			if s, ok := got[name].(string); isText && open && (!ok || !strings.HasPrefix(s, prefix)) {
				t.Errorf("%q covers %q", p.Text, args)
			}
		}
	})
}

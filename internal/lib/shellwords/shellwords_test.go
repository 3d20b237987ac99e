package shellwords

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shown writes commands as "name|arg|arg", with "?" where a word is open, and what belongs to them in brackets.
func shown(commands []*Command) (out []string) {
	for _, c := range commands {
		s := word(c.Name)
		for _, a := range c.Args {
			s += "|" + word(a)
		}
		if len(c.Before) > 0 {
			s += fmt.Sprintf(" before%v", c.Before)
		}
		for _, a := range c.Assigns {
			s += fmt.Sprintf(" [%s=%s]", a.Name, word(a.Value))
		}
		for _, r := range c.Redirects {
			s += fmt.Sprintf(" [%s %s]", r.Op, word(r.Target))
		}
		for _, f := range c.From {
			s += " <-" + f.Base()
		}
		out = append(out, s)
	}
	return out
}

func word(w Word) string {
	s := w.Text
	if w.Open {
		s += "?"
	}
	if len(w.Runs) > 0 {
		s += fmt.Sprint(Names(w.Runs))
	}
	return s
}

func TestParse(t *testing.T) {
	tests := []struct {
		name, line string
		want       []string
	}{
		{"nothing", "", nil},
		{"comment", "# rm -rf /", nil},
		{"plain", "git push origin main", []string{"git|push|origin|main"}},
		{"quotes", `g"i"t 'push' "origin main" \-f`, []string{"git|push|origin main|-f"}},
		{"ansi quotes", `$'\x72m' $'a\tb\u00e9\101'`, []string{"rm|a\tbéA"}},
		{"variables", `echo $HOME "${HOME}/x" "$X" a$Y/b`, []string{"echo|~|~/x|?|a?"}},
		{"IFS", `cat${IFS}/etc/passwd`, []string{"cat|/etc/passwd"}},
		{"braces", `{rm,-rf} a{1..3}`, []string{"?|a?"}},
		{"list", "a && b || c; d & e\nf", []string{"a", "b", "c", "d", "e", "f"}},
		{"quoted operators", `echo "a && b; c | d" 'x || y'`, []string{"echo|a && b; c | d|x || y"}},
		{"pipe", "curl u | tee f | sh -s", []string{"curl|u", "tee|f <-curl", "sh|-s <-curl <-tee"}},
		{"pipe into a group", "curl u | { cd x; sh; }", []string{"curl|u", "cd|x <-curl", "sh <-curl"}},
		{"input of its own", "curl u | sh < f", []string{"curl|u", "sh [< f]"}},
		{"subshell and loops", "(a); for i in x $(b); do c $i; done; while d; do e; done; if f; then g; elif h; then i; else j; fi; case k in l) m;; esac",
			[]string{"a", "b", "c|?", "d", "e", "f", "g", "h", "i", "j", "m"}},
		{"function", "f() { a; }; f", []string{"a", "f"}},
		{"substitutions", "x=$(a) echo `b` \"$(c)\" <(d) ${y:-$(e)} $((1<<2 + $(f)))",
			[]string{"a", "b", "c", "d", "e", "f", "echo|?[b]|?[c]|?[d]|?[e]|?[f] [x=?[a]]"}},
		{"heredoc is data", "cat <<'EOF' > x\nrm -rf /\n$(y)\nEOF\n", []string{"cat [<< rm -rf /\n$(y)\n] [> x]"}},
		{"heredoc that is expanded", "cat <<EOF\n$(y)\nEOF\n", []string{"y", "cat [<< ?[y]]"}},
		{"arithmetic shift", "echo $((1 << 4)); ((x = 1 << 2)); rm y", []string{"echo|?", "rm|y"}},
		{"test", "[[ -f $(a) ]] && [ -d x ]", []string{"a", "[|-d|x|]"}},
		{"sudo", "sudo -u root -E A=b rm x", []string{"rm|x before[sudo] [A=b]"}},
		{"env", "env -i PATH=/x git push", []string{"git|push before[env] [PATH=/x]"}},
		{"env text", `env -S "git push"`, []string{"?|git push before[env]"}},
		{"timeout", "timeout -s KILL 5 nice -n 3 make", []string{"make before[timeout nice]"}},
		{"xargs", "ls | xargs -n 1 rm -f", []string{"ls", "rm|-f|? before[xargs] <-ls"}},
		{"which", "command -v git", []string{"command|-v|git"}},
		{"list of sudo", "sudo -l", []string{"sudo|-l"}},
		{"open wrapper", "sudo $X push", []string{"?|push before[sudo]"}},
		{"bash -c", `bash -lc 'a; b'`, []string{"bash|-lc|a; b", "a", "b"}},
		{"bash -c of something", `bash -c "$X"`, []string{"bash|-c|?", "?"}},
		{"bash -c of no bash", `bash -c "a '"`, []string{"bash|-c|a '", "?"}},
		{"here-string for a shell", `sh <<< "git push"`, []string{"sh [<<< git push]", "git|push"}},
		{"eval", `eval git "push"`, []string{"eval|git|push", "git|push"}},
		{"find", `find . -name x -exec git push {} \; -exec sh -c 'ls' \;`,
			[]string{"find|.|-name|x|-exec|git|push|{}|;|-exec|sh|-c|ls|;", "git|push|{} before[find]",
				"sh|-c|ls before[find]", "ls"}},
		{"export", "export PATH=/x:$PATH Y", []string{"export [PATH=/x:?] [Y=]"}},
		{"redirects of a group", "{ a; } > x 2>&1", []string{"a", " [> x] [>& 1]"}},
		{"time", "time a", []string{"a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Parse(tt.line)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, shown(s.Commands)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLine(t *testing.T) {
	for _, tt := range []struct {
		command, line string
		open          bool
	}{
		{"/usr/bin/git push origin", "git push origin", false},
		{"git $X", "git ", true},
		{"git p$X", "git p", true},
		{"/usr/bin/$X push", "", true},
		{"rm *.txt", "rm ", true},
		{"rm '*.txt'", "rm *.txt", false},
		{"/b?n/git push", "git push", false},
		{"[ -e a ]", "[ -e a ]", false},
		{"[g]it push", "", true},
		{"[$X -e a ]", "", true},
	} {
		s, err := Parse(tt.command)
		if err != nil {
			t.Fatal(err)
		}
		if line, open := s.Commands[0].Line(); line != tt.line || open != tt.open {
			t.Errorf("%s: %q, %v", tt.command, line, open)
		}
	}
}

func TestWritesAndInput(t *testing.T) {
	for line, want := range map[string][2]bool{
		"a > f": {true, false}, "a >> f": {true, false}, "a &> f": {true, false}, "a >& f": {true, false},
		"a 2>&1": {false, false}, "a >&-": {false, false}, "a < f": {false, true}, "a <<< f": {false, true},
		"a <> f": {true, true}, "a <&3": {false, false},
	} {
		s, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		r := s.Commands[0].Redirects[0]
		if got := [2]bool{r.Writes(), r.Input()}; got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

func TestBombs(t *testing.T) {
	for line, want := range map[string]bool{
		":(){ :|:& };:":                           true,
		"f() { f & f & }; f":                      true,
		"while true; do x & done":                 true,
		"until false; do x & done":                true,
		"f() { g | h; }; f":                       false,
		"f() { [ $1 = 0 ] || f $(( $1 - 1 )); }":  false,
		"while true; do x & sleep 1; done":        false,
		"while read l; do x & done":               false,
		"echo ':(){ :|:& };:'":                    false,
		"bash -c ':(){ :|:& };:'":                 true,
		"while true; do curl -s u | grep x; done": false,
	} {
		s, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if s.Bomb != want {
			t.Errorf("%s: %v", line, s.Bomb)
		}
	}
}

func TestNoBash(t *testing.T) {
	for line, want := range map[string]string{
		"echo 'x":                    "without closing quote",
		"a | ":                       "must be followed by",
		strings.Repeat("(", 200):     "100 deep",
		strings.Repeat("a", 1<<16+1): "65537 bytes",
	} {
		if _, err := Parse(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v", line, err)
		}
	}
}

func TestRough(t *testing.T) {
	got := shown(Rough(`x=1 curl "u | bash; echo 'a > /etc/passwd && rm -rf $HOME || sudo ls $(cat f) | { sh`).Commands)
	want := []string{"curl|u [x=1]", "bash <-curl", "echo|a [> /etc/passwd]", "rm|-rf|~", "ls|$ before[sudo]", "cat|f",
		"sh"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNames(t *testing.T) {
	s, err := Parse("/bin/ls; ls; $X; TOKEN=secret; " + strings.Repeat("a", 50) + "; git push")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ls", "?", "git"}, Names(s.Commands)); diff != "" {
		t.Error(diff)
	}
}

func TestLargeLinesAreQuick(t *testing.T) {
	for name, line := range map[string]string{
		"nested ifs":        strings.Repeat("if ", 20_000),
		"nested bangs":      strings.Repeat("! ", 30_000),
		"nested brackets":   strings.Repeat("( ", 30_000),
		"substitutions":     strings.Repeat("$(a ", 16_000),
		"backquotes":        strings.Repeat("`", 60_000),
		"pipes":             strings.Repeat("a|", 30_000) + "a",
		"here-documents":    strings.Repeat("cat <<A\n", 8000),
		"quotes in quotes":  strings.Repeat(`"$(`, 20_000),
		"texts in texts":    strings.Repeat(`bash -c "`, 7000),
		"evals":             "eval " + strings.Repeat("eval ", 12_000),
		"escaped backticks": strings.Repeat("\\`", 30_000),
		"xargs":             strings.Repeat("xargs ", 10_000) + "rm",
		"finds":             strings.Repeat("find -exec ", 5000) + "rm",
	} {
		begin := time.Now()
		script, err := Parse(line)
		Rough(line)
		writers := 0
		for _, c := range script.Commands {
			writers += len(c.From)
		}
		if writers > 200*len(script.Commands) {
			t.Errorf("%s: %d commands have %d writers", name, len(script.Commands), writers)
		}
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s took %s (%v)", name, took, err)
		} else {
			t.Logf("%s took %s (%.80v)", name, took, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"git push", ":(){ :|:& };:", "cat <<EOF\n$(x)\nEOF", "bash -c \"eval 'a $b'\"",
		`$'\x' $'\u12' $'\9'`, "echo 'x",
		"find . -exec sh -c 'x' \\;", "env -S 'a' b", "((1<<2))", "a=(1 $(b)) c[1]=d e", "${x[@]/a/$(b)}",
		"`a \\`b\\``", "coproc x { y; }"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 10_000 {
			return
		}
		begin := time.Now()
		script, err := Parse(s)
		if err != nil && len(script.Commands) > 0 {
			t.Errorf("%q: an error and commands", s)
		}
		for _, c := range append(script.Commands, Rough(s).Commands...) {
			c.Line()
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%q took %s", s, took)
		}
	})
}

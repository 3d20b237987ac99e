package pattern

import (
	"strings"
	"testing"
	"time"
)

func TestPatterns(t *testing.T) {
	tests := []struct {
		pattern, text           string
		match, mayMatch, always bool
	}{
		{"bash", "bash", true, true, false},
		{"bash", "bas", false, true, false},
		{"bash", "bash2", false, false, false},
		{"git push*", "git push", true, true, true},
		{"git push*", "git push origin\nmain", true, true, true},
		{"git push*", "git ", false, true, false},
		{"git push*", "git pull", false, false, false},
		{"*push*", "git ", false, true, false},
		{"*push*", "a push b", true, true, true},
		{"*", "", true, true, true},
		{"a?c", "abc", true, true, false},
		{"a?c", "aéc", true, true, false},
		{"a?c", "ac", false, true, false},
		{"a.c", "abc", false, false, false},
		{"[x]", "[x]", true, true, false},
		{"Bash", "bash", false, false, false},
		{"re:^https?://", "http://x", true, true, false},
		{"re:^https?://", "ftp://x", false, true, false},
	}
	for _, tt := range tests {
		p, err := Compile(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Match(tt.text); got != tt.match {
			t.Errorf("%q matches %q: %v", tt.pattern, tt.text, got)
		}
		if got := p.MayMatch(tt.text); got != tt.mayMatch {
			t.Errorf("%q may match what begins with %q: %v", tt.pattern, tt.text, got)
		}
		if got := p.MatchesAll(tt.text); got != tt.always {
			t.Errorf("%q matches all that begins with %q: %v", tt.pattern, tt.text, got)
		}
	}
}

func TestBadPatterns(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "is empty",
		strings.Repeat("a", 257):       "257 characters, more than 256",
		"re:(":                         "no regular expression",
		"re:" + strings.Repeat("*", 2): "no regular expression",
	} {
		if _, err := Compile(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: got %v, want %q", text, err, want)
		}
	}
	if _, err := CompileAll([]string{"a", "re:("}); err == nil || !strings.Contains(err.Error(), `"re:("`) {
		t.Errorf("got %v", err)
	}
}

func TestZeroPatternMatchesNothing(t *testing.T) {
	var p Pattern
	if p.Match("") || p.MayMatch("") || p.MatchesAll("") || (Set{}).Match("a") {
		t.Error("it matches")
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("git push*", "git push origin")
	f.Add(strings.Repeat("*a", 128), strings.Repeat("a", 1000))
	f.Add("re:(a*)*$", "aaaa!")
	f.Add("\xff*?", "\xff\x00")
	f.Fuzz(func(t *testing.T, text, s string) {
		if len(s) > 10_000 {
			return
		}
		p, err := Compile(text)
		if err != nil {
			return
		}
		begin := time.Now()
		match, may, always := p.Match(s), p.MayMatch(s), p.MatchesAll(s)
		if match && !may || always && !match {
			t.Errorf("%q with %q: match %v, may match %v, matches all %v", text, s, match, may, always)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%q took %s", text, took)
		}
	})
}

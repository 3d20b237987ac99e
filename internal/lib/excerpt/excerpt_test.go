package excerpt

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestExcerpts(t *testing.T) {
	for _, c := range []struct {
		s                 string
		n                 int
		first, last, clip string
	}{
		{"", 3, "", "", ""},
		{"añb", 3, "añb", "añb", "añb"},
		{"añb", 2, "añ", "ñb", "a…"},
		{"añb", 1, "a", "b", "…"},
		{"a\xffb", 2, "a\xff", "\xffb", "a…"},
		{"日本語", 9, "日本語", "日本語", "日本語"},
	} {
		if got := First(c.s, c.n); got != c.first {
			t.Errorf("First(%q, %d) = %q, want %q", c.s, c.n, got, c.first)
		}
		if got := Last(c.s, c.n); got != c.last {
			t.Errorf("Last(%q, %d) = %q, want %q", c.s, c.n, got, c.last)
		}
		if got := Clip(c.s, c.n); got != c.clip {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.s, c.n, got, c.clip)
		}
	}
	if First("ab", 0) != "" || Last("ab", 0) != "" || First("ab", -1) != "" || Last("ab", -1) != "" {
		t.Error("an excerpt of no characters is not empty")
	}
}

func TestBound(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"añb", 4, "añb"},
		{"añb", 3, "añ…"},
		{"añb", 2, "a…"},
		{"a\xffb", 2, "a…"},
		{"a\xffb", 3, "a\xffb"},
		{"a", 0, "…"},
		{"a", -1, "…"},
	} {
		if got := Bound(c.s, c.n); got != c.want {
			t.Errorf("Bound(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
}

func FuzzExcerpts(f *testing.F) {
	f.Add("añ\xff日", 2)
	f.Fuzz(func(t *testing.T, s string, n int) {
		all, want := utf8.RuneCountInString(s), max(n, 0)
		a, b := First(s, n), Last(s, n)
		if !strings.HasPrefix(s, a) || utf8.RuneCountInString(a) != min(all, want) {
			t.Fatalf("First(%q, %d) = %q", s, n, a)
		}
		if !strings.HasSuffix(s, b) || utf8.RuneCountInString(b) > want {
			t.Fatalf("Last(%q, %d) = %q", s, n, b)
		}
		if n > 0 && utf8.RuneCountInString(Clip(s, n)) > n {
			t.Fatalf("Clip(%q, %d) = %q", s, n, Clip(s, n))
		}
		if got := Bound(s, n); got != s && len(got) > want+len("…") {
			t.Fatalf("Bound(%q, %d) = %q", s, n, got)
		}
	})
}

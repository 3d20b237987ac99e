package bus

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCheckSubject(t *testing.T) {
	tests := []struct{ name, subject, want string }{
		{"one token", "queue", ""},
		{"all kinds of bytes", "run.0198-AZaz_09.x", ""},
		{"longest", strings.Repeat("a", MaxSubject), ""},
		{"empty", "", "empty token at byte 0"},
		{"dot first", ".a", "empty token at byte 0"},
		{"dot last", "a.", "empty token at byte 2"},
		{"two dots", "a..b", "empty token at byte 2"},
		{"wildcard", "run.*", `"*" at byte 4`},
		{"wildcard of the rest", "run.>", `">" at byte 4`},
		{"space", "a b", `" " at byte 1`},
		{"line break", "a\r\nPUB x", `"\r" at byte 1`},
		{"not ASCII", "é", `"\xc3" at byte 0`},
		{"too long", strings.Repeat("a", MaxSubject+1), "201 bytes: at most 200"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := CheckSubject(tt.subject)
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func FuzzCheckSubject(f *testing.F) {
	for _, s := range []string{"", "queue", "run.0198-ab_C", "a..b", ".", "a.*", "a.>", "a\r\n", "é", "\xff",
		strings.Repeat("a.", 101)} {
		f.Add(s)
	}
	good := regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\z`)
	f.Fuzz(func(t *testing.T, s string) {
		err := CheckSubject(s)
		if want := good.MatchString(s) && len(s) <= MaxSubject; (err == nil) != want {
			t.Fatalf("%q: %v", s, err)
		}
		if err != nil && (!utf8.ValidString(err.Error()) || strings.ContainsAny(err.Error(), "\r\n") ||
			len(err.Error()) > 5*MaxSubject) {
			t.Errorf("%q makes the text %q", s, err)
		}
	})
}

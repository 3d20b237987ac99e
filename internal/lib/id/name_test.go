package id

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestIsNameAsThePattern(t *testing.T) {
	pattern := regexp.MustCompile(`^[A-Za-z0-9_-]{1,8}$`)
	check := func(s string) {
		if got, want := IsName(s, 8), pattern.MatchString(s); got != want {
			t.Fatalf("IsName(%q) = %v", s, got)
		}
	}
	for c := range 256 {
		check(string([]byte{byte(c)}))
	}
	rapid.Check(t, func(t *rapid.T) {
		check(rapid.StringOfN(rapid.RuneFrom([]rune("aZ09_-. \né")), 0, 10, -1).Draw(t, "name"))
	})
	check(strings.Repeat("a", 8))
	check(strings.Repeat("a", 9))
	check("a\n")
}

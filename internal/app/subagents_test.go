package app

import (
	"slices"
	"testing"
)

// TestSkillsWithin: a sub-agent has no skill that who gives the task has not.
func TestSkillsWithin(t *testing.T) {
	for _, tt := range []struct{ own, given, want []string }{
		{nil, nil, nil}, {nil, []string{"a"}, []string{"a"}}, {[]string{"a"}, nil, []string{"a"}},
		{[]string{"a", "b"}, []string{"b", "c"}, []string{"b"}}, {[]string{}, []string{"a"}, []string{}}, {[]string{"a"}, []string{}, []string{}},
	} {
		if got := skillsWithin(tt.own, tt.given); !slices.Equal(got, tt.want) || (got == nil) != (tt.want == nil) {
			t.Errorf("%q within %q: %q", tt.own, tt.given, got)
		}
	}
}

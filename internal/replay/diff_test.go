package replay

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestARecordingIsBounded(t *testing.T) {
	r := &Recording{Model: strings.Repeat("x", 1<<20)}
	if _, err := encode(r, 1<<20); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Errorf("got %v", err)
	}
	if _, err := encode(r, 2<<20); err != nil {
		t.Error(err)
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("é", 150)
	for name, tt := range map[string]struct {
		want, got string
		diff      []string
	}{
		"one line": {"a", "b", []string{"- a", "+ b"}},
		"in the middle": {"1\n2\n3\nx\n5\n6\n7", "1\n2\n3\ny\nz\n5\n6\n7",
			[]string{"  2", "  3", "- x", "+ y", "+ z", "  5", "  6"}},
		"a line less":  {"a\nb\nc", "a\nc", []string{"  a", "- b", "  c"}},
		"no line feed": {"a\n", "a", []string{"  a", "- "}},
		"nothing":      {"", "a", []string{"- ", "+ a"}},
		"far in a long line": {long + "1" + long, long + "2", []string{"- …" + strings.Repeat("é", 20) + "1" +
			strings.Repeat("é", 58) + "…", "+ …" + strings.Repeat("é", 20) + "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			want := "    " + strings.Join(tt.diff, "\n    ")
			if d := cmp.Diff(want, lines(tt.want, tt.got)); d != "" {
				t.Error(d)
			}
		})
	}
	many := strings.Repeat("x\n", 100)
	if got := strings.Count(lines(many, "y"), "\n"); got > 2*mostLines+2 {
		t.Errorf("%d lines are shown", got)
	}
}

func TestTimesOfAValue(t *testing.T) {
	got := timeless(Value(`{"at":"2026-11-21T10:28:38.878514+00:00","text":"at 2026-11-21T10:28:38Z","n":1.50,"list":["2026-11-21T10:28:38Z",null]}`))
	if want := `{"at":"<time>","list":["<time>",null],"n":1.50,"text":"at 2026-11-21T10:28:38Z"}`; canonical(got) != want {
		t.Errorf("%s", got)
	}
}

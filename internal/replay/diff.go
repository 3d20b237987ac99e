package replay

import (
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
)

// Bounds of a diff for people.
const (
	contextLines = 2
	mostLines    = 12  // of each side
	mostColumns  = 160 // of a line
)

// lines shows where two texts part: the lines that differ, those of want behind "-" and those of got behind "+", with
// a little of what is around them.
func lines(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out []string
	for _, s := range a[max(0, head-contextLines):head] {
		out = append(out, "  "+window(s, 0))
	}
	a, b, rest := a[head:len(a)-tail], b[head:len(b)-tail], a[len(a)-tail:]
	at := 0
	if len(a) > 0 && len(b) > 0 {
		at = common(a[0], b[0])
	}
	out = append(out, side("- ", a, at)...)
	out = append(out, side("+ ", b, at)...)
	for _, s := range rest[:min(contextLines, len(rest))] {
		out = append(out, "  "+window(s, 0))
	}
	return indent(strings.Join(out, "\n"))
}

func side(mark string, list []string, at int) []string {
	var out []string
	for i, s := range list {
		if i == mostLines {
			return append(out, mark+"…")
		}
		out = append(out, mark+window(s, at))
		at = 0
	}
	return out
}

// common is how many bytes two lines have in common at their start.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// window is the part of a long line around a byte.
func window(s string, at int) string {
	if len(s) <= mostColumns {
		return s
	}
	if at > mostColumns/2 {
		start := at - mostColumns/4
		for start > 0 && !utf8.RuneStart(s[start]) {
			start--
		}
		s = "…" + s[start:]
	}
	return excerpt.Bound(s, mostColumns)
}

func indent(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }

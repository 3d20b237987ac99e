package tool

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ArgumentError says what is wrong with the arguments of a call. Its text is written for the model that made the
// call: what was found, what is wanted, and where. It has at most 2,000 bytes.
type ArgumentError struct {
	// Problems has one short line for each of the first 10 problems.
	Problems []string
	// More says that there are others.
	More bool
}

// Bounds of what a model is told.
const (
	maxProblems  = 10
	maxErrorText = 2000
	maxShown     = 60 // bytes of one value or name
	maxListed    = 20 // names or values of one list
)

func (e *ArgumentError) Error() string {
	text := "Invalid arguments for this tool: " + strings.Join(e.Problems, "; ")
	end := "."
	if e.More {
		end = "; and more."
	}
	return clip(text, maxErrorText-len(end)) + end
}

// report collects problems.
type report struct {
	problems []string
	more     bool
}

func (r *report) add(problem string) {
	if slices.Contains(r.problems, problem) {
		return
	}
	if len(r.problems) == maxProblems {
		r.more = true
		return
	}
	r.problems = append(r.problems, problem)
}

// full reports whether one problem more than is shown was met.
func (r *report) full() bool { return r.more }

func (r *report) err() error { return &ArgumentError{Problems: r.problems, More: r.more} }

// known lists the properties of s.
func known(s *Schema) string {
	if len(s.names) == 0 {
		return "; there are none"
	}
	names := make([]string, 0, maxListed)
	for _, name := range s.names[:min(len(s.names), maxListed)] {
		names = append(names, strconv.Quote(clip(name, maxShown)))
	}
	return "; known are " + strings.Join(names, ", ") + ellipsis(len(s.names))
}

func list(values []value) string {
	if len(values) == 0 {
		return "no value at all"
	}
	shown := make([]string, 0, maxListed)
	for i := range values[:min(len(values), maxListed)] {
		shown = append(shown, show(&values[i]))
	}
	return strings.Join(shown, ", ") + ellipsis(len(values))
}

func ellipsis(n int) string {
	if n > maxListed {
		return fmt.Sprintf(" and %d others", n-maxListed)
	}
	return ""
}

// String writes the path as a model would: "edits[2].path", quoted.
func (p *path) String() string {
	if p.parent == nil {
		return "the arguments"
	}
	var parts []string
	for ; p.parent != nil; p = p.parent {
		part := fmt.Sprintf("[%d]", p.index)
		if p.index < 0 {
			part = clip(p.name, maxShown)
			if p.parent.parent != nil {
				part = "." + part
			}
		}
		parts = append(parts, part)
	}
	slices.Reverse(parts)
	return strconv.Quote(clip(strings.Join(parts, ""), 3*maxShown))
}

var kindTexts = []struct {
	kinds
	text string
}{
	{isString, "a string"}, {numbers, "a number"}, {isInteger, "an integer"}, {isNumber, "a number"},
	{isBool, "true or false"}, {isArray, "an array"}, {isObject, "an object"}, {isNull, "null"},
}

// String names the types: "a string or an integer".
func (k kinds) String() string {
	var texts []string
	for _, t := range kindTexts {
		if k&t.kinds == t.kinds {
			texts = append(texts, t.text)
			k &^= t.kinds
		}
	}
	return strings.Join(texts, " or ")
}

// found describes the value that is there.
func found(v *value) string {
	switch v.kind {
	case isString:
		return "the string " + show(v)
	case isInteger, isNumber:
		return "the number " + show(v)
	case isArray:
		return "an array"
	case isObject:
		return "an object"
	}
	return show(v)
}

// show writes a value, cut if it is long.
func show(v *value) string {
	if v.kind == isString {
		return string(quote(clip(v.str(), maxShown)))
	}
	return clip(string(v.raw), maxShown)
}

// clip cuts s to at most n bytes, between characters, and marks the cut.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("…")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

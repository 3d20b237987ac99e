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

// rule is what a value can break.
type rule int

const (
	ruleType rule = iota
	ruleEnum
	ruleConst
	ruleMinimum
	ruleMaximum
	ruleAbove
	ruleBelow
	ruleMinLength
	ruleMaxLength
	rulePattern
	ruleMinItems
	ruleMaxItems
	ruleRequired
	ruleUnknown
	ruleAnyOf
	ruleOneOf
)

// describe words the problem of v, which stands at the path and breaks a rule of s.
func (r rule) describe(v *value, s *Schema, at *path) string {
	switch r {
	case ruleRequired:
		return at.String() + " is required"
	case ruleUnknown:
		return at.String() + " is not a known parameter" + known(s)
	case ruleAnyOf:
		return at.String() + " fits none of the allowed forms, got " + found(v)
	case ruleOneOf:
		return at.String() + " fits more than one of the allowed forms, got " + found(v)
	case ruleMinLength, ruleMaxLength, ruleMinItems, ruleMaxItems:
		return at.String() + " must have " + r.size(v, s)
	}
	if s.never || s.fit == noKind {
		return at.String() + " can have no value"
	}
	return at.String() + " must " + r.want(s) + ", got " + found(v)
}

func (r rule) want(s *Schema) string {
	switch r {
	case ruleEnum:
		return "be one of " + list(s.enum)
	case ruleConst:
		return "be " + show(s.constant)
	case ruleMinimum:
		return "be at least " + s.minimum.String()
	case ruleMaximum:
		return "be at most " + s.maximum.String()
	case ruleAbove:
		return "be more than " + s.above.String()
	case ruleBelow:
		return "be less than " + s.below.String()
	case rulePattern:
		return "match the pattern " + clip(s.pattern.String(), 2*maxShown)
	}
	if len(s.enum) > 0 {
		return "be one of " + list(s.enum)
	}
	return "be " + s.fit.String()
}

func (r rule) size(v *value, s *Schema) string {
	switch r {
	case ruleMinLength:
		return fmt.Sprintf("at least %d characters, got %d", *s.minLength, utf8.RuneCountInString(v.str()))
	case ruleMaxLength:
		return fmt.Sprintf("at most %d characters, got %d", *s.maxLength, utf8.RuneCountInString(v.str()))
	case ruleMinItems:
		return fmt.Sprintf("at least %d items, got %d", *s.minItems, len(v.items))
	}
	return fmt.Sprintf("at most %d items, got %d", *s.maxItems, len(v.items))
}

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

// String writes the number, with an exponent only if it is very large or small.
func (d *decimal) String() string {
	if text, ok := d.plain(); ok {
		return text
	}
	sign := ""
	if d.neg {
		sign = "-"
	}
	if d.exp <= 0 && d.exp > -8 {
		return clip(sign+"0."+strings.Repeat("0", -d.exp)+d.digits, maxShown)
	}
	if 0 < d.exp && d.exp < len(d.digits) {
		return clip(sign+d.digits[:d.exp]+"."+d.digits[d.exp:], maxShown)
	}
	return clip(fmt.Sprintf("%s0.%se%d", sign, d.digits, d.exp), maxShown)
}

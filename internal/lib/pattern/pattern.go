// Package pattern matches words against what people write in a configuration: names of tools, commands, paths.
//
// A pattern is a glob for the whole text, in which * stands for any characters (line breaks and slashes too) and ? for
// one, or, after "re:", a regular expression of Go for any part of it. Either is bounded and takes time linear in the
// text, so that a pattern cannot stop the program.
package pattern

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxLength is the most characters of a pattern.
const MaxLength = 256

const expression = "re:"

// Pattern is a compiled pattern. The zero value matches nothing.
type Pattern struct {
	whole *regexp.Regexp
	// begun matches what a text that matches can begin with; nil for an expression, of which it is not known.
	begun *regexp.Regexp
	// open says that the glob ends with *.
	open bool
}

// Compile reads a pattern. The error says what is wrong with it.
func Compile(text string) (Pattern, error) {
	switch n := utf8.RuneCountInString(text); {
	case text == "":
		return Pattern{}, errors.New(`the pattern is empty; "*" matches everything`)
	case n > MaxLength:
		return Pattern{}, fmt.Errorf("the pattern has %d characters, more than %d", n, MaxLength)
	}
	if expr, ok := strings.CutPrefix(text, expression); ok {
		re, err := regexp.Compile(expr)
		if err != nil {
			return Pattern{}, fmt.Errorf("the pattern is no regular expression: %w", err)
		}
		return Pattern{whole: re}, nil
	}
	return glob(text)
}

// glob writes the pattern as two expressions: abc* as abc.* for all of a text, and as (a(b(c.*)?)?)? for its beginning.
func glob(text string) (Pattern, error) {
	var whole, begun strings.Builder
	depth := 0
	for _, r := range text {
		token := regexp.QuoteMeta(string(r))
		switch r {
		case '*':
			token = ".*"
		case '?':
			token = "."
		}
		whole.WriteString(token)
		begun.WriteString("(?:" + token)
		depth++
	}
	begun.WriteString(strings.Repeat(")?", depth))
	w, err := regexp.Compile(`(?s)\A` + whole.String() + `\z`)
	if err != nil {
		return Pattern{}, fmt.Errorf("the pattern is not valid: %w", err)
	}
	b, err := regexp.Compile(`(?s)\A` + begun.String() + `\z`)
	if err != nil {
		return Pattern{}, fmt.Errorf("the pattern is not valid: %w", err)
	}
	return Pattern{whole: w, begun: b, open: strings.HasSuffix(text, "*")}, nil
}

// Match reports whether the text matches.
func (p Pattern) Match(text string) bool { return p.whole != nil && p.whole.MatchString(text) }

// MayMatch reports whether a text that begins so can match. Of an expression that is always assumed.
func (p Pattern) MayMatch(beginning string) bool {
	return p.whole != nil && (p.begun == nil || p.begun.MatchString(beginning))
}

// MatchesAll reports whether every text that begins so is known to match.
func (p Pattern) MatchesAll(beginning string) bool { return p.open && p.Match(beginning) }

// Set is a list of patterns.
type Set []Pattern

// CompileAll reads several patterns. The error names the one that is wrong.
func CompileAll(texts []string) (Set, error) {
	set := make(Set, len(texts))
	for i, text := range texts {
		var err error
		if set[i], err = Compile(text); err != nil {
			return nil, fmt.Errorf("%.60q: %w", text, err)
		}
	}
	return set, nil
}

// Match reports whether one of the patterns matches.
func (s Set) Match(text string) bool {
	return slices.ContainsFunc(s, func(p Pattern) bool { return p.Match(text) })
}

// Package inert makes text from models, tools and files harmless to a terminal: escape sequences, other control
// characters and direction overrides are taken out, invalid UTF-8 is replaced. Tabs and line feeds stay.
package inert

import (
	"strings"
	"unicode/utf8"
)

// Text returns s without anything that a terminal would obey. A string that is harmless is returned as it is.
func Text(s string) string {
	if harmless(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		if n := escape(s); n > 0 {
			s = s[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteRune(utf8.RuneError)
		case !control(r):
			b.WriteRune(r)
		}
		s = s[n:]
	}
	return b.String()
}

// Line is Text with line feeds, carriage returns and tabs made blanks.
func Line(s string) string {
	return strings.Join(strings.Fields(Text(strings.ReplaceAll(s, "\r", "\n"))), " ")
}

func harmless(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || control(r) })
}

// control reports the characters that are dropped: C0 but tab and line feed, DEL, C1, and the bidirectional
// embeddings, overrides and isolates (Unicode Standard Annex 9).
func control(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r <= 0x9f:
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}

// escape returns the length of the escape sequence that s starts with (ECMA-48): CSI, the string sequences OSC, DCS,
// SOS, PM and APC up to their terminator, and the two-byte ones; 0 if s starts with none.
func escape(s string) int {
	if s[0] != 0x1b {
		return 0
	}
	if len(s) == 1 {
		return 1
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x7e {
				return i
			}
		}
		return len(s)
	case ']', 'P', 'X', '^', '_':
		return stringSequence(s)
	}
	if s[1] < 0x20 || s[1] > 0x7e {
		return 1
	}
	return 2
}

// stringSequence ends at BEL or ESC \. One that does not end on its line is only its introducer, so that a stray byte
// cannot swallow the text behind it.
func stringSequence(s string) int {
	for i := 2; i < len(s); i++ {
		switch s[i] {
		case 0x07:
			return i + 1
		case 0x1b:
			if i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
			return i
		case '\n':
			return 2
		}
	}
	return len(s)
}

// Package excerpt cuts text at whole characters, for people and models: a character is a code point, and a byte that is
// no UTF-8 counts as one and stays as it is. [Bound] counts bytes, for limits of memory and not of looks.
package excerpt

import (
	"strings"
	"unicode/utf8"
)

// First returns the first n characters of s: all of it if it has no more, and nothing if n is not positive.
func First(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// Last returns the last n characters of s: all of it if it has no more, and nothing if n is not positive.
func Last(s string, n int) string {
	for i := len(s); i > 0; {
		if n--; n < 0 {
			return s[i:]
		}
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s
}

// Clip cuts s to n characters, n being at least 1; of a text that is longer the last one is an ellipsis.
func Clip(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	return First(s, n-1) + "…"
}

// Bound cuts s after the last whole character within its first n bytes and marks the cut by an ellipsis, which comes on
// top. Bytes that are no UTF-8 go with the cut part.
func Bound(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:max(n, 0)], "") + "…"
}

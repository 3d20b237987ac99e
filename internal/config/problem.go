package config

import (
	"fmt"
	"slices"
	"strings"
)

// Error is something wrong in a configuration file.
type Error struct {
	File string
	// Line counts from 1; 0 means the whole file.
	Line int
	// Key is the path of the key, such as "models[0].timeout"; empty for the whole file.
	Key string
	// Text says what is wrong and what is allowed.
	Text string
}

func (e *Error) Error() string { return place(e.File, e.Line, e.Key) + e.Text }

// Warning is something in a configuration file that works otherwise than it reads, or not at all.
type Warning Error

// String is one line for people.
func (w Warning) String() string { return place(w.File, w.Line, w.Key) + w.Text }

func place(file string, line int, key string) string {
	s := file
	if line > 0 {
		s += fmt.Sprintf(":%d", line)
	}
	if s != "" {
		s += ": "
	}
	if key != "" {
		s += key + ": "
	}
	return s
}

// suggest returns `; did you mean "x"?` for the known word next to word, or nothing when none is near.
func suggest(word string, known []string) string {
	best := Near(word, known, max(2, len(word)/3))
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// Near is the known word next to word, with at most so many letters to change, whatever their case; empty if there is
// none.
func Near(word string, known []string, most int) (best string) {
	at := most + 1
	for _, k := range slices.Sorted(slices.Values(known)) {
		if d := distance(word, k, at); d < at {
			best, at = k, d
		}
	}
	return best
}

// distance is the edit distance of two short words, or limit when it is that far or more.
func distance(a, b string, limit int) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(a) > 64 || len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], limit)
}

func firstError(old, err error) error {
	if old != nil {
		return old
	}
	return err
}

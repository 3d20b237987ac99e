package shell

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
)

// captured is what a command printed until it ended.
type captured struct {
	streams [2]stream
	log     string // the file with all of it; "" if there is none
	full    bool   // and it really is all
}

// text returns stdout, stderr and the end, cut in the middle to limit characters, and whether it was cut.
func (c captured) text(limit int, end string) (string, bool) {
	var v view
	v.stream(&c.streams[0])
	if c.streams[1].total > 0 {
		if c.streams[0].total > 0 {
			v.add("\nStd Error:\n")
		}
		v.stream(&c.streams[1])
	}
	v.add(end)
	return v.cut(limit)
}

// view is a text of which the middle may be missing: head and tail are its two ends, and the whole of it, joined, as
// long as nothing is missing.
type view struct {
	head, tail strings.Builder
	gap        bool
	total      int // characters of the whole text
}

func (v *view) add(s string) {
	v.total += utf8.RuneCountInString(s)
	if v.gap {
		v.tail.WriteString(s)
		return
	}
	v.head.WriteString(s)
}

func (v *view) stream(s *stream) {
	tail := string(s.tail)
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) { // it may have been cut inside of a character
		tail = tail[1:]
	}
	v.add(s.head.String())
	if gap := s.total - s.inHead - utf8.RuneCountInString(tail); gap > 0 {
		v.gap = true
		v.tail.Reset()
		v.total += gap
	}
	v.add(tail)
}

// cut leaves out of the middle what is more than limit.
func (v *view) cut(limit int) (string, bool) {
	head, tail := v.head.String(), v.tail.String()
	if v.total <= limit && !v.gap {
		return head, false
	}
	if !v.gap {
		tail = head
	}
	keep := max(limit-len(marker(v.total)), 0) // no marker is longer than that of everything
	head, tail = excerpt.First(head, keep/2), excerpt.Last(tail, keep-keep/2)
	skipped := v.total - utf8.RuneCountInString(head) - utf8.RuneCountInString(tail)
	return head + marker(skipped) + tail, true
}

func marker(skipped int) string {
	return fmt.Sprintf("\n... [middle truncated: %d chars skipped] ...\n", skipped)
}

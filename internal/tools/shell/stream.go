package shell

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/inert"
)

// stream is one stream: its start and its end, limit characters each, and how many there were.
type stream struct {
	limit   int
	pending []byte // an unfinished line
	head    strings.Builder
	inHead  int // characters
	tail    []byte
	total   int
}

// clean takes raw output and returns what can be shown of it: whole lines, so that no escape sequence is cut in two, or
// with now everything. Carriage returns end a line, which is about what they do to a progress bar.
func (s *stream) clean(b []byte, now bool) string {
	const longest = 64 << 10
	s.pending = append(s.pending, b...)
	cut := len(s.pending)
	if !now {
		cut = bytes.LastIndexAny(s.pending[:max(cut-1, 0)], "\r\n") + 1 // behind a last \r there may come a \n
		if n := len(s.pending); n > 0 && s.pending[n-1] == '\n' {
			cut = n
		}
	}
	if cut == 0 && len(s.pending) > longest {
		cut = len(s.pending)
	}
	return s.take(wholeRunes(s.pending, cut))
}

// begun returns what can be shown of an unfinished line: all but the beginning of an escape sequence, of a character,
// or of a line's end.
func (s *stream) begun() string {
	cut := len(s.pending)
	if i := bytes.LastIndexByte(s.pending, 0x1b); i >= 0 && unfinished(s.pending[i:]) {
		cut = i
	}
	if cut > 0 && s.pending[cut-1] == '\r' {
		cut--
	}
	return s.take(wholeRunes(s.pending, cut))
}

// unfinished reports whether an escape sequence may go on.
func unfinished(seq []byte) bool {
	if len(seq) < 2 {
		return true
	}
	switch seq[1] {
	case '[':
		return !bytes.ContainsFunc(seq[2:], func(r rune) bool { return r >= 0x40 && r <= 0x7e })
	case ']', 'P', 'X', '^', '_':
		return bytes.IndexByte(seq, 0x07) < 0
	}
	return false
}

// take removes the first n bytes of the unfinished line and returns what can be shown of them.
func (s *stream) take(n int) string {
	text := lineFeeds(string(s.pending[:n]))
	s.pending = append(s.pending[:0], s.pending[n:]...)
	return inert.Text(text)
}

// wholeRunes returns the length of the part of b[:n] that does not end inside of a character.
func wholeRunes(b []byte, n int) int {
	for k := 1; k < utf8.UTFMax && k <= n; k++ {
		if utf8.RuneStart(b[n-k]) {
			if !utf8.FullRune(b[n-k : n]) {
				return n - k
			}
			break
		}
	}
	return n
}

func lineFeeds(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// rest returns the unfinished line.
func (s *stream) rest() string { return s.take(len(s.pending)) }

func (s *stream) keep(text string) {
	n := utf8.RuneCountInString(text)
	s.total += n
	if room := s.limit - s.inHead; room > 0 {
		part := excerpt.First(text, room)
		s.head.WriteString(part)
		s.inHead += min(n, room)
		text = text[len(part):]
	}
	s.tail = append(s.tail, text...)
	if most := s.limit * utf8.UTFMax; len(s.tail) > 2*most {
		s.tail = append(s.tail[:0], s.tail[len(s.tail)-most:]...)
	}
}

package cli

import (
	"fmt"
	"io"
	"strings"
)

// screen draws what still changes: lines above the cursor, and a status line at it. What is not under the last lines of
// the terminal cannot be changed any more and stays as it is.
type screen struct {
	io     IO
	lines  []string // drawn, and may still change
	status bool     // a status line is at the cursor
}

// draw puts lines into the place of those that may still change.
func (s *screen) draw(w io.Writer, lines []string) {
	s.hush()
	same := 0
	for same < min(len(s.lines), len(lines)) && s.lines[same] == lines[same] {
		same++
	}
	up := s.rows(s.lines[same:])
	for up > s.height()-2 {
		up -= s.rows(s.lines[same : same+1])
		same++
	}
	var b strings.Builder
	if up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r\x1b[J", up)
	}
	for _, line := range lines[min(same, len(lines)):] {
		b.WriteString(line + "\n")
	}
	if b.Len() > 0 {
		_, _ = io.WriteString(w, b.String())
	}
	s.lines = lines
}

// keep leaves the lines as they are, for good.
func (s *screen) keep() { s.lines = nil }

// say shows a status line.
func (s *screen) say(text string) {
	fmt.Fprint(s.io.Err, "\r\x1b[K"+s.io.errStyle().dim(clip(text, s.io.columns()-1)))
	s.status = true
}

// hush takes the status line away.
func (s *screen) hush() {
	if s.status {
		fmt.Fprint(s.io.Err, "\r\x1b[K")
		s.status = false
	}
}

// rows counts the rows of the terminal that lines take.
func (s *screen) rows(lines []string) (total int) {
	for _, line := range lines {
		total += max(1, (width(line)+s.io.columns()-1)/s.io.columns())
	}
	return total
}

func (s *screen) height() int {
	if s.io.Height <= 0 {
		return 24
	}
	return s.io.Height
}

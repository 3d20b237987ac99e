package host

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// pair says which path is replaced by which.
type pair struct{ from, to string }

// longestFirst sorts so that the most special path is tried first.
func longestFirst(pairs []pair) {
	slices.SortStableFunc(pairs, func(a, b pair) int { return len(b.from) - len(a.from) })
}

// inName reports whether c can be part of a file name in running text: a path that goes on like that is another path,
// as /mnt/user-data-backup is.
func inName(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' || c == '.' ||
		c >= 0x80
}

// translate replaces all whole paths in text.
func translate(text string, pairs []pair) string {
	var out strings.Builder
	m := &masker{to: &out, pairs: pairs}
	_, _ = io.WriteString(m, text) // into memory
	m.flush()
	return out.String()
}

// masker replaces paths in a stream, wherever the pieces are cut. It holds back only what may be the beginning of a
// path.
type masker struct {
	to      io.Writer
	pairs   []pair
	pending []byte
	last    byte // the byte before pending
	failed  bool
}

// Write never fails for its reader: once the writer behind does, the rest is discarded.
func (m *masker) Write(p []byte) (int, error) {
	m.pending = append(m.pending, p...)
	m.advance(false)
	return len(p), nil
}

func (m *masker) flush() { m.advance(true) }

// advance passes on what is decided; at the end everything is.
func (m *masker) advance(end bool) {
	var out []byte
	rest := m.pending
	take := func(n int) {
		if n > 0 {
			m.last = rest[n-1]
			out, rest = append(out, rest[:n]...), rest[n:]
		}
	}
	for len(rest) > 0 {
		slash := bytes.IndexByte(rest, '/')
		if slash < 0 {
			take(len(rest))
			break
		}
		take(slash)
		if inName(m.last) || m.last == '/' {
			take(1)
			continue
		}
		found, open := m.match(rest, end)
		if open {
			break
		}
		if found == nil {
			take(1)
			continue
		}
		out, rest = append(out, found.to...), rest[len(found.from):]
		m.last = found.from[len(found.from)-1]
	}
	m.pending = append(m.pending[:0], rest...)
	m.send(out)
}

// match finds the path that rest begins with; open means that more is needed to tell.
func (m *masker) match(rest []byte, end bool) (found *pair, open bool) {
	for i, p := range m.pairs {
		switch {
		case len(rest) > len(p.from):
			if string(rest[:len(p.from)]) == p.from && !inName(rest[len(p.from)]) {
				return &m.pairs[i], false
			}
		case end:
			if string(rest) == p.from {
				return &m.pairs[i], false
			}
		case strings.HasPrefix(p.from, string(rest)):
			return nil, true
		}
	}
	return nil, false
}

func (m *masker) send(p []byte) {
	if len(p) == 0 || m.failed {
		return
	}
	if _, err := m.to.Write(p); err != nil {
		m.failed = true
	}
}

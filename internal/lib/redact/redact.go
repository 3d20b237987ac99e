// Package redact takes secrets out of what others will read: texts, JSON, errors, and streams of bytes that come in
// pieces.
//
//	New(values) -> Text, JSON, Error -> what is known stands there as [redacted]
//	            -> Stream -> the same for bytes as they come, also where a value is cut in two
//
// It finds values as they are. Who turns a value into something else, such as its base64, has got by.
package redact

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

const (
	// Mark stands in the place of a value.
	Mark = "[redacted]"
	// Shortest is how long a value must be to be looked for, in bytes: a shorter one may stand anywhere by chance.
	Shortest = 8
)

// Redactor knows values. The zero value knows none. It may be used from any goroutine.
type Redactor struct {
	needles []string // the longest first: one may be a part of another
	replace *strings.Replacer
	json    *strings.Replacer
}

// New makes a redactor of values. Of one that has several lines each line counts for itself, as it is printed indented,
// or in part.
func New(values []string) Redactor {
	var needles []string
	for _, v := range values {
		needles = append(needles, strings.TrimSpace(v))
		for line := range strings.Lines(v) {
			needles = append(needles, strings.TrimSpace(line))
		}
	}
	needles = slices.DeleteFunc(needles, func(n string) bool { return len(n) < Shortest })
	slices.SortFunc(needles, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	needles = slices.Compact(needles)
	if len(needles) == 0 {
		return Redactor{}
	}
	var plain, inJSON []string
	for _, n := range needles {
		plain = append(plain, n, Mark)
		inJSON = append(inJSON, escaped(n, true), Mark, escaped(n, false), Mark)
	}
	return Redactor{needles, strings.NewReplacer(plain...), strings.NewReplacer(inJSON...)}
}

// escaped is a text as it stands within a string of JSON.
func escaped(s string, html bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	_ = e.Encode(s) // a string can be encoded
	return strings.Trim(strings.TrimSpace(b.String()), `"`)
}

// Empty reports whether there is nothing to look for.
func (r Redactor) Empty() bool { return len(r.needles) == 0 }

// Text is a text without the values.
func (r Redactor) Text(s string) string {
	if r.Empty() {
		return s
	}
	return r.replace.Replace(s)
}

// JSON is a document without the values in its strings.
func (r Redactor) JSON(raw json.RawMessage) json.RawMessage {
	if r.Empty() || len(raw) == 0 {
		return raw
	}
	return json.RawMessage(r.json.Replace(string(raw)))
}

// Error is an error whose text has none of the values. What it wraps stays what it is.
func (r Redactor) Error(err error) error {
	if err == nil || r.Empty() {
		return err
	}
	text := err.Error()
	if clean := r.Text(text); clean != text {
		return &redacted{clean, err}
	}
	return err
}

type redacted struct {
	text string
	err  error
}

func (e *redacted) Error() string { return e.text }
func (e *redacted) Unwrap() error { return e.err }

// Stream redacts bytes that come in pieces. It holds back what may be the beginning of a value, so it is for one stream
// alone.
type Stream struct {
	of   Redactor
	held []byte
}

// Stream begins a stream.
func (r Redactor) Stream() *Stream { return &Stream{of: r} }

// Next takes a piece, and returns what can be passed on by now.
func (s *Stream) Next(piece []byte) []byte {
	if s.of.Empty() {
		return piece
	}
	s.held = append(s.held, piece...)
	return s.pass(s.begun())
}

// Rest is what was held back; nothing comes after it.
func (s *Stream) Rest() []byte { return s.pass(len(s.held)) }

// pass redacts the first n bytes that are held, and lets them go.
func (s *Stream) pass(n int) []byte {
	if n == 0 {
		return nil
	}
	out := []byte(s.of.Text(string(s.held[:n])))
	s.held = append(s.held[:0], s.held[n:]...)
	return out
}

// begun is where the first value begins that may go on with the next piece: all of what is held if none does.
func (s *Stream) begun() int {
	from := max(0, len(s.held)-len(s.of.needles[0])+1)
	for at := from; at < len(s.held); at++ {
		tail := s.held[at:]
		if slices.ContainsFunc(s.of.needles,
			func(n string) bool { return len(n) > len(tail) && n[:len(tail)] == string(tail) }) {
			return s.clear(at)
		}
	}
	return len(s.held)
}

// clear is at, or where a whole value begins that reaches over it: that one is passed on with what it may be a part of.
func (s *Stream) clear(at int) int {
	for _, n := range s.of.needles {
		from := max(0, at-len(n)+1)
		if i := bytes.Index(s.held[from:], []byte(n)); i >= 0 && from+i < at && from+i+len(n) > at {
			return s.clear(from + i)
		}
	}
	return at
}

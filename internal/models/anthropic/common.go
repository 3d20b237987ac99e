package anthropic

import (
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/rawjson"
)

// Nearly every event of an answer is a piece of a block: three members with plain values. Such events are read here in
// one pass that allocates the text alone. encoding/json does the rest, and defines what is read here: FuzzCommon
// compares the two.

// common fills an empty event from a piece of a block. It reports false, leaving ev half filled, for anything else.
func common(data []byte, ev *event) bool {
	s := scanner{rest: data}
	s.object(func(key []byte) {
		switch string(key) {
		case "type":
			s.want("content_block_delta")
			ev.Type = "content_block_delta"
		case "index":
			ev.Index = s.digits()
		case "delta":
			s.object(func(key []byte) { s.delta(&ev.Delta, key) })
		default:
			s.fail()
		}
	})
	return !s.odd && s.peek() == 0 && len(s.rest) == 0 && ev.Type != ""
}

func (s *scanner) delta(d *delta, key []byte) {
	switch string(key) {
	case "type":
		d.Type = s.kind()
	case "text":
		d.Text = s.text()
	case "thinking":
		d.Thinking = s.text()
	case "partial_json":
		d.PartialJSON = s.text()
	default:
		s.fail()
	}
}

// kind is the type of a common piece.
func (s *scanner) kind() string {
	kind := s.plain()
	for _, known := range []string{"text_delta", "thinking_delta", "input_json_delta"} {
		if string(kind) == known {
			return known
		}
	}
	s.fail()
	return ""
}

// scanner walks over JSON. Once it meets something out of the common it is odd, and what it returns means nothing.
type scanner struct {
	rest []byte
	odd  bool
}

// fail leaves nothing to read, so that every loop ends.
func (s *scanner) fail() { s.odd, s.rest = true, nil }

// object reads an object with at least one member.
func (s *scanner) object(member func(key []byte)) {
	s.expect('{')
	for !s.odd {
		s.peek()
		key := s.plain()
		s.expect(':')
		s.peek()
		member(key)
		if s.peek() != ',' {
			break
		}
		s.rest = s.rest[1:]
	}
	s.expect('}')
}

// peek skips spaces and returns the next byte, or 0 at the end.
func (s *scanner) peek() byte {
	for i, c := range s.rest {
		if c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			s.rest = s.rest[i:]
			return c
		}
	}
	s.rest = nil
	return 0
}

func (s *scanner) expect(c byte) {
	if s.peek() != c {
		s.fail()
		return
	}
	s.rest = s.rest[1:]
}

func (s *scanner) want(value string) {
	if string(s.plain()) != value {
		s.fail()
	}
}

// plain is the content of a string without escapes.
func (s *scanner) plain() []byte {
	raw, escaped := s.quoted()
	if escaped || len(raw) < 2 {
		s.fail()
		return nil
	}
	return raw[1 : len(raw)-1]
}

// text is the content of a string.
func (s *scanner) text() string {
	raw, escaped := s.quoted()
	if !escaped && len(raw) >= 2 {
		return string(raw[1 : len(raw)-1])
	}
	text, ok := rawjson.String(raw)
	if !ok {
		s.fail()
	}
	return text
}

// quoted takes a string with its quotes and tells whether it has escapes. Control characters,
// escapes by number and bytes that are not UTF-8 are out of the common.
func (s *scanner) quoted() (raw []byte, escaped bool) {
	if len(s.rest) == 0 || s.rest[0] != '"' {
		s.fail()
		return nil, false
	}
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '"':
			raw, s.rest = s.rest[:i+1], s.rest[i+1:]
			if !utf8.Valid(raw) {
				s.fail()
			}
			return raw, escaped
		case c == '\\':
			escaped = true
			if i++; i == len(s.rest) || strings.IndexByte(`"\/bfnrt`, s.rest[i]) < 0 {
				s.fail()
				return nil, false
			}
		case c < ' ':
			s.fail()
			return nil, false
		}
	}
	s.fail()
	return nil, false
}

// digits is a number from 0 to 9,999.
func (s *scanner) digits() int {
	n, i := 0, 0
	for i < len(s.rest) && i < 4 && s.rest[i] >= '0' && s.rest[i] <= '9' {
		n = n*10 + int(s.rest[i]-'0')
		i++
	}
	if i == 0 || i > 1 && s.rest[0] == '0' {
		s.fail()
		return 0
	}
	s.rest = s.rest[i:]
	return n
}

package openai

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Nearly every event of an answer has one shape: one choice, a delta of plain strings or pieces of tool calls, and beside
// it numbers, words and strings of no interest. Such events, and such pieces, are read here in one pass that allocates
// next to nothing. encoding/json does the rest, and defines what is read here: FuzzCommonEvent and FuzzCommonCall
// compare the two.

// common fills an empty event from data whose values it then shares. It reports false, leaving ev half filled, for
// anything out of the common, be it valid or not.
func common(data []byte, ev *event) bool {
	s := scanner{rest: data}
	s.expect('{')
	for key := s.first(); key != nil; key = s.next() {
		switch string(key) {
		case "choices":
			s.choices(ev)
		case "usage":
			s.null()
		case "error":
			ev.Error = s.null()
		case "id":
			ev.ID = s.scalar()
		case "model":
			ev.Model = s.scalar()
		case "system_fingerprint":
			ev.Fingerprint = s.scalar()
		default:
			s.scalar()
		}
	}
	return !s.odd && s.peek() == 0 && len(s.rest) == 0
}

// commonCall fills an empty piece of a tool call from raw, in the way of [common]: nothing in it is unknown.
func commonCall(raw []byte, d *callDelta) bool {
	s := scanner{rest: raw}
	s.expect('{')
	for key := s.first(); key != nil; key = s.next() {
		switch string(key) {
		case "index":
			s.index(d)
		case "id":
			d.ID = s.plain(d.ID)
		case "type":
			s.scalar()
		case "function":
			s.function(d)
		default:
			s.fail()
		}
	}
	return !s.odd && s.peek() == 0 && len(s.rest) == 0
}

func (s *scanner) function(d *callDelta) {
	s.expect('{')
	for key := s.first(); key != nil; key = s.next() {
		switch string(key) {
		case "name":
			d.Function.Name = s.plain(d.Function.Name)
		case "arguments":
			d.Function.Arguments = s.scalar()
		default:
			s.fail()
		}
	}
}

// scanner walks over JSON. Once it meets something out of the common it is odd, and what it returns means nothing.
type scanner struct {
	rest []byte
	odd  bool
}

// fail leaves nothing to read, so that every loop ends.
func (s *scanner) fail() { s.odd, s.rest = true, nil }

// choices reads a list of one choice.
func (s *scanner) choices(ev *event) {
	if len(ev.Choices) > 0 { // a second list would be merged with the first
		s.fail()
		return
	}
	ev.Choices = append(ev.Choices, choice{})
	s.expect('[')
	s.choice(&ev.Choices[0])
	s.expect(']')
}

func (s *scanner) choice(c *choice) {
	s.expect('{')
	for key := s.first(); key != nil; key = s.next() {
		switch string(key) {
		case "delta":
			s.delta(&c.Delta)
		case "index":
			s.word("0")
		case "finish_reason":
			c.FinishReason = s.plain(c.FinishReason)
		case "message", "usage":
			s.null()
		default:
			s.scalar()
		}
	}
}

func (s *scanner) delta(d *delta) {
	s.expect('{')
	for key := s.first(); key != nil; key = s.next() {
		switch string(key) {
		case "content":
			d.Content = s.scalar()
		case "refusal":
			d.Refusal = s.scalar()
		case "reasoning_content":
			d.ReasoningContent = s.scalar()
		case "reasoning":
			d.Reasoning = s.scalar()
		case "tool_calls":
			s.calls(d)
		case "function_call":
			d.FunctionCall = s.null()
		case "reasoning_details":
			s.null()
		default:
			s.scalar()
		}
	}
}

// calls reads a list of pieces without looking into them.
func (s *scanner) calls(d *delta) {
	if len(d.ToolCalls) > 0 { // a second list would be merged with the first
		s.fail()
		return
	}
	if s.peek() == 'n' {
		s.null()
		return
	}
	s.expect('[')
	for s.odd = s.odd || s.peek() == ']'; !s.odd; {
		d.ToolCalls = append(d.ToolCalls, s.value(maxCommonDepth))
		if s.peek() != ',' {
			break
		}
		s.rest = s.rest[1:]
	}
	s.expect(']')
}

// maxCommonDepth is how deep objects of a piece may nest to be common.
const maxCommonDepth = 4

// value reads a scalar or an object of values.
func (s *scanner) value(depth int) []byte {
	if s.peek() != '{' {
		return s.scalar()
	}
	if depth == 0 {
		s.fail()
		return nil
	}
	whole := s.rest
	s.rest = s.rest[1:]
	for key := s.first(); key != nil; key = s.next() {
		s.value(depth - 1)
	}
	n := len(whole) - len(s.rest)
	return whole[:n:n]
}

// index reads a small number.
func (s *scanner) index(d *callDelta) {
	digits := s.scalar()
	if len(digits) != 1 || digits[0] < '0' || digits[0] > '9' {
		s.fail()
		return
	}
	i := int(digits[0] - '0')
	d.Index = &i
}

// plain reads a string without escapes, or null, which leaves was.
func (s *scanner) plain(was string) string {
	if s.peek() == 'n' {
		s.null()
		return was
	}
	raw := s.take(stringEnd(s.rest))
	if bytes.IndexByte(raw, '\\') >= 0 || !utf8.Valid(raw) || len(raw) < len(`""`) {
		s.fail()
		return ""
	}
	return string(raw[1 : len(raw)-1])
}

// peek skips space and returns the byte behind it, or 0 at the end.
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

func (s *scanner) expect(want byte) {
	if s.peek() != want {
		s.fail()
		return
	}
	s.rest = s.rest[1:]
}

// first returns the first key of an object whose brace was just read, nil if it has none.
func (s *scanner) first() []byte {
	if s.peek() == '}' {
		s.rest = s.rest[1:]
		return nil
	}
	return s.key()
}

// next returns the next key of the object, nil behind the last one.
func (s *scanner) next() []byte {
	if s.peek() != ',' {
		s.expect('}')
		return nil
	}
	s.rest = s.rest[1:]
	return s.key()
}

// key reads a key and its colon. Only small letters, digits and underscores are common: the decoder takes "Choices"
// for "choices" too, and these cannot be mistaken.
func (s *scanner) key() []byte {
	s.peek()
	n := stringEnd(s.rest)
	if n < len(`"x"`) {
		s.fail()
		return nil
	}
	key := s.rest[1 : n-1]
	for _, c := range key {
		if (c < 'a' || c > 'z') && c != '_' && (c < '0' || c > '9') {
			s.fail()
			return nil
		}
	}
	s.rest = s.rest[n:]
	s.expect(':')
	return key
}

// scalar reads a string, a whole number or a word.
func (s *scanner) scalar() []byte {
	switch s.peek() {
	case '"':
		return s.take(stringEnd(s.rest))
	case 'n':
		return s.null()
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	}
	n := 0
	for n < len(s.rest) && s.rest[n] >= '0' && s.rest[n] <= '9' {
		n++
	}
	if n > 1 && s.rest[0] == '0' {
		n = 0
	}
	return s.take(n)
}

func (s *scanner) null() []byte { return s.word("null") }

// word reads exactly this value. What may follow it, such as the rest of a longer number, is odd to the caller.
func (s *scanner) word(want string) []byte {
	s.peek()
	if !bytes.HasPrefix(s.rest, []byte(want)) {
		return s.take(0)
	}
	return s.take(len(want))
}

// take cuts off the next n bytes; none is odd.
func (s *scanner) take(n int) []byte {
	if n == 0 {
		s.fail()
		return nil
	}
	value := s.rest[:n:n]
	s.rest = s.rest[n:]
	return value
}

// stringEnd is the length of the JSON string that b begins with, or 0 if there is no valid one.
func stringEnd(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return 0
	}
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return 0
		case c == '\\':
			n := escapeLen(b[i+1:])
			if n == 0 {
				return 0
			}
			i += n
		}
	}
	return 0
}

// escapeLen is the length of what stands behind a backslash, or 0 if it is no escape.
func escapeLen(b []byte) int {
	if len(b) == 0 || strings.IndexByte(`"\/bfnrtu`, b[0]) < 0 {
		return 0
	}
	if b[0] != 'u' {
		return 1
	}
	if len(b) < 5 {
		return 0
	}
	for _, c := range b[1:5] {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return 0
		}
	}
	return 5
}

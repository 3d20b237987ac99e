package rawjson

import "bytes"

// Scanner walks over JSON once, from the front, copies nothing and checks all that it walks over. It serves those who
// read thousands of small values of a known shape, such as the events of a model's answer, for which encoding/json is
// too slow. The caller asks for what it expects; the first thing that is not as expected, or no JSON, fails the
// scanner. From then on its loops end and what it returns means nothing, so that only [Scanner.End] needs to be asked
// whether all went well. Make one with [Scan].
//
//	for key := s.Object(); key != nil; key = s.Next() {
//		switch string(key) {
//		case "text":
//			text = s.Text()
//		default:
//			s.Value()
//		}
//	}
type Scanner struct {
	data   []byte
	at     int // never before a space
	failed bool
}

// Scan begins to walk over data, whose memory the results share.
func Scan(data []byte) Scanner { return Scanner{data: data, at: skipSpace(data, 0)} }

// Valid is that of encoding/json, which takes several times as long.
func Valid(data []byte) bool {
	s := Scan(data)
	s.skip(maxDepth)
	return s.End()
}

// Fail says that the value is not what the caller can read.
func (s *Scanner) Fail() { s.failed, s.at = true, len(s.data) }

// End reports whether everything was read, and was as expected.
func (s *Scanner) End() bool { return s.Peek() == 0 && s.at == len(s.data) && !s.failed }

// Peek returns the first byte of what comes next, which tells the kind of a value; 0 at the end.
func (s *Scanner) Peek() byte {
	if s.at < len(s.data) {
		return s.data[s.at]
	}
	return 0
}

// step goes on behind the next byte.
func (s *Scanner) step() { s.to(s.at + 1) }

// to goes on at an index, or at the first byte from there that is no space.
func (s *Scanner) to(i int) {
	if i < len(s.data) && s.data[i] <= ' ' {
		i = skipSpace(s.data, i)
	}
	s.at = i
}

// Object steps into an object and returns the name of its first member as it is written, with its escapes; nil if it
// has none. The member's value comes next.
func (s *Scanner) Object() []byte {
	s.expect('{')
	if s.Peek() == '}' {
		s.step()
		return nil
	}
	return s.name()
}

// Next returns the name of the object's next member, or steps out of the object and returns nil.
func (s *Scanner) Next() []byte {
	if s.Peek() == ',' {
		s.step()
		return s.name()
	}
	s.expect('}')
	return nil
}

func (s *Scanner) name() []byte {
	name := s.take(s.stringEnd())
	s.expect(':')
	if s.failed {
		return nil
	}
	return name[1 : len(name)-1]
}

// List steps into a list and reports whether it has an element, which comes next.
func (s *Scanner) List() bool {
	s.expect('[')
	if s.Peek() == ']' {
		s.step()
		return false
	}
	return !s.failed
}

// More reports whether the list has another element, or steps out of the list.
func (s *Scanner) More() bool {
	if s.Peek() == ',' {
		s.step()
		return true
	}
	s.expect(']')
	return false
}

// maxDepth is how deep values may nest, as in encoding/json.
const maxDepth = 10000

// Value reads a value of any kind and returns it as it is written.
func (s *Scanner) Value() []byte {
	from := s.at
	s.skip(maxDepth)
	return s.Since(from)
}

// At is where what comes next begins, for Since.
func (s *Scanner) At() int { return s.at }

// Since returns the value that began at an index and was just read.
func (s *Scanner) Since(from int) []byte {
	if s.failed {
		return nil
	}
	end := s.at
	for s.data[end-1] <= ' ' { // no value ends with a space
		end--
	}
	return s.data[from:end:end]
}

func (s *Scanner) skip(depth int) {
	switch s.Peek() {
	case '"':
		s.take(s.stringEnd())
	case '{', '[':
		s.nested(depth)
	case 't':
		s.word("true")
	case 'f':
		s.word("false")
	case 'n':
		s.word("null")
	default:
		s.take(numberEnd(s.data, s.at))
	}
}

func (s *Scanner) nested(depth int) {
	if depth == 0 {
		s.Fail()
		return
	}
	if s.data[s.at] == '[' {
		for more := s.List(); more && !s.failed; more = s.More() {
			s.skip(depth - 1)
		}
		return
	}
	for name := s.Object(); name != nil; name = s.Next() {
		s.skip(depth - 1)
	}
}

// Null reads null.
func (s *Scanner) Null() []byte {
	return s.word("null")
}

// Text reads a string and returns its content, as [String] does.
func (s *Scanner) Text() string {
	text, ok := String(s.take(s.stringEnd()))
	if !ok {
		s.Fail()
	}
	return text
}

// Int reads a whole number from 0 to 999,999,999.
func (s *Scanner) Int() int {
	raw := s.take(numberEnd(s.data, s.at))
	n := 0
	for _, c := range raw {
		if c < '0' || c > '9' {
			s.Fail()
			return 0
		}
		n = 10*n + int(c-'0')
	}
	if len(raw) > 9 {
		s.Fail()
		return 0
	}
	return n
}

func (s *Scanner) expect(want byte) {
	if s.Peek() != want {
		s.Fail()
		return
	}
	s.step()
}

// word reads exactly these letters. If it is a longer word, what comes behind it is not what anyone expects.
func (s *Scanner) word(want string) []byte {
	if !bytes.HasPrefix(s.data[s.at:], []byte(want)) {
		s.Fail()
		return nil
	}
	return s.take(s.at + len(want))
}

// take reads up to an index; none, which is 0, fails.
func (s *Scanner) take(end int) []byte {
	if end <= s.at {
		s.Fail()
		return nil
	}
	value := s.data[s.at:end:end]
	s.to(end)
	return value
}

// stringEnd is the index behind the string that comes next, or 0 if there is no valid one.
func (s *Scanner) stringEnd() int {
	data := s.data
	if s.at >= len(data) || data[s.at] != '"' {
		return 0
	}
	for i := s.at + 1; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			return i + 1
		case c == '\\':
			n := escapeLen(data[i+1:])
			if n == 0 {
				return 0
			}
			i += n
		case c < ' ':
			return 0
		}
	}
	return 0
}

// escapeLen is the length of what stands behind a backslash, or 0 if it is no escape.
func escapeLen(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1
	case 'u':
	default:
		return 0
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

// numberEnd is the index behind the number that begins at i, or 0 if there is no valid one.
func numberEnd(data []byte, i int) int {
	if i < len(data) && data[i] == '-' {
		i++
	}
	from := i
	i = digitsEnd(data, i)
	if i == from || data[from] == '0' && i > from+1 {
		return 0
	}
	if i < len(data) && data[i] == '.' {
		from = i + 1
		if i = digitsEnd(data, from); i == from {
			return 0
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		if i++; i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		from = i
		if i = digitsEnd(data, from); i == from {
			return 0
		}
	}
	return i
}

func digitsEnd(data []byte, i int) int {
	for i < len(data) && data[i] >= '0' && data[i] <= '9' {
		i++
	}
	return i
}

package history

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
)

// Shape is what a wire allows as an id or a name. The zero value allows everything.
type Shape struct {
	// Min and Max bound the bytes; 0 leaves a side open. Min is at most 32, Max at least 9.
	Min, Max int
	// Chars are the characters; ASCII letters and digits must be among them.
	Chars Charset
	// WordFirst: the first character is a letter or "_", which then must be among Chars.
	WordFirst bool
}

// Charset is a set of ASCII characters. The zero value stands for all characters there are.
type Charset struct{ low, high uint64 }

// Chars makes a set of the characters of s, in which "a-z" stands for all from a to z; a "-" for itself comes last.
func Chars(s string) (c Charset) {
	for len(s) > 0 {
		first, last, used := s[0], s[0], 1
		if len(s) > 2 && s[1] == '-' {
			last, used = s[2], 3
		}
		for b := int(first); b <= int(last); b++ {
			c.add(byte(b))
		}
		s = s[used:]
	}
	return c
}

func (c *Charset) add(b byte) {
	if b < 64 {
		c.low |= 1 << b
	} else if b < utf8.RuneSelf {
		c.high |= 1 << (b - 64)
	}
}

func (c Charset) has(b byte) bool {
	if b < 64 {
		return c.low&(1<<b) != 0
	}
	return b < utf8.RuneSelf && c.high&(1<<(b-64)) != 0
}

func (c Charset) all() bool { return c == Charset{} }

// fits reports whether the shape allows s.
func (s *Shape) fits(text string) bool {
	if len(text) < s.Min || s.Max > 0 && len(text) > s.Max || s.WordFirst && !startsWord(text) {
		return false
	}
	if s.Chars.all() {
		return true
	}
	for i := range len(text) {
		if !s.Chars.has(text[i]) {
			return false
		}
	}
	return true
}

func startsWord(text string) bool {
	return text != "" && (text[0] == '_' || text[0]|0x20 >= 'a' && text[0]|0x20 <= 'z')
}

const (
	base62   = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	idPrefix = "call_"
	idDigits = 24
)

// ID is an id of the shape made of a text: the same for the same text and try, and else most likely another one.
func (s *Shape) ID(text string, try int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s", try, text))
	n := max(idDigits, s.Min)
	prefix := idPrefix
	if s.Max > 0 && s.Max < n+len(prefix) || !s.Chars.all() && !s.Chars.has('_') {
		prefix = ""
	}
	if s.Max > 0 {
		n = min(n, s.Max)
	}
	b := append(make([]byte, 0, len(prefix)+n), prefix...)
	for i := range n {
		d := int(sum[i])
		if i == 0 && prefix == "" && s.WordFirst {
			b = append(b, base62[10+d%52])
			continue
		}
		b = append(b, base62[d%len(base62)])
	}
	return string(b)
}

// named returns a name that stays readable: what is not allowed becomes "_", and the end of a long one a checksum.
func (s *Shape) named(name string) string {
	if s.fits(name) {
		return name
	}
	out := name
	if !s.Chars.all() {
		out = strings.Map(s.replace, strings.ToValidUTF8(name, "_"))
	}
	if s.WordFirst && !startsWord(out) {
		out = "_" + out
	}
	if s.Max > 0 && len(out) > s.Max {
		sum := Shape{Max: 8, Chars: Chars("a-zA-Z0-9")}
		tail := sum.ID(name, 0)
		out = cut(out, s.Max-len(tail)) + tail
	}
	for len(out) < s.Min {
		out += "0"
	}
	return out
}

func (s *Shape) replace(r rune) rune {
	if r < utf8.RuneSelf && s.Chars.has(byte(r)) {
		return r
	}
	if s.Chars.has('_') {
		return '_'
	}
	return '0'
}

// cut returns the first whole characters of s, at most n bytes of them.
func cut(s string, n int) string {
	for s = excerpt.First(s, n); len(s) > n; {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}

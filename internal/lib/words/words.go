// Package words turns text into the terms that it is found by, and finds what somebody looks for in it. Databases
// that know nothing of languages keep the terms; they stand for the same in each of them.
//
//	text  -> Index -> the terms of a document, which a database keeps
//	query -> Parse -> Query, whose terms a database looks up; Query.Look -> where they stand in a text -> Found.Excerpt
//
// A term is a word without case and accents. Scripts without spaces between words (Chinese, Japanese, Thai; Korean
// too, whose words have endings) give pairs of characters. An identifier gives its parts beside the whole.
package words

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxTerm bounds a term, in bytes. What is longer is cut off, in queries too.
const MaxTerm = 64

// Term is a term of a text.
type Term struct {
	Text string
	// Start and End are where it stands in the text, in bytes.
	Start, End int
	// Beside says that it is another form, or a part, of what another term stands for: a query does without it.
	Beside bool
}

// Index lists the terms of a text, each once, in the order of their first places. Of a pair its first character is one
// too: it is looked for alone, and to look up all pairs that begin with it takes a database several times as long.
func Index(text string) (list []string) {
	seen := make(map[string]bool)
	add := func(term string) {
		if !seen[term] {
			seen[term] = true
			list = append(list, term)
		}
	}
	for t := range Terms(text) {
		if r, n := utf8.DecodeRuneInString(t.Text); n < len(t.Text) && isPaired(r) {
			add(t.Text[:n])
		}
		add(t.Text)
	}
	return list
}

// Terms yields the terms of a text as they stand in it.
func Terms(text string) iter.Seq[Term] {
	return func(yield func(Term) bool) {
		s := scanner{text: text, yield: yield}
		var n int // bytes of a character
		for at := 0; at < len(text) && !s.stopped; at += n {
			if s.end == 0 { // at the beginning of a word, if there is one
				if n = simpleWord(text[at:]); n > 0 {
					s.takeWord(at, at+n)
					continue
				}
			}
			if b := text[at]; b < utf8.RuneSelf && (at+1 == len(text) || text[at+1] < utf8.RuneSelf) {
				n = 1
				s.take(rune(b), at, at+1)
				continue
			}
			var r rune
			if r, n = utf8.DecodeRuneInString(text[at:]); isPlain(r) {
				if next, _ := utf8.DecodeRuneInString(text[at+n:]); at+n == len(text) || isPlain(next) {
					s.take(narrow(r), at, at+n)
					continue
				}
			}
			n = max(1, norm.NFKC.NextBoundaryInString(text[at:], true))
			for _, r := range norm.NFKC.String(text[at : at+n]) {
				s.take(r, at, at+n)
			}
		}
		s.endWord()
		s.endPairs()
	}
}

// simpleWord is how long the word is that a text begins with, if it is of ASCII and at most its first letter is a
// capital and it has at most [MaxTerm] bytes; else 0. Most are so.
func simpleWord(text string) int {
	if len(text) == 0 || !isASCIIWord(rune(text[0])) {
		return 0
	}
	n := 1
	for n < len(text) && n <= MaxTerm && ('a' <= text[n] && text[n] <= 'z' || '0' <= text[n] && text[n] <= '9') {
		n++
	}
	if n > MaxTerm || n < len(text) && (text[n] >= utf8.RuneSelf || 'A' <= text[n] && text[n] <= 'Z') {
		return 0
	}
	return n
}

// isPlain reports whether a character is as it should be but for its width, and no other before it changes it: most
// are.
func isPlain(r rune) bool {
	return r < utf8.RuneSelf || isHan(r) ||
		0xC0 <= r && r <= 0xFF || 0x391 <= r && r <= 0x3C9 || 0x400 <= r && r <= 0x481 || // Latin, Greek, Cyrillic
		0x3041 <= r && r <= 0x3096 || 0x30A1 <= r && r <= 0x30FC || 0xAC00 <= r && r <= 0xD7A3 || // kana, Hangul
		0x2018 <= r && r <= 0x201E || 0x3001 <= r && r <= 0x3011 || isWide(r) // quotes, signs
}

// isWide reports whether a character is one of ASCII as wide as one of Chinese.
func isWide(r rune) bool { return 0xFF01 <= r && r <= 0xFF5E }

func narrow(r rune) rune {
	if isWide(r) {
		return r - 0xFF01 + '!'
	}
	return r
}

// isHan reports whether a character is one of the common ones of Chinese.
func isHan(r rune) bool { return 0x4E00 <= r && r <= 0x9FFF }

// scanner is in a word, in a row of characters that give pairs, or in neither.
type scanner struct {
	text    string
	yield   func(Term) bool
	stopped bool

	word       []byte // folded
	german     []byte // the same with ae for ä; nil while it is no different
	start, end int
	parts      []part // of an identifier in camel case; the first begins with the word
	last       rune   // of the word, as it stands in the text

	char           rune // of the row; 0 is none
	charAt, charTo int
	pairs          bool // the row has given some
	pairOf         [2 * utf8.UTFMax]byte
}

// part is where a part of a word begins: in the folded word, and in the text.
type part struct{ word, text int }

func (s *scanner) emit(t Term) { s.stopped = s.stopped || !s.yield(t) }

// termOf is a term that stands in the text from start to end: a part of the text if it stands there as it is.
func (s *scanner) termOf(term []byte, start, end int) string {
	if there := s.text[start:end]; string(term) == there {
		return there
	}
	return string(term)
}

// takeWord takes a word that simpleWord has found, which stands in the text from start to end.
func (s *scanner) takeWord(start, end int) {
	s.endPairs()
	term := s.text[start:end]
	if 'A' <= term[0] && term[0] <= 'Z' {
		s.word = append(append(s.word[:0], term[0]+'a'-'A'), term[1:]...)
		term = string(s.word)
		s.word = s.word[:0]
	}
	s.emit(Term{Text: term, Start: start, End: end})
}

// take takes the next character, which stands in the text from start to end.
func (s *scanner) take(r rune, start, end int) {
	switch {
	case r >= utf8.RuneSelf && isPaired(r):
		s.endWord()
		s.pair(r, start, end)
	case r < utf8.RuneSelf && !isASCIIWord(r), !isWord(r):
		s.endWord()
		s.endPairs()
		if r >= utf8.RuneSelf && unicode.Is(unicode.So, r) && r != utf8.RuneError {
			s.emit(Term{Text: string(r), Start: start, End: end})
		}
	default:
		s.endPairs()
		s.letter(r, start, end)
	}
}

func isASCIIWord(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

func isWord(r rune) bool {
	return r < utf8.RuneSelf || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.In(r, unicode.Mn, unicode.Mc)
}

// isPaired reports whether a character is of a script whose words no spaces show.
func isPaired(r rune) bool {
	const prolonged = 'ー' // of no script of its own
	return isHan(r) || r == prolonged || r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func (s *scanner) pair(r rune, start, end int) {
	if s.char != 0 {
		s.pairs = true
		pair := utf8.AppendRune(utf8.AppendRune(s.pairOf[:0], s.char), r)
		s.emit(Term{Text: s.termOf(pair, s.charAt, end), Start: s.charAt, End: end})
	}
	s.char, s.charAt, s.charTo = r, start, end
}

// endPairs ends a row. Its last character is a term too, so that each one begins a term: that is how one alone is
// found.
func (s *scanner) endPairs() {
	if s.char != 0 {
		char := utf8.AppendRune(s.pairOf[:0], s.char)
		s.emit(Term{Text: s.termOf(char, s.charAt, s.charTo), Start: s.charAt, End: s.charTo, Beside: s.pairs})
	}
	s.char, s.pairs = 0, false
}

func (s *scanner) letter(r rune, start, end int) {
	if s.end == 0 {
		s.start = start
	} else if unicode.IsUpper(r) && (unicode.IsLower(s.last) || unicode.IsDigit(s.last)) {
		s.parts = append(s.parts, part{len(s.word), start})
	} else if unicode.IsLower(r) && unicode.IsUpper(s.last) && s.upperRun() {
		s.parts = append(s.parts, part{len(s.word) - 1, s.end - 1})
	}
	s.last, s.end = r, end
	if len(s.word) < MaxTerm {
		s.fold(r)
	}
}

// upperRun reports whether the last letter, an ASCII one, follows on another of its part: the P of HTTPServer ends a
// part.
func (s *scanner) upperRun() bool {
	begin := 0
	if n := len(s.parts); n > 0 {
		begin = s.parts[n-1].word
	}
	return s.last < utf8.RuneSelf && len(s.word)-1 > begin
}

// endWord ends a word: the whole, its German form, and its parts.
func (s *scanner) endWord() {
	if s.end == 0 {
		return
	}
	if whole := cut(s.word); len(whole) > 0 {
		s.emit(Term{Text: s.termOf(whole, s.start, s.end), Start: s.start, End: s.end})
		if s.german != nil {
			s.emit(Term{Text: string(cut(s.german)), Start: s.start, End: s.end, Beside: true})
		}
		s.emitParts()
	}
	s.word, s.german, s.parts = s.word[:0], nil, s.parts[:0]
	s.start, s.end, s.last = 0, 0, 0
}

func (s *scanner) emitParts() {
	from := part{0, s.start}
	for i := 0; i <= len(s.parts) && len(s.parts) > 0; i++ {
		to := part{len(s.word), s.end}
		if i < len(s.parts) {
			to = s.parts[i]
		}
		if to.word = min(to.word, len(s.word)); from.word < to.word {
			term := s.termOf(cut(s.word[from.word:to.word]), from.text, to.text)
			s.emit(Term{Text: term, Start: from.text, End: to.text, Beside: true})
		}
		from = to
	}
}

// cut is a term of bounded length.
func cut(word []byte) []byte {
	if len(word) > MaxTerm {
		word = word[:MaxTerm]
		for !utf8.Valid(word) {
			word = word[:len(word)-1]
		}
	}
	return word
}

// fold adds a character to the word without its case and accents.
func (s *scanner) fold(r rune) {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		s.word = append(s.word, byte(r))
		if s.german != nil {
			s.german = append(s.german, byte(r))
		}
		return
	}
	if plain := folds(unicode.ToLower(r)); plain != "" {
		s.add(plain, "")
		return
	}
	lower := utf8.AppendRune(s.pairOf[:0], unicode.ToLower(r))
	decomposed := norm.NFD.Properties(lower).Decomposition()
	if decomposed == nil {
		decomposed = lower
	}
	for _, r := range string(decomposed) {
		switch {
		case r == '\u0308' && len(s.word) > 0 && strings.IndexByte("aou", s.word[len(s.word)-1]) >= 0:
			s.add("", "e")
		case unicode.Is(unicode.Mn, r) && unicode.In(r, unicode.Inherited, unicode.Arabic, unicode.Hebrew):
		default:
			s.addRune(r)
		}
	}
}

func (s *scanner) addRune(r rune) {
	s.word = utf8.AppendRune(s.word, r)
	if s.german != nil {
		s.german = utf8.AppendRune(s.german, r)
	}
}

// add adds to both forms of the word, and to the German one besides.
func (s *scanner) add(plain, german string) {
	if german != "" && s.german == nil {
		s.german = append(make([]byte, 0, len(s.word)+8), s.word...)
	}
	s.word = append(s.word, plain...)
	if s.german != nil {
		s.german = append(append(s.german, plain...), german...)
	}
}

// folds are letters that are written by others, but have no decomposition; empty for all others.
func folds(r rune) string {
	switch r {
	case 'ß':
		return "ss"
	case 'æ':
		return "ae"
	case 'œ':
		return "oe"
	case 'ø':
		return "o"
	case 'đ', 'ð':
		return "d"
	case 'ł':
		return "l"
	case 'ħ':
		return "h"
	case 'þ':
		return "th"
	case 'ı':
		return "i"
	case 'ς':
		return "σ"
	}
	return ""
}

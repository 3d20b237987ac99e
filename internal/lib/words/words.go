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

// Index lists the terms of a text, each once, in the order of their first places. Of a pair its first character is one too: it is
// looked for alone, and to look up all pairs that begin with it takes a database several times as long.
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
		s := scanner{yield: yield}
		var n int // bytes of a character
		for at := 0; at < len(text) && !s.stopped; at += n {
			if b := text[at]; b < utf8.RuneSelf && (at+1 == len(text) || text[at+1] < utf8.RuneSelf) {
				n = 1
				s.take(rune(b), at, at+1)
				continue
			}
			var r rune
			if r, n = utf8.DecodeRuneInString(text[at:]); isPlain(r) {
				if next, _ := utf8.DecodeRuneInString(text[at+n:]); at+n == len(text) || isPlain(next) {
					s.take(r, at, at+n)
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

// isPlain reports whether a character is as it should be, and no other before it changes it: most are.
func isPlain(r rune) bool {
	return r < utf8.RuneSelf || 0x4E00 <= r && r <= 0x9FFF || // Han
		0x3041 <= r && r <= 0x3096 || 0x30A1 <= r && r <= 0x30FC || 0xAC00 <= r && r <= 0xD7A3 // kana, Hangul
}

// scanner is in a word, in a row of characters that give pairs, or in neither.
type scanner struct {
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
}

// part is where a part of a word begins: in the folded word, and in the text.
type part struct{ word, text int }

func (s *scanner) emit(t Term) { s.stopped = s.stopped || !s.yield(t) }

// take takes the next character, which stands in the text from start to end.
func (s *scanner) take(r rune, start, end int) {
	switch {
	case r < utf8.RuneSelf && !isASCIIWord(r), !isWord(r) && !isPaired(r):
		s.endWord()
		s.endPairs()
		if unicode.Is(unicode.So, r) && r != utf8.RuneError {
			s.emit(Term{Text: string(r), Start: start, End: end})
		}
	case r >= utf8.RuneSelf && isPaired(r):
		s.endWord()
		s.pair(r, start, end)
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
	return r == prolonged || r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func (s *scanner) pair(r rune, start, end int) {
	if s.char != 0 {
		s.pairs = true
		s.emit(Term{Text: string(s.char) + string(r), Start: s.charAt, End: end})
	}
	s.char, s.charAt, s.charTo = r, start, end
}

// endPairs ends a row. Its last character is a term too, so that each one begins a term: that is how one alone is
// found.
func (s *scanner) endPairs() {
	if s.char != 0 {
		s.emit(Term{Text: string(s.char), Start: s.charAt, End: s.charTo, Beside: s.pairs})
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
	if whole := cut(s.word); whole != "" {
		s.emit(Term{Text: whole, Start: s.start, End: s.end})
		if s.german != nil {
			s.emit(Term{Text: cut(s.german), Start: s.start, End: s.end, Beside: true})
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
			s.emit(Term{Text: cut(s.word[from.word:to.word]), Start: from.text, End: to.text, Beside: true})
		}
		from = to
	}
}

// cut is a term of bounded length.
func cut(word []byte) string {
	if len(word) > MaxTerm {
		word = word[:MaxTerm]
		for !utf8.Valid(word) {
			word = word[:len(word)-1]
		}
	}
	return string(word)
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
	for _, r := range norm.NFD.String(string(unicode.ToLower(r))) {
		switch {
		case r == '\u0308' && len(s.word) > 0 && strings.IndexByte("aou", s.word[len(s.word)-1]) >= 0:
			s.add("", "e")
		case unicode.Is(unicode.Mn, r) && unicode.In(r, unicode.Inherited, unicode.Arabic, unicode.Hebrew):
		default:
			s.add(string(r), "")
		}
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

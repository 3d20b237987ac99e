package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxQuery bounds what is read of a query, in bytes.
	MaxQuery = 1000
	// maxWants bounds the terms of a query.
	maxWants = 32
)

// Query is what somebody looks for. It is made of any text at all: what is no word or sign of [Parse] means nothing.
type Query struct {
	// All are the terms that a document must have, Not those of which it may not have a whole group. A query without
	// the first finds nothing.
	All []Want
	Not [][]string

	phrases [][]string
	row     []string // the terms as they were typed
}

// Want is a term, or the beginning of one.
type Want struct {
	Text string
	// Prefix says that it is the beginning of a term of a text.
	Prefix bool
}

// Alone says that it is one character of those that give pairs: what begins with it is meant, and [Index] has it as a
// term.
func (w Want) Alone() bool {
	r, n := utf8.DecodeRuneInString(w.Text)
	return n == len(w.Text) && isPaired(r)
}

// Parse reads a query: words that must all be there, "words in quotes" that must follow one another, and -words that
// must not be there. The last word need only be begun, unless a space follows it.
func Parse(text string) (q Query) {
	if len(text) > MaxQuery {
		text = strings.ToValidUTF8(text[:MaxQuery], "")
	}
	open := text != "" && !unicode.IsSpace(lastRune(text))
	for rest := text; ; {
		var p piece
		if p, rest = nextPiece(rest); p.text == "" && rest == "" {
			return q
		}
		q.add(p, open && rest == "")
	}
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// piece is a word of a query or what stands in quotes.
type piece struct {
	text        string
	quoted, not bool
}

// closing are the signs that close a quotation that r opens; empty if it opens none.
func closing(r rune) string {
	switch r {
	case '"', '“', '”', '„', '＂':
		return "\"“”＂"
	case '«':
		return "»"
	case '「':
		return "」"
	}
	return ""
}

func nextPiece(s string) (p piece, rest string) {
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	if len(s) > 1 && s[0] == '-' && s[1] != '-' {
		p.not, s = true, s[1:]
	}
	r, n := utf8.DecodeRuneInString(s)
	if signs := closing(r); signs != "" {
		p.quoted, s = true, s[n:]
		end := strings.IndexAny(s, signs)
		if end < 0 { // it is still being typed
			p.text, p.quoted = s, false
			return p, ""
		}
		_, n = utf8.DecodeRuneInString(s[end:])
		p.text = s[:end]
		return p, s[end+n:]
	}
	end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || closing(r) != "" })
	if end < 0 {
		end = len(s)
	}
	p.text = s[:end]
	return p, s[end:]
}

// add adds a piece; begun says that its last term need only be begun.
func (q *Query) add(p piece, begun bool) {
	var row []string
	for t := range Terms(p.text) {
		if !t.Beside && len(q.All)+len(row) < maxWants && len(q.Not) < maxWants {
			row = append(row, t.Text)
		}
	}
	if len(row) == 0 {
		return
	}
	if p.not {
		q.Not = append(q.Not, row)
		return
	}
	for i, term := range row {
		begins := begun && !p.quoted && i == len(row)-1 && len(term) > 1
		w := Want{Text: term}
		r, _ := utf8.DecodeRuneInString(term)
		if w.Prefix = w.Alone() || begins && !isPaired(r); !slices.Contains(q.All, w) {
			q.All = append(q.All, w)
		}
	}
	q.row = append(q.row, row...)
	if p.quoted && len(row) > 1 {
		q.phrases = append(q.phrases, row)
	}
}

// wants returns the place in All of what a term is wanted for, or -1.
func (q *Query) wants(term string) (at int, exact bool) {
	at = -1
	for i, w := range q.All {
		if w.Text == term {
			return i, true
		}
		if w.Prefix && strings.HasPrefix(term, w.Text) {
			at = i
		}
	}
	return at, false
}

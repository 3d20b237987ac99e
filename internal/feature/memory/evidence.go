package memory

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/pudu-ai/pudu/internal/lib/words"
)

// evidence is where a fact comes from.
type evidence struct {
	// mark says why it is not the user's own words; empty if it is.
	mark string
	// message has the words, and sentence is what was said there.
	message, sentence string
}

// heard is all that was said in a conversation, by whom it may have been.
type heard struct {
	turns []turn
	tools []string // what tools and pages brought
}

// least is how much of a quotation there must be, in letters and digits: two characters of Chinese, or a word.
const least = 2

// of finds out who has said a fact. A quotation that stands in what a human wrote counts, and so do the most words of a
// fact itself; its numbers and names of things must stand there too.
func (h *heard) of(content, quote string) evidence {
	for _, t := range slices.Backward(h.turns) {
		if t.Human && says(t.Own, content, quote) && h.nothingNew(content) {
			return evidence{message: t.ID, sentence: sentenceOf(t.Own, quote, content)}
		}
	}
	for _, t := range h.turns {
		if t.Human && says(t.Text, content, quote) && !says(t.Own, content, quote) {
			return evidence{mark: FromPaste, message: t.ID, sentence: sentenceOf(t.Text, quote, content)}
		}
	}
	for _, t := range h.tools {
		if says(t, content, quote) {
			return evidence{mark: FromTool, sentence: sentenceOf(t, quote, content)}
		}
	}
	for _, t := range h.turns {
		if !t.Human && says(t.Text, content, quote) {
			return evidence{mark: FromModel, sentence: sentenceOf(t.Text, quote, content)}
		}
	}
	return evidence{mark: Unsaid}
}

// says reports whether a text has the quotation, or two thirds of the fact's words.
func says(text, content, quote string) bool {
	if q := plain(quote); len([]rune(q)) >= least && strings.Contains(plain(text), q) {
		return foreign(content, text) || share(content, text) > 0
	}
	return quote == "" && share(content, text) >= 2.0/3
}

// foreign reports whether two texts are written in other scripts, so that they can have no words in common.
func foreign(a, b string) bool {
	return strings.ContainsFunc(a, latin) != strings.ContainsFunc(b, latin) ||
		strings.ContainsFunc(a, beyondLatin) != strings.ContainsFunc(b, beyondLatin)
}

func latin(r rune) bool       { return r < 0x250 && unicode.IsLetter(r) }
func beyondLatin(r rune) bool { return r >= 0x250 && unicode.IsLetter(r) }

// plain is a text without case, blanks and punctuation.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// fillers are words that a fact has because it is written of somebody.
var fillers = map[string]bool{
	"the": true, "a": true, "an": true, "user": true, "users": true, "is": true, "are": true, "has": true, "have": true,
	"of": true, "to": true, "and": true, "in": true, "for": true, "with": true, "s": true, "用户": true, "用": true,
	"户": true, "的": true, "是": true,
}

// share is which part of the words of a fact stand in a text; those are compared by their beginnings.
func share(content, text string) float64 {
	there := make(map[string]bool)
	for _, t := range words.Index(text) {
		there[stem(t)] = true
	}
	n, found := 0, 0
	for _, t := range words.Index(content) {
		if fillers[t] {
			continue
		}
		if n++; there[stem(t)] {
			found++
		}
	}
	if n == 0 {
		return 0
	}
	return float64(found) / float64(n)
}

// stem is the beginning of a word, so that "likes" is "like".
func stem(t string) string {
	const long = 4
	for _, end := range []string{"ing", "ies", "es", "ed", "s", "y", "e"} {
		if s, ok := strings.CutSuffix(t, end); ok && len(s) >= long-1 {
			return s
		}
	}
	return t
}

// hard are numbers, addresses, and names of files and things in programs: a fact may have none that no human has
// written.
var hard = regexp.MustCompile(`[\w.+-]+@[\w-]+\.\w+|https?://\S+|[A-Za-z]*\d[\w.:/-]*|[\w-]+(?:[./\\_][\w-]+)+`)

// nothingNew reports whether all hard words of a fact were said by humans.
func (h *heard) nothingNew(content string) bool {
	for _, w := range hard.FindAllString(content, -1) {
		found := false
		for _, t := range h.turns {
			found = found || t.Human && strings.Contains(plain(t.Own), plain(w))
		}
		if !found {
			return false
		}
	}
	return true
}

var clauseEnds = regexp.MustCompile(`(?i)[,，;；:：](?:\s*(?:and|but|so)\b)?|\s(?:and|but)\s|但是?|而且|并且`)

// clauseOf are the parts of a sentence that a quotation stands in; all of it if there is none.
func clauseOf(sentence, quote string) string {
	q := plain(quote)
	if q == "" {
		return sentence
	}
	var parts []string
	at := 0
	for _, cut := range append(clauseEnds.FindAllStringIndex(sentence, -1), []int{len(sentence), len(sentence)}) {
		part := sentence[at:cut[0]]
		if p := plain(part); p != "" && (strings.Contains(q, p) || strings.Contains(p, q)) {
			parts = append(parts, part)
		}
		at = cut[1]
	}
	if len(parts) == 0 {
		return sentence
	}
	return strings.Join(parts, ", ")
}

var ends = regexp.MustCompile(`[.!?;][\s"')\]]|[。！？；\n]`)

// sentenceOf is the sentence of a text that has the quotation, or else the one that is most like the fact.
func sentenceOf(text, quote, content string) string {
	best, most := "", -1.0
	q := plain(quote)
	for rest := text; rest != ""; {
		s := rest
		if at := ends.FindStringIndex(rest); at != nil {
			s, rest = rest[:at[1]], rest[at[1]:]
		} else {
			rest = ""
		}
		score := share(content, s)
		if q != "" && (strings.Contains(plain(s), q) || len(plain(s)) > 0 && strings.Contains(q, plain(s))) {
			score += 2
		}
		if score > most {
			best, most = strings.TrimSpace(s), score
		}
	}
	return best
}

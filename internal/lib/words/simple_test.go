package words

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// simply is Terms without what makes it fast: each character goes its way alone.
func simply(text string) (list []Term) {
	s := scanner{text: text, yield: func(t Term) bool {
		list = append(list, t)
		return true
	}}
	for at := 0; at < len(text); {
		end := at + max(1, norm.NFKC.NextBoundaryInString(text[at:], true))
		for _, r := range norm.NFKC.String(text[at:end]) {
			s.take(r, at, end)
		}
		at = end
	}
	s.endWord()
	s.endPairs()
	return list
}

// FuzzTerms: the terms are those of the simple way.
func FuzzTerms(f *testing.F) {
	for _, text := range []string{
		"", "The deer, 2 Deer HTTPServer deerRun x", "Größe cafe\u0301 Cafe\u0301", "Ёлка ЙЙй Ελλάς",
		"机器学习 한국어 か\u3099", "a机b 机 b机", "x\u0301y", "İstanbul ﬁne ５", "\xffa\xff", "aB" + strings.Repeat("x", 100),
		"学习，“论文”。", strings.Repeat("x", MaxTerm) + " " + strings.Repeat("ü", MaxTerm), strings.Repeat("x", MaxTerm+1) +
			"É",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, want := slices.Collect(Terms(text)), simply(text)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	})
}

// TestEachCharacter: alone, in a word, and before a mark, a character gives what the simple way gives, and is folded as
// its decomposition says. Of those that have no case and no accents some are tried.
func TestEachCharacter(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r > 0x3100 {
			r += 96
		}
		for _, text := range []string{"a" + string(r) + "b", "机" + string(r) + "\u0301 " + string(r)} {
			if got, want := slices.Collect(Terms(text)), simply(text); !slices.Equal(got, want) {
				t.Errorf("%q: %+v, want %+v", text, got, want)
			}
		}
		if r >= 0x80 && isWord(r) && !isPaired(r) && folds(unicode.ToLower(r)) == "" {
			var s scanner
			s.fold(r)
			want := strings.Map(func(r rune) rune {
				if unicode.Is(unicode.Mn, r) && unicode.In(r, unicode.Inherited, unicode.Arabic, unicode.Hebrew) {
					return -1
				}
				return r
			}, norm.NFD.String(string(unicode.ToLower(r))))
			if string(s.word) != want {
				t.Errorf("%q is folded to %q, want %q", r, s.word, want)
			}
		}
	}
}

// TestOneLongWord: a text without a space, as a file in hexadecimal digits has one, is looked at once. To look ahead
// from each of its characters would take hours.
func TestOneLongWord(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 1<<18)
	list := slices.Collect(Terms(text))
	if len(list) == 0 || list[0].Text != text[:MaxTerm] || list[0].End != len(text) {
		t.Errorf("%d terms", len(list))
	}
}

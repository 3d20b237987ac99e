package title

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
)

const (
	// noWords is the title of a conversation that begins without words.
	noWords = "New Conversation"
	// ellipsis ends a title that was cut; it counts into the length.
	ellipsis = "..."
	// maxFallback is how many characters of the user's words make a title.
	maxFallback = 50
)

// fallback is the beginning of a text as a title with most characters at most.
func fallback(text string, most int) string {
	text = strings.TrimSpace(text)
	if text == "" {
		text = noWords
	}
	if excerpt.First(text, min(maxFallback, most)) == text {
		return text
	}
	keep := min(maxFallback, max(0, most-len(ellipsis)))
	return strings.TrimSpace(excerpt.First(text, keep)) + ellipsis[:min(len(ellipsis), most)]
}

// thoughts are what some models write before they answer; the last one may be cut off.
var thoughts = regexp.MustCompile(`(?is)<think(?:ing)?>.*?(?:</think(?:ing)?>|$)`)

// endOfThoughts is the end of thoughts whose beginning the model's template had written.
var endOfThoughts = regexp.MustCompile(`(?is)^.*</think(?:ing)?>`)

func withoutThoughts(s string) string {
	if !strings.Contains(s, "<") {
		return s
	}
	return endOfThoughts.ReplaceAllString(thoughts.ReplaceAllString(s, ""), "")
}

// quotes are what models put around a title.
const quotes = "\"'`*#“”„‘’«»「」『』 \t"

// clean makes a title with most characters at most of what a model said: its first line without thoughts and quotes. It
// may be empty.
func clean(said string, most int) string {
	for line := range strings.Lines(strings.ToValidUTF8(withoutThoughts(said), "")) {
		line = strings.Map(plain, line)
		if line = strings.Trim(line, quotes); line != "" {
			return strings.TrimSpace(excerpt.First(line, most))
		}
	}
	return ""
}

// plain makes any space a blank and drops other characters that do not show.
func plain(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r):
		return -1
	}
	return r
}

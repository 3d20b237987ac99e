package title

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFallback(t *testing.T) {
	fifty := strings.Repeat("0123456789", 5)
	for _, c := range []struct {
		name, text string
		most       int
		want       string
	}{
		{"short", " Plan a trip ", 60, "Plan a trip"},
		{"fifty characters", fifty, 60, fifty},
		{"more than fifty", fifty + "x", 60, fifty + "..."},
		{"the ellipsis is within the limit", fifty + "x", 20, fifty[:17] + "..."},
		{"no longer than the limit", fifty, 50, fifty},
		{"cut at a blank", "one two three", 10, "one two..."},
		{"lines stay", "a\nb", 60, "a\nb"},
		{"no letters of ASCII", strings.Repeat("鹿", 51), 60, strings.Repeat("鹿", 50) + "..."},
		{"nothing", "  ", 60, "New Conversation"},
		{"a tiny limit", "one two", 2, ".."},
	} {
		if got := fallback(c.text, c.most); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestPitfall13ThoughtsAreNoTitle nor are quotes and marks around it.
func TestPitfall13ThoughtsAreNoTitle(t *testing.T) {
	for said, want := range map[string]string{
		"Trip to Oslo":                           "Trip to Oslo",
		"<think>a trip\n</think>\n\n\"Oslo\"":    "Oslo",
		"<THINKING>x</THINKING>Oslo<think>more":  "Oslo",
		"a trip</think> Oslo":                    "Oslo",
		"<think>never done":                      "",
		"“Reise nach Oslo”\nwith an explanation": "Reise nach Oslo",
		"**Oslo**":                  "Oslo",
		"「奥斯陆之旅」":                   "奥斯陆之旅",
		"a\tb\x00c\r\n":             "a bc",
		" \n ":                      "",
		strings.Repeat("long ", 20): strings.TrimSpace(strings.Repeat("long ", 12)),
		"if a < b then":             "if a < b then",
	} {
		if got := clean(said, 60); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "<think>", "</think>x", "\"'", "a\xffb", "鹿鹿", "<think>a</think><think>", "x\n\ny"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, said string, most int) {
		most = 10 + (most&0xff+256)%191
		title := clean(said, most)
		if n := utf8.RuneCountInString(title); n > most || !utf8.ValidString(title) ||
			strings.ContainsAny(title, "\n\r\x00") ||
			title != strings.TrimSpace(title) {
			t.Errorf("%q becomes %q with %d characters", said, title, n)
		}
		if n := utf8.RuneCountInString(fallback(said, most)); n > most || n == 0 {
			t.Errorf("the fallback of %q has %d characters, limit %d", said, n, most)
		}
	})
}

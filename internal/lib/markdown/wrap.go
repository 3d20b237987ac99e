package markdown

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Styles are parameters of the escape code that sets them (ECMA-48, select graphic rendition).
const (
	bold       = "1"
	dim        = "2"
	italic     = "3"
	underlined = "4"
	struck     = "9"
	code       = "36"
)

// with adds a style to others.
func with(style, more string) string { return strings.TrimPrefix(style+";"+more, ";") }

// cell is what a terminal shows as one character, or a line feed: the place where a line must end.
type cell struct {
	text, style string
	width       int // in columns
}

func (c cell) blank() bool { return c.text == " " }

// cells cuts text into cells; any white space becomes a blank.
func (r renderer) cells(s, style string) (out []cell) {
	if r.plain {
		style = ""
	}
	for g := displaywidth.StringGraphemes(s); g.Next(); {
		c := cell{g.Value(), style, g.Width()}
		if strings.Trim(c.text, " \t\r\n") == "" {
			c.text, c.width = " ", 1
		}
		out = append(out, c)
	}
	return out
}

func blanks(n int) []cell { return slices.Repeat([]cell{{text: " ", width: 1}}, n) }

// columns is the width of a text.
func columns(text []cell) (total int) {
	for _, c := range text {
		total += c.width
	}
	return total
}

func plainText(text []cell) string {
	var b strings.Builder
	for _, c := range text {
		b.WriteString(c.text)
	}
	return b.String()
}

// wrap breaks text into lines, at least one, that fit into a width. Words that are longer than a line stick out, or are
// broken too if hard.
func wrap(text []cell, width int, hard bool) (lines [][]cell) {
	var line []cell
	used, end := 0, 0 // columns in the line, and the last place in it where it may be broken
	for _, c := range text {
		if c.text == "\n" {
			lines, line, used, end = append(lines, trim(line)), nil, 0, 0
			continue
		}
		if len(line) > 0 && breakable(line[len(line)-1], c) {
			end = len(line)
		}
		if c.blank() && (len(line) == 0 || line[len(line)-1].blank()) {
			continue
		}
		line, used = append(line, c), used+c.width
		if used <= width || c.blank() {
			continue
		}
		if end == 0 && hard {
			end = len(line) - 1
		}
		if end > 0 {
			lines, line = append(lines, trim(line[:end])), line[end:]
			used, end = columns(line), 0
		}
	}
	if line = trim(line); len(line) > 0 || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// breakable reports whether a line may end between two cells: after a blank, and beside an ideograph unless
// punctuation would be torn from what it belongs to.
func breakable(before, after cell) bool {
	if before.blank() || after.blank() {
		return before.blank()
	}
	a, _ := utf8.DecodeLastRuneInString(before.text)
	b, _ := utf8.DecodeRuneInString(after.text)
	ideographs := []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana}
	if before.width < 2 && after.width < 2 || !unicode.In(a, ideographs...) && !unicode.In(b, ideographs...) {
		return false
	}
	return !unicode.In(a, unicode.Ps, unicode.Pi) && !unicode.In(b, unicode.Pe, unicode.Pf, unicode.Po)
}

// trim cuts blanks at the end.
func trim(text []cell) []cell {
	for len(text) > 0 && text[len(text)-1].blank() {
		text = text[:len(text)-1]
	}
	return text
}

// paint writes lines with the escape codes of their styles. No style goes over the end of a line.
func (r renderer) paint(lines [][]cell) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		var b strings.Builder
		style := ""
		for _, c := range append(slices.Clip(line), cell{}) { // the empty one ends the last style
			if c.style != style && style != "" {
				b.WriteString("\x1b[0m")
			}
			if c.style != style && c.style != "" {
				b.WriteString("\x1b[" + c.style + "m")
			}
			style = c.style
			b.WriteString(c.text)
		}
		out[i] = b.String()
	}
	return out
}

// Wrap breaks plain text into lines of at most width columns, between words and between ideographs. Words that are
// longer stick out. Lines that fit stay as they are; the others keep their indentation.
func Wrap(text string, width int) (lines []string) {
	r := renderer{plain: true}
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.TrimLeft(line, " ")
		indentation := line[:len(line)-len(words)]
		if displaywidth.String(line) <= width {
			lines = append(lines, line)
			continue
		}
		lines = append(lines, indent(r.paint(wrap(r.cells(words, ""), max(width-len(indentation), narrow), false)),
			indentation, indentation)...)
	}
	return lines
}

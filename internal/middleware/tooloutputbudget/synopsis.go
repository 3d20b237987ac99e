package tooloutputbudget

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/feature/uploaded"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
)

// source is what a synopsis is made from.
type source struct {
	tool, path string
	chars      int    // of all of it
	whole      string // all of it; empty if it is too long to be looked into
	shown      string // what the tool returned, whose ends are shown
}

// Bounds of the part of a synopsis that is not a sample, in characters. A line that is cut here can still be found.
const (
	mostAbout = 1000
	mostLine  = 140
	mostExtra = 440 // by which a synopsis may be longer than its sample may be
)

// about is what can be said of a text: its kind, a summary, what it is made of, and lines that stand out.
type about struct {
	kind      string // json, csv, tsv, yaml, xml, code, text or unknown
	summary   string
	structure []string
	notable   []string
}

// render writes the synopsis. Its length is bounded, whatever the text holds.
func (m *Middleware) render(src source) string {
	a := about{kind: "unknown", summary: "too long to be looked into"}
	if src.whole != "" {
		a = study(src.whole)
	}
	top := fmt.Sprintf("[Full %s output saved to %s (%d chars, ~%d tokens).]\n[Preview kind: %s. Below are parts of "+
		"it.]\n",
		fileName(src.tool), src.path, src.chars, src.chars/4, a.kind) + excerpt.Clip(a.lines(), mostAbout)
	access := "Access: read_file on that path with start_line and end_line, or grep."
	if src.whole != "" && longLines(src.whole) {
		access = "Access: grep on that path, or bash (jq, cut, head -c): its lines are too long for read_file."
	}
	last := m.cfg.PreviewTail
	first := min(m.cfg.PreviewHead, m.cfg.PreviewHead+last+mostExtra-utf8.RuneCountInString(top)-len(access)-last)
	a1, b1 := wholeLines(excerpt.First(src.shown, max(first, 0))), excerpt.Last(src.shown, last)
	left := max(src.chars-utf8.RuneCountInString(a1)-utf8.RuneCountInString(b1), 0)
	return top + "Raw sample (head + tail):\n" + a1 + fmt.Sprintf("\n[... %d chars left out ...]\n", left) + b1 + "\n" +
		access
}

// lines are what is known of the text, each on lines of its own.
func (a about) lines() string {
	var b strings.Builder
	b.WriteString("Summary: " + a.summary + "\n")
	for _, part := range []struct {
		title string
		lines []string
	}{{"Structure", a.structure}, {"Notable items", a.notable}} {
		if len(part.lines) == 0 {
			continue
		}
		b.WriteString(part.title + ":\n")
		for _, line := range part.lines {
			b.WriteString("  " + excerpt.Clip(line, mostLine) + "\n")
		}
	}
	return b.String()
}

// study looks into a text. It takes time in proportion to its length, at most.
func study(text string) about {
	trimmed := strings.TrimSpace(text)
	for _, look := range []func(string) (about, bool){jsonText, xmlText, tableText, yamlText, codeText} {
		if a, ok := look(trimmed); ok {
			return a
		}
	}
	return plainText(text, trimmed)
}

var (
	signals = []string{"error", "fail", "fatal", "panic", "exception", "traceback", "warning", "denied"}
	notable = regexp.MustCompile(`(?i)\b(errors?|failed|failures?|fatal|panic|exception|traceback|warnings?|denied)\b`)
)

// isNotable reports whether a line tells of trouble. Most lines are settled by the plain search.
func isNotable(line string) bool {
	low := strings.ToLower(line)
	for _, s := range signals {
		if strings.Contains(low, s) {
			return notable.MatchString(line)
		}
	}
	return false
}

// plainText is the end of all guesses.
func plainText(text, trimmed string) about {
	if trimmed == "" || garbled(trimmed) {
		return about{kind: "unknown", summary: fmt.Sprintf("%d bytes, not readable as text", len(text))}
	}
	a := about{kind: "text", summary: count(text)}
	if out := uploaded.ReadOutline(strings.NewReader(text), ".md"); len(out.Headings) > 1 {
		for _, h := range out.Headings {
			a.structure = append(a.structure, fmt.Sprintf("L%d: %s", h.Line, h.Title))
		}
		return a
	}
	a.notable = standingOut(text, isNotable, 6)
	return a
}

// garbled reports whether much of the start of a text is control characters.
func garbled(text string) bool {
	const looked = 4096
	start, bad := text[:min(len(text), looked)], 0
	for _, r := range start {
		if r == utf8.RuneError || unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' {
			bad++
		}
	}
	return bad*10 > len(start)
}

// count says how many lines there are and how long they are.
func count(text string) string {
	lines, longest := 0, 0
	for line := range strings.Lines(text) {
		lines++
		longest = max(longest, len(line))
	}
	return fmt.Sprintf("%d lines, the longest of %d bytes", lines, longest)
}

// longLines reports whether reading by lines is of little use.
func longLines(text string) bool {
	const much = 20_000 // bytes a line on average
	return len(text)/(strings.Count(text, "\n")+1) > much
}

// standingOut returns the first lines that match, with their numbers, and how many more there are.
func standingOut(text string, what func(line string) bool, most int) (found []string) {
	n, more := 0, 0
	for line := range strings.Lines(text) {
		n++
		if !what(line[:min(len(line), 4*mostLine)]) {
			continue
		}
		if len(found) == most {
			more++
			continue
		}
		found = append(found, fmt.Sprintf("L%d: %s", n, oneLine(line)))
	}
	if more > 0 {
		found = append(found, fmt.Sprintf("and %d more lines like these", more))
	}
	return found
}

// oneLine is the start of a text without line breaks.
func oneLine(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), 4*mostLine)], "\uFFFD")
	return excerpt.Clip(strings.Join(strings.Fields(s), " "), mostLine)
}

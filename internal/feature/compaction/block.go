package compaction

import (
	_ "embed"
	"slices"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/lib/untrusted"
)

// MaxSection bounds each section of the durable block, in characters.
const MaxSection = 6000

// Facts are what the durable block tells.
type Facts struct {
	Summary     string
	Delegations []threadstate.Delegation // oldest first
	Skills      []threadstate.SkillEntry // those whose text the model no longer sees
	// Gap says that messages were cut which the summary does not cover.
	Gap bool
}

//go:embed block.md
var blockText string

var blockTemplate = template.Must(template.New("block.md").Parse(blockText))

// Block renders the facts. Each section has at most limit characters, and never more than [MaxSection]; of the
// delegations the newest are kept. Whatever the facts hold, no tag of the block can be forged by it.
func (f Facts) Block(limit int) string {
	limit = min(limit, MaxSection)
	var b strings.Builder
	err := blockTemplate.Execute(&b, struct {
		Summary             string
		Delegations, Skills []string
		Gap                 bool
	}{
		Summary:     Bound(Escape(f.Summary), limit),
		Delegations: newestFirst(f.Delegations, limit),
		Skills:      skillLines(f.Skills, limit),
		Gap:         f.Gap,
	})
	if err != nil {
		panic(err) // of an embedded template over strings; a test runs it
	}
	return strings.TrimSpace(b.String())
}

// Escape takes the tags out of a text.
func Escape(s string) string { return escaper.Replace(untrusted.Text(s)) }

var escaper = strings.NewReplacer("<", "&lt;", ">", "&gt;")

// Bound shortens a text to limit characters, its beginning and its end.
func Bound(s string, limit int) string {
	const note = "[…]"
	return Cut(strings.TrimSpace(s), max(0, limit-len(note)), note)
}

func newestFirst(list []threadstate.Delegation, limit int) []string {
	lines := make([]string, 0, len(list))
	for _, d := range slices.Backward(list) {
		line := "[" + untrusted.Line(d.Status) + "] " + untrusted.Line(d.Description) + " (" +
			untrusted.Line(d.SubagentType) + ")"
		if d.ResultBrief != "" {
			line += ": " + untrusted.Line(d.ResultBrief)
		}
		lines = append(lines, line)
	}
	return within(lines, limit)
}

func skillLines(list []threadstate.SkillEntry, limit int) []string {
	lines := make([]string, 0, len(list))
	for _, e := range slices.Backward(list) {
		line := untrusted.Line(e.Path)
		if d := untrusted.Line(e.Description); d != "" {
			line += ": " + d
		}
		lines = append(lines, line)
	}
	return within(lines, limit)
}

// within returns the first lines that fit into limit characters together. A line has at most a third of it.
func within(lines []string, limit int) []string {
	const frame = len("- \n")
	longest, left := limit/3-frame, limit
	for i, line := range lines {
		if utf8.RuneCountInString(line) > longest {
			line = line[:forward(line, max(0, longest-1))] + "…"
		}
		lines[i] = line
		if left -= utf8.RuneCountInString(line) + frame; left < 0 {
			return lines[:i]
		}
	}
	return lines
}

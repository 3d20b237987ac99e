// Package markdown renders Markdown for a terminal: what models write, as people read it. The terminal shows answers
// with it, block by block as they stream in.
//
// It understands CommonMark with tables, strikethrough and task lists. HTML stays as it is written. Each text is
// rendered for itself: a link to a definition in another one stays as it is written, and so does the definition.
package markdown

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

const (
	margin = "  "
	// narrow is the least room for text, in columns. What is nested deeper than that is not indented further.
	narrow = 16
	// widest is the most room that is used.
	widest = 1000
)

// Render returns Markdown as lines for a terminal that is width columns wide, with a margin of two blanks, without
// empty lines around it and without a line feed at the end. A width below 18 is taken as 18, one above 1000 as 1000.
// Plain text has no escape codes: emphasis keeps its marks.
//
// Text is wrapped between words and between ideographs. Code, HTML and words that are too long are not: they can be
// copied from the terminal. The source must hold no control characters but tab and line feed; references such as
// "&#27;" bring none in.
func Render(source string, width int, plain bool) string {
	r := renderer{source: []byte(source), plain: plain}
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList))
	doc := md.Parser().Parse(text.NewReader(r.source))
	lines := trimLines(r.children(doc, min(max(width, narrow+len(margin)), widest)-len(margin), false))
	if len(lines) == 0 { // definitions of links alone: another text may refer to them
		lines = trimLines(strings.Split(source, "\n"))
	}
	return strings.Join(indent(lines, margin, margin), "\n")
}

// renderer turns nodes into lines. Lines carry no prefix: whoever holds the node puts it before them.
type renderer struct {
	source []byte
	plain  bool
}

// children renders the blocks in a node, with empty lines between them unless they stand tight.
func (r renderer) children(parent ast.Node, width int, tight bool) (lines []string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n != parent.FirstChild() && !tight {
			lines = append(lines, "")
		}
		lines = append(lines, r.block(n, width)...)
	}
	return lines
}

func (r renderer) block(n ast.Node, width int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		title := append(r.cells(strings.Repeat("#", n.Level)+" ", bold), r.inline(n, bold)...)
		return r.paint(wrap(title, width, false))
	case *ast.ThematicBreak:
		return r.paint([][]cell{r.cells(strings.Repeat("─", width), dim)})
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return indent(r.raw(n), "  ", "  ")
	case *ast.HTMLBlock:
		lines := r.raw(n)
		if n.HasClosure() {
			lines = append(lines, strings.TrimRight(string(n.ClosureLine.Value(r.source)), "\r\n"))
		}
		return lines
	case *ast.Blockquote:
		bar := r.paint([][]cell{r.cells("│", dim)})[0] + " "
		if width <= narrow {
			bar = ""
		}
		return indent(r.children(n, max(width-2, narrow), false), bar, bar)
	case *ast.List:
		return r.list(n, width)
	case *extended.Table:
		return r.table(n, width)
	}
	return r.paint(wrap(r.inline(n, ""), width, false))
}

// raw returns the lines of a block that is shown as it is written.
func (r renderer) raw(n ast.Node) (lines []string) {
	for _, line := range n.Lines().Sliced(0, n.Lines().Len()) {
		lines = append(lines, strings.TrimRight(string(line.Value(r.source)), "\r\n"))
	}
	return lines
}

func (r renderer) list(l *ast.List, width int) (lines []string) {
	number := l.Start
	for item := l.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if l.IsOrdered() {
			mark = fmt.Sprintf("%d%c ", number, l.Marker)
			number++
		}
		if box := checkBox(item); box != "" {
			mark = strings.TrimPrefix(mark, "• ") + box
		}
		if item != l.FirstChild() && !l.IsTight {
			lines = append(lines, "")
		}
		room := displaywidth.String(mark)
		hang := strings.Repeat(" ", room)
		if width <= narrow {
			hang = ""
		}
		content := r.children(item, max(width-room, narrow), l.IsTight)
		if len(content) == 0 {
			content = []string{""}
		}
		lines = append(lines, indent(content, mark, hang)...)
	}
	return lines
}

// checkBox is the mark of an item of a task list; empty for other items.
func checkBox(item ast.Node) string {
	if item.FirstChild() == nil {
		return ""
	}
	box, ok := item.FirstChild().FirstChild().(*extended.TaskCheckBox)
	switch {
	case !ok:
		return ""
	case box.IsChecked:
		return "[x] "
	}
	return "[ ] "
}

// table renders a table in columns. Cells of a table that is too wide are wrapped, the widest columns first.
func (r renderer) table(t *extended.Table, width int) (lines []string) {
	var rows [][][]cell
	widths := make([]int, len(t.Alignments))
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		style := ""
		if row.Kind() == extended.KindTableHeader {
			style = bold
		}
		cells := make([][]cell, len(widths))
		for i, c := 0, row.FirstChild(); c != nil && i < len(cells); i, c = i+1, c.NextSibling() {
			cells[i] = wrap(r.inline(c, style), 1<<30, false)[0]
			widths[i] = min(max(widths[i], columns(cells[i])), width)
		}
		rows = append(rows, cells)
	}
	const between = 3 // columns that a bar takes
	fit(widths, width-between*(len(widths)-1))
	for i, row := range rows {
		lines = append(lines, r.row(row, widths, t.Alignments)...)
		if i == 0 {
			lines = append(lines, r.rule(widths))
		}
	}
	return lines
}

func (r renderer) rule(widths []int) string {
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = strings.Repeat("─", w)
	}
	return r.paint([][]cell{r.cells(strings.Join(parts, "─┼─"), dim)})[0]
}

// row renders a row in as many lines as its highest cell has.
func (r renderer) row(row [][]cell, widths []int, align []extended.Alignment) (lines []string) {
	wrapped, height := make([][][]cell, len(row)), 1
	for i, c := range row {
		wrapped[i] = wrap(c, widths[i], true)
		height = max(height, len(wrapped[i]))
	}
	for y := range height {
		var line []cell
		for i, c := range wrapped {
			if i > 0 {
				line = append(line, r.cells(" │ ", dim)...)
			}
			var part []cell
			if y < len(c) {
				part = c[y]
			}
			pad := max(widths[i]-columns(part), 0)
			left := map[extended.Alignment]int{extended.AlignRight: pad, extended.AlignCenter: pad / 2}[align[i]]
			line = append(append(append(line, blanks(left)...), part...), blanks(pad-left)...)
		}
		lines = append(lines, r.paint([][]cell{trim(line)})...)
	}
	return lines
}

// indent puts a prefix before the first line and another before the others. Empty lines get no trailing blanks.
func indent(lines []string, first, others string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		prefix := others
		if i == 0 {
			prefix = first
		}
		if line == "" {
			prefix = strings.TrimRight(prefix, " ")
		}
		out[i] = prefix + line
	}
	return out
}

// trimLines cuts empty lines at both ends.
func trimLines(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// fit narrows the widest columns until all fit into the room, but none below four.
func fit(widths []int, room int) {
	total := func(limit int) (sum int) {
		for _, w := range widths {
			sum += min(w, limit)
		}
		return sum
	}
	const least = 4
	limit := max(slices.Max(widths), least)
	for limit > least && total(limit) > room {
		limit--
	}
	spare := room - total(limit)
	for i, w := range widths {
		if w > limit {
			widths[i] = limit + min(max(spare, 0), 1)
			spare--
		}
	}
}

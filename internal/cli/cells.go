package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/clipperhouse/displaywidth"

	terminal "github.com/pudu-ai/pudu/internal/lib/markdown"
)

// What a terminal shows is counted in cells: an ideograph takes two, an accent or an escape sequence none.

// width is how many cells a text takes.
func width(s string) int {
	return displaywidth.Options{ControlSequences: true}.String(s)
}

// clip is the beginning of a text that fits into cells; it says with "…" that there is more.
func clip(s string, cells int) string {
	return displaywidth.TruncateString(s, max(cells, 1), "…")
}

// fit clips a text and fills it up with blanks.
func fit(s string, cells int) string {
	s = clip(s, cells)
	return s + strings.Repeat(" ", max(cells-width(s), 0))
}

// columns is the width of the terminal.
func (stdio IO) columns() int {
	if stdio.Width <= 0 {
		return 100
	}
	return stdio.Width
}

// tell prints a text for the person: on a terminal it is broken between words, but never in a command that it ends
// with.
func (stdio IO) tell(paint func(string) string, text string) {
	if paint == nil {
		paint = func(s string) string { return s }
	}
	for line := range strings.SplitSeq(text, "\n") {
		command := ""
		if i := strings.Index(line, ": "+stdio.program()+" "); stdio.ErrTTY && width(line) > stdio.columns() && i >= 0 {
			line, command = line[:i+1], line[i+2:]
		}
		lines := []string{line}
		if stdio.ErrTTY {
			lines = terminal.Wrap(line, stdio.columns())
		}
		if command != "" {
			lines = append(lines, "  "+command)
		}
		for _, l := range lines {
			fmt.Fprintln(stdio.Err, paint(l))
		}
	}
}

// printLines prints each of a list as a JSON object on a line of its own.
func printLines[T any](w io.Writer, list []T) error {
	out := json.NewEncoder(w)
	for _, v := range list {
		if err := out.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// printTable prints rows in columns that are as wide as their widest cell.
func printTable(w io.Writer, rows [][]string) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], width(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-width(cell)+2))
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

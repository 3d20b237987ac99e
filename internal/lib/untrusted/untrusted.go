// Package untrusted takes the power out of text that came from outside before it goes to a model: what a user typed, a
// web page, the name of a file. The program speaks to the model in tags such as <system-reminder>, and marks where the
// user's words begin and end; a text that holds such marks could pass for the program's own words.
package untrusted

import "strings"

// The lines around what a user said.
const (
	Begin = "--- BEGIN USER INPUT ---"
	End   = "--- END USER INPUT ---"
)

var escape = strings.NewReplacer("<", "&lt;", ">", "&gt;")

// Text returns s with its reserved tags escaped and its marks replaced. A text without any is returned as it is, and
// doing it twice changes nothing more.
func Text(s string) string {
	if strings.Contains(s, "---") {
		s = strings.ReplaceAll(s, Begin, "[BEGIN USER INPUT]")
		s = strings.ReplaceAll(s, End, "[END USER INPUT]")
	}
	return escapeTags(s)
}

// Input returns what a user said with its reserved tags escaped, between the marks that tell a model where it begins
// and ends. White space alone stays as it is. A text that stands between marks already, which its author may have
// written, is treated as what is inside them, so doing it twice changes nothing more.
func Input(s string) string {
	if strings.TrimSpace(s) == "" {
		return s
	}
	return Begin + "\n" + Text(Said(s)) + "\n" + End
}

// Said returns what stands between the marks that [Input] makes, or s if it does not stand between marks.
func Said(s string) string {
	if inner, ok := strings.CutPrefix(s, Begin+"\n"); ok {
		if inner, ok = strings.CutSuffix(inner, "\n"+End); ok {
			return inner
		}
	}
	return s
}

// Line is Text for names and titles that stand in a line: line breaks become blanks, and no tag survives.
func Line(s string) string {
	return escape.Replace(strings.Join(strings.Fields(Text(s)), " "))
}

package transcript

import (
	"bufio"
	"fmt"
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	gmtext "github.com/yuin/goldmark/text"
)

// text writes Markdown.
type text struct{ out *bufio.Writer }

func (t text) begin(a About) error {
	_, err := fmt.Fprintf(t.out, "# %s\n\n- Thread: %s\n- Created: %s\n- Last changed: %s\n- Written: %s\n",
		escaped(titleOf(a)), code(a.ID), timeOf(a.Created), timeOf(a.Changed), timeOf(a.Written))
	return err
}

func (t text) say(s said) error {
	who := "Agent"
	if s.Person {
		who = "Person"
	}
	fmt.Fprintf(t.out, "\n## %s\n", strings.TrimSuffix(who+" · "+timeOf(s.At), " · "))
	if s.Reasoning != "" {
		fmt.Fprintf(t.out, "\n<details><summary>Reasoning</summary>\n\n%s\n\n</details>\n", fenced("text", s.Reasoning))
	}
	if strings.TrimSpace(s.Text) != "" {
		fmt.Fprintf(t.out, "\n%s\n", contained(s.Text))
	}
	t.files(s.Files)
	if s.Pictures > 0 {
		fmt.Fprintf(t.out, "\n*%s*\n", pictures(s.Pictures))
	}
	_, err := t.out.Write(nil) // the first error stays
	return err
}

func (t text) files(paths []string) {
	if len(paths) > 0 {
		fmt.Fprint(t.out, "\nFiles:\n\n")
	}
	for _, p := range paths {
		fmt.Fprintf(t.out, "- %s\n", code(p))
	}
}

func (t text) call(c call) error {
	fmt.Fprintf(t.out, "\n<details><summary>%s</summary>\n", html.EscapeString(summary(c)))
	if c.Args != "" {
		fmt.Fprintf(t.out, "\n%s\n", fenced("json", c.Args))
	}
	if c.Result != "" {
		fmt.Fprintf(t.out, "\n%s\n", fenced("text", c.Result))
	}
	fmt.Fprint(t.out, "\n</details>\n")
	t.files(c.Files)
	_, err := t.out.Write(nil)
	return err
}

func (t text) end() error { return nil }

// summary is the line that stands for a call.
func summary(c call) string {
	switch {
	case c.Missing:
		return "Call: " + c.Name + " (without a result)"
	case c.Failed:
		return "Call: " + c.Name + " (failed)"
	}
	return "Call: " + c.Name
}

func pictures(n int) string {
	if n == 1 {
		return "1 picture"
	}
	return fmt.Sprintf("%d pictures", n)
}

// escaped is a line of text in which nothing is markup.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_[]<>&#|~!$", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// ticks are more backticks in a row than a text has, and at least n.
func ticks(s string, n int) string {
	run := 0
	for _, r := range s {
		if run++; r != '`' {
			run = 0
		}
		n = max(n, run+1)
	}
	return strings.Repeat("`", n)
}

// code is a line of text as code.
func code(s string) string {
	mark := ticks(s, 1)
	if mark == "`" {
		return mark + s + mark
	}
	return mark + " " + s + " " + mark
}

// fenced is a text as a block of code, which ends where the text does.
func fenced(language, s string) string {
	mark := ticks(s, 3)
	return mark + language + "\n" + strings.TrimSuffix(s, "\n") + "\n" + mark
}

// contained is the Markdown of a message. One that would take in what comes behind it, such as an open block of code or
// of HTML, is a block of code as a whole.
func contained(s string) string {
	s = strings.Trim(s, "\n")
	if !cheap(s) {
		return fenced("text", s)
	}
	const behind = "\n\n## behind\n"
	source := []byte(s + behind)
	last := markup().Parser().Parse(gmtext.NewReader(source)).LastChild()
	h, ok := last.(*ast.Heading)
	if ok && h.Level == 2 && h.Lines().Len() == 1 && h.Lines().At(0).Start > len(s) {
		return s
	}
	return fenced("text", s)
}

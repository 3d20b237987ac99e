package shellwords

import "strings"

// Rough lists commands of a line that is no bash, such as one with a quote that does not end: quotes are ignored, and
// every sign that could end a command ends one. It finds too much rather than too little, and never fails.
func Rough(line string) Script {
	if len(line) > MaxBytes {
		line = line[:MaxBytes]
	}
	r := rough{}
	for _, c := range []byte(line) {
		r.next(c)
	}
	r.endCommand("")
	return Script{Commands: r.out}
}

// rough is the state of the reading.
type rough struct {
	out  []*Command
	cmd  Command
	word []byte
	op   string // of the redirect whose target comes next
}

func (r *rough) next(c byte) {
	switch c {
	case '\'', '"', '\\':
	case ' ', '\t', '\r':
		r.endWord()
	case '\n', ';', '&', '(', ')', '`', '|':
		r.endCommand(string(c))
	case '<', '>':
		r.endWord()
		r.op += string(c)
	default:
		r.word = append(r.word, c)
	}
}

func (r *rough) endWord() {
	text := strings.ReplaceAll(strings.ReplaceAll(string(r.word), "${HOME}", "~"), "$HOME", "~")
	r.word = r.word[:0]
	name, value, set := strings.Cut(text, "=")
	switch {
	case text == "":
	case r.op != "":
		r.cmd.Redirects = append(r.cmd.Redirects, Redirect{Op: r.op, Target: Word{Text: text}})
		r.op = ""
	case set && identifier(name) && r.cmd.Name.Text == "":
		r.cmd.Assigns = append(r.cmd.Assigns, Assign{Name: name, Value: Word{Text: value}})
	case r.cmd.Name.Text == "" && (text == "$" || text == "{" || text == "!"):
	case r.cmd.Name.Text == "":
		r.cmd.Name.Text = text
	default:
		r.cmd.Args = append(r.cmd.Args, Word{Text: text})
	}
}

// endCommand ends a command; behind a "|" its output goes to the next one.
func (r *rough) endCommand(by string) {
	r.endWord()
	c := r.cmd
	r.cmd, r.op = Command{}, ""
	if c.Name.Text == "" && len(c.Assigns)+len(c.Redirects) == 0 {
		if by == "(" || by == "&" {
			r.cmd.From = c.From // "| (" and "|&"
		}
		return
	}
	(&walker{}).unwrap(&c)
	r.out = append(r.out, &c)
	if by == "|" {
		r.cmd.From = []*Command{&c}
	}
}

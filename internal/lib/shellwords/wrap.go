package shellwords

import (
	"slices"
	"strings"
)

// maxNested bounds texts in texts.
const maxNested = 5

// starter is a program that only starts another one.
type starter struct {
	values  string // its short options that take the next word
	long    string // its long options that do so, each between commas
	operand int    // words of its own before the other program
	text    string // its option whose value is the whole command
}

// starterOf knows the programs that start another one.
func starterOf(name string) (starter, bool) {
	switch name {
	case "sudo":
		return starter{values: "ughpCTrtDRU", long: ",--user,--group,--host,--prompt,--chdir,--chroot,"}, true
	case "doas":
		return starter{values: "uC"}, true
	case "env":
		return starter{values: "uC", long: ",--unset,--chdir,", text: "-S"}, true
	case "exec":
		return starter{values: "a"}, true
	case "command", "builtin", "nohup", "setsid", "busybox":
		return starter{}, true
	case "time":
		return starter{values: "fo"}, true
	case "nice":
		return starter{values: "n"}, true
	case "ionice":
		return starter{values: "cn"}, true
	case "stdbuf":
		return starter{values: "ioe"}, true
	case "timeout":
		return starter{values: "sk", long: ",--signal,--kill-after,", operand: 1}, true
	case "chroot":
		return starter{operand: 1}, true
	case "xargs":
		return starter{values: "InPLdaEs", long: ",--max-args,--max-procs,--delimiter,--arg-file,"}, true
	}
	return starter{}, false
}

// unwrap makes the program that is started the command, as far as it can be seen.
func (w *walker) unwrap(c *Command) {
	for range maxNested {
		name := c.Base()
		s, ok := starterOf(name)
		if !ok || c.Name.Open || len(c.Args) == 0 || name == "command" && strings.EqualFold(c.Args[0].Text, "-v") {
			return
		}
		rest := s.skip(c)
		if len(rest) == 0 { // "sudo -l": it starts nothing
			return
		}
		c.Before = append(c.Before, name)
		c.Name, c.Args = rest[0], rest[1:]
		if name == "xargs" {
			c.Args = append(slices.Clip(c.Args), Word{Open: true})
		}
	}
}

// skip returns the words of the program that is started. What cannot be told apart stands as a name that is not known.
func (s starter) skip(c *Command) []Word {
	operands := s.operand
	for i := 0; i < len(c.Args); i++ {
		word := c.Args[i]
		name, value, set := strings.Cut(word.Text, "=")
		switch {
		case word.Open && (word.Text == "" || word.Text[0] == '-'), s.text != "" &&
			strings.HasPrefix(word.Text, s.text):
			return append([]Word{{Open: true, Runs: word.Runs}}, c.Args[i+1:]...)
		case word.Text == "--":
		case strings.HasPrefix(word.Text, "-") && word.Text != "-":
			if s.takesNext(word.Text) {
				i++
			}
		case set && identifier(name):
			c.Assigns = append(c.Assigns,
				Assign{Name: name, Value: Word{Text: value, Open: word.Open, Runs: word.Runs}})
		case operands > 0:
			operands--
		default:
			return c.Args[i:]
		}
	}
	return nil
}

func (s starter) takesNext(option string) bool {
	if strings.HasPrefix(option, "--") {
		return strings.Contains(s.long, ","+option+",")
	}
	return strings.IndexByte(s.values, option[len(option)-1]) >= 0
}

func identifier(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// Shell reports whether the program of the name is a shell.
func Shell(name string) bool {
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "rbash":
		return true
	}
	return false
}

// inside collects the commands in the text that a command runs: bash -c, eval, a here-document for a shell, find -exec.
func (w *walker) inside(c *Command) {
	switch name := c.Base(); {
	case c.Name.Open:
	case Shell(name):
		if code, ok := Code(c, "c"); ok {
			w.text(code, c.From)
			return
		}
		for _, r := range c.Redirects {
			if strings.HasPrefix(r.Op, "<<") && Operand(c).Text == "" {
				w.text(r.Target, nil)
			}
		}
	case name == "eval" && len(c.Args) > 0:
		var code Word
		texts := make([]string, len(c.Args))
		for i, a := range c.Args {
			texts[i], code.Open, code.Runs = a.Text, code.Open || a.Open, append(code.Runs, a.Runs...)
		}
		code.Text = strings.Join(texts, " ")
		w.text(code, c.From)
	case name == "find":
		w.found(c)
	}
}

// Code returns the text that a program runs because of an option such as -c. The option may stand in a cluster.
func Code(c *Command, letter string) (Word, bool) {
	for i, a := range c.Args {
		if !strings.HasPrefix(a.Text, "-") {
			return Word{}, false
		}
		if !strings.HasPrefix(a.Text, "--") && strings.HasSuffix(a.Text, letter) && i+1 < len(c.Args) {
			return c.Args[i+1], true
		}
	}
	return Word{}, false
}

// Operand returns the first word of a command that is no option: the script of an interpreter. It is empty where the
// script is the program's input.
func Operand(c *Command) Word {
	for _, a := range c.Args {
		switch {
		case a.Text == "-" || a.Text == "/dev/stdin" || a.Text == "-s":
			return Word{}
		case a.Open && a.Text == "":
			return Word{Text: "?", Open: true, Runs: a.Runs}
		case !strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "+"):
			return a
		}
	}
	return Word{}
}

// text collects the commands of a text; where it is not known or no bash, a command that is not known stands for them.
func (w *walker) text(code Word, from []*Command) {
	begin := len(w.out)
	w.nested++
	defer func() { w.nested-- }()
	if code.Open || w.nested > maxNested || w.parse(code.Text, from) != nil {
		w.out = append(w.out[:begin:begin], &Command{Name: Word{Open: true, Runs: code.Runs}, From: from})
	}
}

// found collects the commands of find -exec.
func (w *walker) found(c *Command) {
	for i := 0; i < len(c.Args); i++ {
		if a := c.Args[i].Text; a != "-exec" && a != "-execdir" && a != "-ok" && a != "-okdir" {
			continue
		}
		rest := c.Args[i+1:]
		if n := slices.IndexFunc(rest, func(a Word) bool { return a.Text == ";" || a.Text == "+" }); n >= 0 {
			rest = rest[:n]
		}
		if len(rest) == 0 {
			return
		}
		cmd := &Command{Name: rest[0], Args: rest[1:], Before: []string{"find"}}
		w.unwrap(cmd)
		w.add(cmd)
		w.inside(cmd)
		i += len(rest)
	}
}

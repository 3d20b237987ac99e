// Package shellwords lists the commands in a line of bash, wherever they stand: behind &&, in a pipe, a loop, a
// function, a substitution, after sudo, or in the text that is given to bash -c. It parses, it does not run: quotes are
// taken off, and what only the shell can know (a variable, a substitution) is marked as open.
//
// What it finds is for advice, records and rules of the kind "ask before git push". It is no boundary: a program can do
// anything that its name and arguments do not tell. The sandbox is the boundary.
package shellwords

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of a line. What is larger is an error of [Parse].
const (
	MaxBytes = 64 << 10
	maxDepth = 100 // brackets in brackets
)

// Script is a line of bash as its commands.
type Script struct {
	// Commands stand in the order of the text, those within a word before the command that the word belongs to.
	Commands []*Command
	// Bomb says that the line starts processes without end: a function that starts itself in the background or a pipe,
	// or an endless loop that leaves processes behind.
	Bomb bool
}

// Command is a simple command.
type Command struct {
	// Name is the program; it is empty and not open where there are only assignments or redirects.
	Name Word
	Args []Word
	// Before names the programs that only start this one, such as sudo, env or xargs.
	Before []string
	// Assigns are the variables that are set for it, or by it.
	Assigns []Assign
	// Redirects are its own.
	Redirects []Redirect
	// From are the commands whose output comes to it through a pipe.
	From []*Command
}

// Word is a word with its quotes taken off. $HOME reads as "~".
type Word struct {
	// Text is the word, or the beginning of it that is known if Open.
	Text string
	Open bool
	// Tail is the end of an open word, as far as it is known.
	Tail string
	// Glob says that Text has *, ? or [ for the shell.
	Glob bool
	// Runs are the commands of the substitutions in the word.
	Runs []*Command
}

// Assign sets a variable.
type Assign struct {
	Name  string
	Value Word
}

// Redirect is a redirection.
type Redirect struct {
	// Op is the operator as written: ">", ">>", "<", "<<", "<<<" ...
	Op string
	// Target is the file, or the text of a here-document or here-string.
	Target Word
}

// Writes reports whether the redirect opens a file for writing.
func (r Redirect) Writes() bool {
	return strings.Contains(r.Op, ">") && r.Op != ">&" ||
		r.Op == ">&" && strings.Trim(r.Target.Text, "0123456789-") != ""
}

// Input reports whether the redirect gives the command its input.
func (r Redirect) Input() bool { return strings.HasPrefix(r.Op, "<") && r.Op != "<&" }

// Base is the name of the program without its folder.
func (c *Command) Base() string {
	return c.Name.Text[strings.LastIndexByte(c.Name.Text, '/')+1:]
}

// Line is the command as one line, its name without the folder; open says that it goes on in a way that is not known.
func (c *Command) Line() (line string, open bool) {
	var b strings.Builder
	for i, w := range append([]Word{c.Name}, c.Args...) {
		text := w.Text
		if i == 0 {
			text = c.Base()
		} else {
			b.WriteByte(' ')
		}
		if n := strings.IndexAny(text, "*?["); w.Glob && n >= 0 {
			text, w.Open = text[:n], true
		}
		b.WriteString(text)
		if w.Open {
			return b.String(), true
		}
	}
	return b.String(), false
}

// Parse lists the commands of a line. The error says where the line is no bash.
func Parse(line string) (s Script, err error) {
	defer func() {
		if p := recover(); p != nil { // a fault of the parser is a line that cannot be read
			s, err = Script{}, fmt.Errorf("parse command: %v", p)
		}
	}()
	w := walker{}
	if err := w.parse(line, nil); err != nil {
		return Script{}, err
	}
	return Script{Commands: w.out, Bomb: w.bomb}, nil
}

// parse collects the commands of a text; from are the commands that write what it reads.
func (w *walker) parse(line string, from []*Command) error {
	if len(line) > MaxBytes {
		return fmt.Errorf("parse command: it has %d bytes, more than %d", len(line), MaxBytes)
	}
	if deep(line) {
		return fmt.Errorf("parse command: brackets stand more than %d deep", maxDepth)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return fmt.Errorf("parse command: %w", err)
	}
	w.stmts(file.Stmts, from)
	return nil
}

// deep reports whether brackets may stand too deep in each other; quotes are not looked at.
func deep(line string) bool {
	depth, most := 0, 0
	for _, c := range []byte(line) {
		switch c {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth = max(0, depth-1)
		}
		most = max(most, depth)
	}
	return most > maxDepth
}

// Names lists the programs of the commands, each once, for a record: names only, of at most 40 bytes, "?" for one that
// is not known.
func Names(commands []*Command) []string {
	const most, long = 20, 40
	var names []string
	for _, c := range commands {
		name := c.Base()
		switch {
		case name == "" && !c.Name.Open:
			continue
		case name == "" || len(name) > long:
			name = "?"
		}
		if !slices.Contains(names, name) && len(names) < most {
			names = append(names, name)
		}
	}
	return names
}

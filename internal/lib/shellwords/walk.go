package shellwords

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// walker collects commands from a syntax tree.
type walker struct {
	out  []*Command
	bomb bool
	// nested counts the texts in texts: bash -c "bash -c ..."
	nested int
}

func (w *walker) stmts(list []*syntax.Stmt, from []*Command) {
	for _, s := range list {
		w.stmt(s, from)
	}
}

// stmt collects a statement; from are the commands that write what it reads.
func (w *walker) stmt(s *syntax.Stmt, from []*Command) {
	if s == nil {
		return
	}
	redirects := w.redirects(s.Redirs)
	if slices.ContainsFunc(redirects, Redirect.Input) {
		from = nil
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		w.call(cmd, redirects, from)
		return
	case *syntax.DeclClause:
		w.add(&Command{Name: Word{Text: cmd.Variant.Value}, Assigns: w.assigns(cmd.Args), Redirects: redirects})
		return
	case nil:
	default:
		w.compound(cmd, from)
	}
	if len(redirects) > 0 {
		w.add(&Command{Redirects: redirects})
	}
}

func (w *walker) compound(cmd syntax.Command, from []*Command) {
	switch c := cmd.(type) {
	case *syntax.BinaryCmd:
		begin := len(w.out)
		w.stmt(c.X, from)
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			from = w.writers(from, begin)
		}
		w.stmt(c.Y, from)
	case *syntax.Subshell:
		w.stmts(c.Stmts, from)
	case *syntax.Block:
		w.stmts(c.Stmts, from)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			w.stmts(c.Cond, from)
			w.stmts(c.Then, from)
		}
	case *syntax.WhileClause:
		w.bomb = w.bomb || endless(c)
		w.stmts(c.Cond, from)
		w.stmts(c.Do, from)
	case *syntax.ForClause:
		w.substitutions(c.Loop)
		w.stmts(c.Do, from)
	case *syntax.CaseClause:
		w.substitutions(c.Word)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.substitutions(p)
			}
			w.stmts(item.Stmts, from)
		}
	case *syntax.FuncDecl:
		w.bomb = w.bomb || startsItself(c)
		w.stmt(c.Body, from)
	case *syntax.TimeClause:
		w.stmt(c.Stmt, from)
	case *syntax.CoprocClause:
		w.stmt(c.Stmt, from)
	default: // tests and arithmetic run nothing but the substitutions in them
		w.substitutions(c)
	}
}

// writers are the commands whose output goes into a pipe: those found since begin, behind the ones that write what they
// read. The oldest of very many are left out.
func (w *walker) writers(from []*Command, begin int) []*Command {
	const most = 100
	found := w.out[max(begin, len(w.out)-most):len(w.out):len(w.out)]
	if len(from) == 0 {
		return found
	}
	return append(from[max(0, len(from)-most):len(from):len(from)], found...)
}

func (w *walker) call(c *syntax.CallExpr, redirects []Redirect, from []*Command) {
	cmd := &Command{Assigns: w.assigns(c.Assigns), Redirects: redirects, From: from}
	words := w.words(c.Args)
	if len(words) > 0 {
		cmd.Name, cmd.Args = words[0], words[1:]
	}
	w.unwrap(cmd)
	w.add(cmd)
	w.inside(cmd)
}

func (w *walker) add(c *Command) { w.out = append(w.out, c) }

func (w *walker) assigns(list []*syntax.Assign) []Assign {
	var out []Assign
	for _, a := range list {
		set := Assign{Value: w.word(a.Value)}
		if a.Name != nil {
			set.Name = a.Name.Value
		}
		if a.Array != nil {
			w.substitutions(a.Array)
			set.Value.Open = true
		}
		if a.Index != nil {
			w.substitutions(a.Index)
		}
		out = append(out, set)
	}
	return out
}

func (w *walker) redirects(list []*syntax.Redirect) []Redirect {
	var out []Redirect
	for _, r := range list {
		target := w.word(r.Word)
		if r.Hdoc != nil {
			target = w.word(r.Hdoc)
		}
		out = append(out, Redirect{Op: r.Op.String(), Target: target})
	}
	return out
}

// substitutions collects the commands of all substitutions below a node, and returns them.
func (w *walker) substitutions(n syntax.Node) []*Command {
	begin := len(w.out)
	syntax.Walk(n, func(n syntax.Node) bool {
		switch s := n.(type) {
		case *syntax.CmdSubst:
			w.stmts(s.Stmts, nil)
			return false
		case *syntax.ProcSubst:
			w.stmts(s.Stmts, nil)
			return false
		}
		return true
	})
	return w.out[begin:len(w.out):len(w.out)]
}

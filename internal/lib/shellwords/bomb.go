package shellwords

import "mvdan.cc/sh/v3/syntax"

// startsItself reports whether a function calls itself in a pipe or in the background: each call then makes two.
func startsItself(f *syntax.FuncDecl) bool {
	if f.Name == nil {
		return false
	}
	calls, multiplies := false, false
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			calls = calls || len(n.Args) > 0 && n.Args[0].Lit() == f.Name.Value
		case *syntax.Stmt:
			multiplies = multiplies || n.Background
		case *syntax.BinaryCmd:
			multiplies = multiplies || n.Op == syntax.Pipe || n.Op == syntax.PipeAll
		}
		return true
	})
	return calls && multiplies
}

// endless reports whether a loop that never ends leaves a process behind each time, without a pause.
func endless(c *syntax.WhileClause) bool {
	if len(c.Cond) != 1 || len(c.Do) == 0 {
		return false
	}
	cond, ok := c.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(cond.Args) != 1 {
		return false
	}
	word := cond.Args[0].Lit()
	if c.Until && word != "false" || !c.Until && word != "true" && word != ":" {
		return false
	}
	leaves, pauses := false, false
	for _, s := range c.Do {
		if call, ok := s.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			name := call.Args[0].Lit()
			pauses = pauses || name == "wait" || name == "sleep" || name == "read" || name == "break" || name == "exit"
		}
		leaves = leaves || s.Background
	}
	return leaves && !pauses
}

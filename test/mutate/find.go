package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// change is one change of a source file: the bytes from start to end become with.
type change struct {
	file       string // path of the file, as the package was named
	source     []byte
	start, end int
	with       string
	function   string
	line       int
}

// name shows the lines of the change before and after it. It identifies the change wherever in the function they move
// to.
func (c change) name() string {
	from := bytes.LastIndexByte(c.source[:c.start], '\n') + 1
	to := c.end + max(bytes.IndexByte(c.source[c.end:], '\n'), 0)
	before, after := string(c.source[from:to]), string(c.source[from:c.start])+c.with+string(c.source[c.end:to])
	return fmt.Sprintf("%s:%s: %s => %s", filepath.ToSlash(c.file), c.function, oneLine(before), oneLine(after))
}

// changed is the source with the change.
func (c change) changed() []byte {
	return []byte(string(c.source[:c.start]) + c.with + string(c.source[c.end:]))
}

// oneLine is a piece of source as it stands in a table.
func oneLine(s string) string {
	if s = strings.Join(strings.Fields(s), " "); s == "" {
		return "nothing"
	}
	return s[:min(len(s), 200)]
}

// find returns the changes that are possible in the files of a folder that this system builds, in their order.
func find(files []string) (all []change, err error) {
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := findIn(file, source)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// finder collects the changes of a function.
type finder struct {
	change

	at      *token.File
	results *ast.FieldList
	found   []change
}

func findIn(file string, source []byte) ([]change, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", file, err)
	}
	f := &finder{change: change{file: file, source: source}, at: set.File(tree.Pos())}
	for _, d := range tree.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		f.function, f.results = fn.Name.Name, fn.Type.Results
		f.walk(fn.Body)
	}
	return f.found, nil
}

// walk goes through a body; one of a function within it has results of its own.
func (f *finder) walk(body ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			outer := f.results
			f.results = n.Type.Results
			f.walk(n.Body)
			f.results = outer
			return false
		case *ast.BinaryExpr:
			f.operator(n)
		case *ast.IfStmt:
			f.condition(n.Cond)
		case *ast.BasicLit:
			f.number(n)
		case *ast.Ident:
			f.truth(n)
		case *ast.ReturnStmt:
			f.failure(n)
		case *ast.BranchStmt:
			if n.Tok == token.CONTINUE && n.Label == nil {
				f.add(n, "break")
			}
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.SendStmt:
			f.remove(n)
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				f.remove(n)
			}
		}
		return true
	})
}

// add notes that the source of a node could be another.
func (f *finder) add(n ast.Node, with string) {
	f.replace(n.Pos(), n.End(), with)
}

func (f *finder) replace(from, to token.Pos, with string) {
	c := f.change
	c.start, c.end, c.with, c.line = f.at.Offset(from), f.at.Offset(to), with, f.at.Line(from)
	f.found = append(f.found, c)
}

// swapped are the operators that are taken for each other.
func swapped(op token.Token) []token.Token {
	switch op {
	case token.EQL:
		return []token.Token{token.NEQ}
	case token.NEQ:
		return []token.Token{token.EQL}
	case token.LSS:
		return []token.Token{token.LEQ, token.GEQ}
	case token.LEQ:
		return []token.Token{token.LSS, token.GTR}
	case token.GTR:
		return []token.Token{token.GEQ, token.LEQ}
	case token.GEQ:
		return []token.Token{token.GTR, token.LSS}
	case token.LAND:
		return []token.Token{token.LOR}
	case token.LOR:
		return []token.Token{token.LAND}
	case token.ADD:
		return []token.Token{token.SUB}
	case token.SUB:
		return []token.Token{token.ADD}
	case token.MUL:
		return []token.Token{token.QUO}
	default:
		return nil
	}
}

func (f *finder) operator(n *ast.BinaryExpr) {
	for _, op := range swapped(n.Op) {
		f.replace(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), op.String())
	}
}

// condition lets a condition never and, where no operator of it can be turned, not hold.
func (f *finder) condition(n ast.Expr) {
	text := string(f.source[f.at.Offset(n.Pos()):f.at.Offset(n.End())])
	if _, ok := n.(*ast.BinaryExpr); !ok {
		f.add(n, "!("+text+")")
	}
	f.add(n, "false && ("+text+")")
}

// number is off by one.
func (f *finder) number(n *ast.BasicLit) {
	if v, err := strconv.Atoi(n.Value); err == nil && n.Kind == token.INT {
		f.add(n, strconv.Itoa(v+1))
	}
}

func (f *finder) truth(n *ast.Ident) {
	switch n.Name {
	case "true":
		f.add(n, "false")
	case "false":
		f.add(n, "true")
	}
}

// failure forgets to return an error.
func (f *finder) failure(n *ast.ReturnStmt) {
	if f.results == nil || len(n.Results) != f.results.NumFields() || len(n.Results) == 0 {
		return
	}
	kind, ok := f.results.List[len(f.results.List)-1].Type.(*ast.Ident)
	last := n.Results[len(n.Results)-1]
	if is, named := last.(*ast.Ident); ok && kind.Name == "error" && (!named || is.Name != "nil") {
		f.add(last, "nil")
	}
}

// remove forgets a statement. What only tells somebody is not a part of what a package promises.
func (f *finder) remove(n ast.Node) {
	text := string(f.source[f.at.Offset(n.Pos()):f.at.Offset(n.End())])
	for _, telling := range []string{"slog.", "panic(", "_ = "} {
		if strings.HasPrefix(text, telling) {
			return
		}
	}
	f.add(n, "")
}

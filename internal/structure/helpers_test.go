package structure

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestHelpersAreUsed finds functions of packages for tests that nothing names. scripts/deadcode finds those of the
// program that nothing calls; it does not look at tests, which would take it twice as long again.
func TestHelpersAreUsed(t *testing.T) {
	helpers := regexp.MustCompile(`(^|/)(test|testkit|[a-z]+test)(/|$)`)
	named, set := map[string]int{}, token.NewFileSet()
	var declared []*ast.FuncDecl
	for _, file := range goFiles(t) {
		f, err := parser.ParseFile(set, filepath.Join(root, file), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		found := names(f, named)
		if helpers.MatchString(path.Dir(file)) && !strings.HasSuffix(file, "_test.go") {
			declared = append(declared, found...)
		}
	}
	if len(declared) < 200 {
		t.Errorf("only %d functions were found", len(declared))
	}
	for _, c := range unnamed(set, declared, named) {
		t.Error(c)
	}
}

// names counts the names in a file, and returns its functions, whose own names count for nothing.
func names(f *ast.File, named map[string]int) (declared []*ast.FuncDecl) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			named[n.Name]++
		case *ast.FuncDecl:
			named[n.Name.Name]--
			declared = append(declared, n)
		}
		return true
	})
	return declared
}

// unnamed complains about the functions whose names stand nowhere. The standard library calls FlushError.
func unnamed(set *token.FileSet, declared []*ast.FuncDecl, named map[string]int) (out []string) {
	for _, fn := range declared {
		if name := fn.Name.Name; named[name] == 0 && name != "main" && name != "FlushError" {
			out = append(out, fmt.Sprintf("%s: nothing calls %s", set.Position(fn.Pos()), name))
		}
	}
	return out
}

func TestUnusedHelpersAreFound(t *testing.T) {
	set, named := token.NewFileSet(), map[string]int{}
	f, err := parser.ParseFile(set, "x.go", "package x\n\nfunc (v) Used() { Lone }\nfunc Unused() { y.Used() }\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	got := unnamed(set, names(f, named), named)
	if len(got) != 1 || got[0] != "x.go:4:1: nothing calls Unused" {
		t.Error(got)
	}
}

package lead_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fact is a thing that an agent of this kind must do, or has been seen to do wrong, and where it is shown that this one
// does it right.
type fact struct {
	n    int // its number in the list that it comes from; 0 if it has none
	what string
	// tests are those that show it, as "package.TestName"; a package without a slash is a middleware's if there is one
	// of that name. Without tests, later names the system that it comes with, or elsewhere says why nothing is to be
	// shown.
	tests            []string
	later, elsewhere string
}

func by(n int, what string, tests ...string) fact { return fact{n: n, what: what, tests: tests} }

func later(n int, what, system string) fact { return fact{n: n, what: what, later: system} }

func elsewhere(n int, what, why string) fact { return fact{n: n, what: what, elsewhere: why} }

// systems are those that are not built yet.
func systems() []string {
	return []string{
		"skills", "MCP", "sub-agents", "goals", "web tools", "workspace changes", "Docker", "ACP", "vllm",
	}
}

func TestEveryRowHasItsTest(t *testing.T)         { checkFacts(t, rows(), 35) }
func TestEveryPitfallHasItsTest(t *testing.T)     { checkFacts(t, pitfalls(), 117) }
func TestEveryFaultThatWasSeenIsNot(t *testing.T) { checkFacts(t, seenFaults(), 0) }

// checkFacts wants the numbers from 1 to last, each once and in order, and every test that is named to be there.
func checkFacts(t *testing.T, facts []fact, last int) {
	t.Helper()
	known := map[string]map[string]bool{}
	for i, f := range facts {
		if last > 0 && f.n != i+1 {
			t.Fatalf("%q has the number %d, want %d", f.what, f.n, i+1)
		}
		if given := min(len(f.tests), 1) + min(len(f.later), 1) + min(len(f.elsewhere), 1); given != 1 || f.what == "" {
			t.Errorf("%d %q needs tests, or the system that it comes with, or a reason", f.n, f.what)
		}
		if f.later != "" && !slices.Contains(systems(), f.later) {
			t.Errorf("%d %q waits for %q, which is no system that is to come", f.n, f.what, f.later)
		}
		for _, name := range f.tests {
			if !hasTest(t, known, name) {
				t.Errorf("%d %q: there is no %s", f.n, f.what, name)
			}
		}
	}
	if last > 0 && len(facts) != last {
		t.Errorf("%d facts, want %d", len(facts), last)
	}
}

func hasTest(t *testing.T, known map[string]map[string]bool, name string) bool {
	t.Helper()
	dot := strings.LastIndex(name, ".")
	pkg, test := name[:max(dot, 0)], name[dot+1:]
	dir := filepath.Join("..", "..", pkg)
	if mw := filepath.Join("..", "middleware", pkg); !strings.Contains(pkg, "/") && isFolder(mw) {
		dir = mw
	}
	if known[dir] == nil {
		known[dir] = testsOf(t, dir)
	}
	return known[dir][test]
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// testsOf are the names of a folder's test and fuzz functions.
func testsOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil &&
				(strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "Fuzz")) {
				names[f.Name.Name] = true
			}
		}
	}
	return names
}

// Package structure holds the rules of this repository as tests: which package may import which, what every package and
// file looks like, and that docs/architecture.md draws the tree as it is. A new package is named in [levels] first.
package structure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	root     = "../.."
	module   = "github.com/pudu-ai/pudu"
	maxLines = 500
	// maxEntries is how many folders internal/ may have: it is read as a table of contents.
	maxEntries = 30
)

// levels lists every package from the ground up. A package imports only packages of levels that stand before its own:
// never one above, never a neighbour. "*" stands for one path element; "." is the root package. A package belongs to
// the first level that names it.
func levels() []level {
	return []level{
		{"helpers", []string{"internal/lib/*", "internal/testkit/addrtest", "examples", "web"}},
		{"leaves", []string{"message", "state", "event", "internal/access"}},
		{"what tools may use", []string{"model", "sandbox"}},
		{"contracts", []string{
			"internal/access/*", "tool", "internal/store", "internal/bus", "internal/outgoing", "internal/secrets",
			"internal/config",
			"internal/feature/threadstate", "internal/feature/conversation",
		}},
		{"how features keep rows", []string{"internal/database"}},
		{"what requests are made of, jobs, and where files lie", []string{
			"internal/job", "internal/model/tokens", "internal/model/history", "internal/userdata",
			"internal/feature/compaction", "internal/feature/toolmeta",
		}},
		{"suites and what several features share", []string{
			"model/*test", "sandbox/*test", "internal/*/*test", "internal/model/*", "internal/model/*/*test",
			"internal/feature/*", "internal/buses/memory",
		}},
		{"the list of features", []string{"internal/feature"}},
		{"engine", []string{"agent"}},
		{"implementations", []string{
			"agent/*test", "internal/middleware/*", "internal/models/*", "internal/tools/*", "internal/sandboxes/*",
			"internal/stores/*", "internal/buses/*",
		}},
		{"tests of features", []string{"internal/testkit/databases", "internal/testkit/toolboxes"}},
		{"assembly: following", []string{"internal/stream/*"}},
		{"assembly: runs", []string{"internal/runs", "internal/archive"}},
		{"assembly: recorded runs", []string{"internal/replay"}},
		{"assembly: the lead agent", []string{"internal/lead"}},
		{"edges: what routes share", []string{"internal/gateway/route"}},
		{"edges: the shapes of answers", []string{"internal/gateway/shape"}},
		{"edges: groups of routes", []string{"internal/gateway/*"}},
		{"edges: what asks the routes", []string{"internal/client"}},
		{"edges", []string{"internal/cli", "internal/gateway", "internal/metrics"}},
		{"tests of edges", []string{"internal/testkit/gateways"}},
		{"the whole", []string{"internal/app"}},
		{"embedding", []string{"."}},
		{"tests of the whole", []string{"test/*"}},
		{"what measurements share", []string{"cmd/pudu-bench/measure", "cmd/pudu-bench/wires"}},
		{"measurements", []string{"cmd/pudu-bench/*"}},
		{"programs", []string{"test/*/*", "cmd/*", "examples/*"}},
	}
}

type level struct {
	name     string
	packages []string
}

// stdOnly are the packages that a Go program imports to embed an agent: they bring no dependency along.
func stdOnly() []string {
	return []string{"message", "state", "event", "tool", "model", "agent", "sandbox"}
}

// pkg is what `go list` says of a package.
type pkg struct {
	ImportPath, Name, Doc string
	GoFiles, Imports      []string
}

func (p pkg) name() string { return short(p.ImportPath) }

func short(importPath string) string {
	if importPath == module {
		return "."
	}
	return strings.TrimPrefix(importPath, module+"/")
}

func own(importPath string) bool {
	return importPath == module || strings.HasPrefix(importPath, module+"/")
}

// levelOf returns the index of the first level that names a package, or -1.
func levelOf(name string) int {
	return slices.IndexFunc(levels(), func(l level) bool {
		return slices.ContainsFunc(l.packages, func(pattern string) bool {
			ok, err := path.Match(pattern, name)
			return ok && err == nil
		})
	})
}

func TestImportsPointDown(t *testing.T) {
	for _, complaint := range importComplaints(list(t)) {
		t.Error(complaint)
	}
}

func importComplaints(pkgs []pkg) (out []string) {
	for _, p := range pkgs {
		at := levelOf(p.name())
		if at < 0 {
			out = append(out, p.name()+" stands on no level: name it in levels()")
			continue
		}
		for _, i := range p.Imports {
			if below := levelOf(short(i)); own(i) && below >= at {
				out = append(out, fmt.Sprintf("%s (%s) must not import %s (%s)", p.name(), levels()[at].name, short(i),
					levels()[below].name))
			}
		}
	}
	return out
}

// TestWhatDecidesReadsNoMemory: nothing that says what a run may do can reach what is remembered.
func TestWhatDecidesReadsNoMemory(t *testing.T) {
	byPath := map[string]pkg{}
	for _, p := range list(t) {
		byPath[p.ImportPath] = p
	}
	for _, from := range []string{
		"internal/access", "internal/feature/approval", "internal/feature/guardrail", "internal/middleware/guardrail",
		"internal/middleware/sandboxaudit",
	} {
		queue := []string{module + "/" + from}
		if len(byPath[queue[0]].GoFiles) == 0 {
			t.Fatalf("there is no %s", from)
		}
		for seen := map[string]bool{}; len(queue) > 0; queue = queue[1:] {
			for _, i := range byPath[queue[0]].Imports {
				if own(i) && !seen[i] {
					seen[i], queue = true, append(queue, i)
				}
				if strings.HasSuffix(i, "/memory") && i != module+"/internal/buses/memory" {
					t.Errorf("%s reaches %s", from, i)
				}
			}
		}
	}
}

func TestPublicPackagesUseTheStandardLibraryAlone(t *testing.T) {
	for _, complaint := range dependencyComplaints(list(t)) {
		t.Error(complaint)
	}
}

func dependencyComplaints(pkgs []pkg) (out []string) {
	byPath := map[string]pkg{}
	for _, p := range pkgs {
		byPath[p.ImportPath] = p
	}
	for _, name := range stdOnly() {
		start := module + "/" + name
		if _, ok := byPath[start]; !ok {
			out = append(out, name+" is missing")
		}
		seen := map[string]bool{}
		for queue := []string{start}; len(queue) > 0; queue = queue[1:] {
			for _, i := range byPath[queue[0]].Imports {
				domain, _, _ := strings.Cut(i, "/")
				switch {
				case own(i) && !seen[i]:
					queue = append(queue, i)
				case !own(i) && strings.Contains(domain, "."):
					out = append(out, fmt.Sprintf("%s must use the standard library alone, but %s imports %s", name,
						short(queue[0]), i))
				}
				seen[i] = true
			}
		}
	}
	return out
}

// TestTheTreeIsDrawn compares the folders with the tree in docs/architecture.md: lines such as "    agent/   the loop".
func TestTheTreeIsDrawn(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, tree, _ := strings.Cut(string(page), "\n## The tree\n")
	tree, _, _ = strings.Cut(tree, "\n## ")
	var drawn []string
	for _, m := range regexp.MustCompile(`(?m)^    (  )?([a-z]+)/ +\S`).FindAllStringSubmatch(tree, -1) {
		if m[1] != "" {
			m[2] = "internal/" + m[2]
		}
		drawn = append(drawn, m[2])
	}
	want := slices.Concat(folders(t, "."), folders(t, "internal"))
	slices.Sort(drawn)
	slices.Sort(want)
	if diff := cmp.Diff(want, drawn); diff != "" {
		t.Errorf("the folders (-) and docs/architecture.md (+): %s", diff)
	}
	if n := len(folders(t, "internal")); n > maxEntries {
		t.Errorf("internal/ has %d entries: at most %d, so that it reads as a table of contents", n, maxEntries)
	}
}

// folders are the folders in dir that git knows.
func folders(t *testing.T, dir string) (names []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", dir)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for file := range strings.Lines(string(out)) {
		name, _, inside := strings.Cut(strings.TrimPrefix(strings.TrimSpace(file), dir+"/"), "/")
		if inside && !strings.HasPrefix(name, ".") {
			names = append(names, path.Join(dir, name))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for _, complaint := range docComplaints(list(t)) {
		t.Error(complaint)
	}
}

func docComplaints(pkgs []pkg) (out []string) {
	for _, p := range pkgs {
		begin := "Package " + p.Name + " "
		if p.Name == "main" {
			begin = "Command " + path.Base(p.ImportPath) + " "
		}
		if !strings.HasPrefix(p.Doc, begin) {
			out = append(out, fmt.Sprintf("%s: its doc comment must begin with %q", p.name(), begin))
		}
	}
	return out
}

func TestFiles(t *testing.T) {
	files := goFiles(t)
	for _, file := range files {
		complaints, err := fileComplaints(filepath.Join(root, file), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range complaints {
			t.Error(c)
		}
	}
	if len(files) < 50 {
		t.Errorf("only %d files were found", len(files))
	}
}

// fileComplaints reads a file, or src instead when it is not nil.
func fileComplaints(file string, src any) (out []string, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(f) {
		return nil, err
	}
	if n := fset.File(f.Pos()).LineCount(); n > maxLines && !strings.HasSuffix(file, "_test.go") {
		out = append(out, fmt.Sprintf("%s: %d lines: at most %d, one concept per file", file, n, maxLines))
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			out = append(out, fmt.Sprintf("%s: no init functions: let the assembly call what must happen",
				fset.Position(fn.Pos())))
		}
	}
	out = append(out, skipComplaints(fset, f)...)
	for _, group := range f.Comments {
		for _, word := range []string{"TODO", "FIXME", "XXX"} {
			if strings.Contains(group.Text(), word) {
				out = append(out, fmt.Sprintf("%s: %s: do it or write an issue", fset.Position(group.Pos()), word))
			}
		}
	}
	return out, nil
}

// skipComplaints finds tests that leave themselves out without being listed.
func skipComplaints(fset *token.FileSet, f *ast.File) (out []string) {
	if f.Name.Name == "machinetest" {
		return nil
	}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		fn, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, ok := fn.X.(*ast.Ident)
		if ok && slices.Contains([]string{"t", "tb", "b", "f"}, of.Name) &&
			slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, fn.Sel.Name) {
			out = append(out, fmt.Sprintf("%s: no test is skipped in silence: use machinetest.Cannot",
				fset.Position(call.Pos())))
		}
		return true
	})
	return out
}

// goFiles are the paths of all Go files, below the root.
func goFiles(t *testing.T) (files []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(file string, e fs.DirEntry, err error) error {
		name := path.Base(file)
		switch {
		case err != nil:
			return err
		case e.IsDir() && file != "." && (strings.HasPrefix(name, ".") ||
			slices.Contains([]string{"bin", "testdata", "node_modules"}, name)):
			return fs.SkipDir
		case !e.IsDir() && path.Ext(file) == ".go":
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// list returns every package with Go files besides tests. What does not compile is for the build to tell.
func list(t *testing.T) []pkg {
	t.Helper()
	pkgs, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	return pkgs
}

var listed = sync.OnceValues(func() (pkgs []pkg, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "list", "-e", "-json=ImportPath,Name,Doc,GoFiles,Imports", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	data, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &stderr)
	}
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs, nil
		} else if err != nil {
			return nil, err
		}
		if len(p.GoFiles) > 0 {
			pkgs = append(pkgs, p)
		}
	}
})

func TestTheRulesFindBreaches(t *testing.T) {
	fake := func(name, doc string, imports ...string) pkg {
		return pkg{ImportPath: module + "/" + name, Name: path.Base(name), Doc: doc, Imports: imports}
	}
	var broken []pkg
	for _, name := range stdOnly() {
		broken = append(broken, fake(name, "Package "+name+" is.", "fmt"))
	}
	broken[0].Imports = []string{module + "/agent", "example.com/x"}
	broken = append(broken,
		fake("internal/middleware/a", "Package a is.", module+"/internal/middleware/b", "example.com/x"),
		fake("internal/middleware/b", "", module+"/agent"),
		fake("internal/stranger", "Package stranger is."),
	)
	got := slices.Concat(importComplaints(broken), dependencyComplaints(broken[:7]), docComplaints(broken))
	want := []string{
		"message (leaves) must not import agent (engine)",
		"internal/middleware/a (implementations) must not import internal/middleware/b (implementations)",
		"internal/stranger stands on no level: name it in levels()",
		"message must use the standard library alone, but message imports example.com/x",
		`internal/middleware/b: its doc comment must begin with "Package b "`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	src := "package x\n\n// TO" + "DO: later\nfunc init() {}\nfunc y(t *testing.T) { t.Skip() }\n" +
		strings.Repeat("\n", maxLines)
	complaints, err := fileComplaints("x.go", src)
	if err != nil || len(complaints) != 4 {
		t.Errorf("%v %v", complaints, err)
	}
}

// TestOnePlaceJoinsPathsOfUsers: nothing but internal/userdata knows where a user's things lie on disk.
func TestOnePlaceJoinsPathsOfUsers(t *testing.T) {
	for _, p := range list(t) {
		if p.name() == "internal/userdata" {
			continue
		}
		for _, name := range p.GoFiles {
			complaints, err := pathComplaints(filepath.Join(root, filepath.FromSlash(strings.TrimPrefix(p.name(), ".")),
				name), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range complaints {
				t.Error(c)
			}
		}
	}
}

// pathComplaints finds texts with the names of users' folders: "users/..." and ".../user-data/..." wherever they stand,
// unless as the path that a sandbox shows, and the names alone where paths are joined.
func pathComplaints(file string, src any) (out []string, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	whole := regexp.MustCompile(`^users/|/threads/.*user-data|(^|[^t])/user-data\b|^user-data/`)
	alone := regexp.MustCompile(`^(users|threads|user-data)(/|$)`)
	ast.Inspect(f, func(n ast.Node) bool {
		var texts []ast.Expr
		bad := whole
		switch n := n.(type) {
		case *ast.BasicLit:
			texts = []ast.Expr{n}
		case *ast.CallExpr:
			if fn, ok := n.Fun.(*ast.SelectorExpr); ok && fn.Sel.Name == "Join" {
				texts, bad = n.Args, alone
			}
		}
		for _, e := range texts {
			if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING &&
				bad.MatchString(strings.Trim(lit.Value, "\"`")) {
				out = append(out, fmt.Sprintf("%s: %s: ask internal/userdata where a user's things lie",
					fset.Position(lit.Pos()), lit.Value))
			}
		}
		return true
	})
	return out, nil
}

func TestPathsOfUsersAreFound(t *testing.T) {
	for text, want := range map[string]int{
		`filepath.Join(dir, "users", user)`: 1, `path.Join(folder, "threads", id)`: 1,
		`name + "/user-data/workspace"`: 1, `path.Join(x, "user-data")`: 1, `dir + "/" + "users/default"`: 1,
		`"/mnt/user-data/outputs"`: 0, `"/threads/" + id`: 0, `"FROM users"`: 0, `set["threads"]`: 0,
	} {
		out, err := pathComplaints("a.go", "package a\nvar _ = "+text)
		if err != nil || len(out) != want {
			t.Errorf("%s: %q, %v", text, out, err)
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestReach runs a package whose tests reach different lines of two files.
func TestReach(t *testing.T) {
	dir := module(t, map[string]string{
		"p/one.go":    "package p\n\nfunc One() int {\n\treturn 1\n}\n\nfunc Nobody() int {\n\treturn 0\n}\n",
		"p/two.go":    "package p\n\nfunc Two() int {\n\treturn One() + 1\n}\n",
		"q/q_test.go": "package q\n\nimport (\n\t\"testing\"\n\n\t\"example.org/p/p\"\n)\n\nfunc TestTwo(*testing.T) { p.Two() }\n",
		"p/p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestOne(*testing.T) { One() }\n\n" +
			"func ExampleTwo() {\n\tTwo()\n\t// Output:\n}\n\nfunc BenchmarkOne(*testing.B) { One() }\n",
	})
	t.Chdir(dir)
	r, err := findReach(t.Context(), "p", "p", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.tests); n != 2 {
		t.Errorf("%d tests, want 2", n)
	}
	for _, tt := range []struct {
		file string
		line int
		want string
	}{
		{"p/one.go", 4, "ExampleTwo TestOne"}, {"p/one.go", 8, "ExampleTwo TestOne"},
		{"p/two.go", 4, "ExampleTwo, TestOne"},
	} {
		var got []string // the groups, each with its tests
		for _, g := range r.of(tt.file, tt.line) {
			slices.Sort(g.tests)
			got = append(got, strings.Join(g.tests, " "))
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%s:%d is tried by %q, want %q", tt.file, tt.line, got, tt.want)
		}
	}
	if r, err := findReach(t.Context(), "p", "./q", t.TempDir()); err != nil || len(r.tests) != 1 ||
		len(r.of("p/two.go", 4)) != 1 {
		t.Errorf("by the tests of another package: %+v, %v", r, err)
	}
	if err := os.WriteFile("p/fails_test.go",
		[]byte("package p\n\nimport \"testing\"\n\nfunc TestFails(t *testing.T) { t.Fatal(1) }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := findReach(t.Context(), "p", "p", t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "TestFails fails without a change") {
		t.Errorf("a test that fails by itself: %v", err)
	}
}

// TestGroups has quick tests tried together, slow ones by themselves afterwards, and last those that reach nothing.
func TestGroups(t *testing.T) {
	var r reach
	for _, tt := range []struct {
		name string
		took time.Duration
	}{{"A", time.Second}, {"B", time.Second}, {"C", 2 * time.Second}, {"D", 5 * time.Second}, {"E", time.Minute}} {
		r.tests = append(r.tests, reachingTest{tt.name, tt.took, map[string][]block{"f.go": {{1, 3}}}})
	}
	r.tests = append(r.tests, reachingTest{name: "F"}, reachingTest{name: "G"})
	want := [][]string{{"A", "B"}, {"C", "D"}, {"E"}, {"F", "G"}}
	var got [][]string
	for _, g := range r.of("x/f.go", 3) {
		got = append(got, g.tests)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if groups := r.of("x/f.go", 4); len(groups) != 1 || len(groups[0].tests) != 7 {
		t.Errorf("line 4, which none reaches, is tried by %v", groups)
	}
}

// module writes files of a module of its own.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.org/p\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

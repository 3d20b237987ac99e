package main

import (
	"slices"
	"strings"
	"testing"
)

const sample = `package p

func f(a, b int, s []string) (int, error) {
	if a < b && ok() {
		g(a)
	}
	for range s {
		continue
	}
	x := func() bool { return true }
	a += 2
	slog.Info("told")
	return a, fail(x)
}
`

func TestFind(t *testing.T) {
	found, err := findIn("p.go", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range found {
		got = append(got, strings.TrimPrefix(c.name(), "p.go:f: "))
		if changed := string(c.changed()); changed == sample ||
			len(changed)-len(sample) != len(c.with)-(c.end-c.start) {
			t.Errorf("%s makes\n%s", c.name(), changed)
		}
	}
	want := []string{
		"if a < b && ok() { => if false && (a < b && ok()) {", "if a < b && ok() { => if a < b || ok() {",
		"if a < b && ok() { => if a <= b && ok() {", "if a < b && ok() { => if a >= b && ok() {", "g(a) => nothing",
		"continue => break", "x := func() bool { return true } => x := func() bool { return false }",
		"a += 2 => nothing", "a += 2 => a += 3", "return a, fail(x) => return a, nil",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestRun examines a module with a function whose boundary no test holds, and one that a change lets make too much.
func TestRun(t *testing.T) {
	t.Chdir(module(t, map[string]string{
		"p/p.go":              "package p\n\nfunc Large(n int) bool {\n\tif n > 10 {\n\t\treturn true\n\t}\n\treturn false\n}\n",
		"p/p_test.go":         "package p\n\nimport \"testing\"\n\nfunc TestLarge(t *testing.T) {\n\tif Large(5) || !Large(50) {\n\t\tt.Error()\n\t}\n}\n",
		"large/large.go":      "package large\n\nfunc Make(n int) []byte { return make([]byte, n-2<<30) }\n",
		"large/large_test.go": "package large\n\nimport \"testing\"\n\nfunc TestMake(t *testing.T) {\n\tif len(Make(2<<30+1)) == 0 {\n\t\tt.Error()\n\t}\n}\n",
		"q/q_test.go":         "package q\n\nimport (\n\t\"testing\"\n\n\t\"example.org/p/p\"\n)\n\nfunc TestEleven(t *testing.T) {\n\tif !p.Large(11) {\n\t\tt.Error()\n\t}\n}\n",
		"table.txt":           "# one\np/p.go:Large: if n > 10 { => if n >= 10 { | 10 itself never comes\n",
	}))
	for _, tt := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"-table", "table.txt", "./p"}, 1,
			[]string{"survived, line 4: p/p.go:Large: if n > 10 { => if n > 11 {\n",
				"p: 80 % noticed: 4 of 5; 1 survived, 1 more change nothing"}},
		{[]string{"-table", "table.txt", "-v", "./p"}, 1,
			[]string{"noticed by TestLarge, line 4: p/p.go:Large: if n > 10 { => if n <= 10 {\n"}},
		{[]string{"-table", "table.txt", "-v", "./p@./p,./q"}, 0,
			[]string{"noticed by TestEleven, line 4: p/p.go:Large: if n > 10 { => if n > 11 {", "p: 100 %"}},
		{[]string{"-table", "table.txt", "-least", "80", "-sample", "1", "./p"}, 0, []string{"of 1; "}},
		{[]string{"-table", "table.txt", "-match", "if n > 11 {", "./p"}, 1, []string{"0 of 1; 1 survived, 0 more"}},
		{[]string{"-table", "table.txt", "-v", "./large"}, 0, []string{ // one makes 4 GiB
			"large: 100 % noticed: 3 of 3; ", "noticed by the process's end",
		}},
		{[]string{"-table", "none.txt", "./p"}, 2, nil},
		{[]string{"-table", "table.txt"}, 2, nil},
		{[]string{"-table", "table.txt", "./none"}, 2, nil},
	} {
		var out strings.Builder
		code, err := run(t.Context(), tt.args, &out)
		if code != tt.code || (code == 2) != (err != nil) {
			t.Errorf("%q: code %d, %v\n%s", tt.args, code, err, out.String())
		}
		for _, want := range tt.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q: no %q in\n%s", tt.args, want, out.String())
			}
		}
	}
}

// TestTable: what the table says of a change is of one that is still possible.
func TestTable(t *testing.T) {
	known, err := readTable("survivors.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	possible := make(map[string]bool)
	for name := range known {
		file, _, _ := strings.Cut(name, ":")
		if possible[file] {
			continue
		}
		possible[file] = true
		changes, err := find([]string{file})
		if err != nil {
			t.Error(err)
		}
		for _, c := range changes {
			possible[c.name()] = true
		}
	}
	for name := range known {
		if !possible[name] {
			t.Errorf("nothing can be changed like this any more: %s", name)
		}
	}
}

package tooloutputbudget

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
)

func TestKinds(t *testing.T) {
	program := "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfor i := range 3 {\n\t\tfmt.Println(i)\n\t}\n}\n\ntype T struct{}\n\nfunc (t T) Do() {\n\treturn\n}\n"
	for _, c := range []struct {
		name, text, kind string
		says             []string
	}{
		{"object", `{"query":"x","results":[{"title":"a","url":"b"},{}],"n":3,"long":"` + strings.Repeat("l", 100) +
			`"}`, "json",
			[]string{"Summary: object of 4 members", `query: "x"`,
				"results: list of 2 elements, the first an object (title, url)", "n: 3", "long: string of 100 bytes"}},
		{"list", `[{"id":1,"name":"x"},{"id":2}]`, "json",
			[]string{"Summary: list of 2 elements, the first an object (id, name)", "id: 1"}},
		{"empty list", " [] ", "json", []string{"list of 0 elements"}},
		{"list of numbers", "[1, 2 ,3]", "json", []string{"list of 3 elements, the first 1"}},
		{"lines of JSON", "{\"a\":1}\n{\"a\":2}\n\n{\"a\":3}\n", "json",
			[]string{"3 lines with one JSON value each", "a: 1"}},
		{"cut JSON is text", `{"a":1,`, "text", nil},
		{"csv", "name,size,note\na,1,\"x, y\"\nb,2,\nc,3,z\n", "csv",
			[]string{"3 columns, about 3 rows", "columns: name, size, note"}},
		{"semicolons", "name;size\na;1,5\nb;2,5\nc;3\n", "csv", []string{"Summary: 2 columns, about 3 rows"}},
		{"tsv", "name\tsize\na\t1\nb\t2\n", "tsv", []string{"2 columns, about 2 rows"}},
		{"a log with commas is no table",
			"2026-01-01 10:00:00,123 INFO a\n2026-01-01 10:00:01,123 INFO b\n2026-01-01 10:00:02,123 ERROR c\n", "text",
			[]string{"Summary: 3 lines, the longest of 32 bytes", "  L3: 2026-01-01 10:00:02,123 ERROR c"}},
		{"prose is no table", "Yes, it is.\nNo, it is not.\nWell, who knows.\nOr who, in fact, cares?\n", "text", nil},
		{"yaml", "---\n# comment\nname: x\nlist:\n  - a\n  - b\nnested:\n  key: 1\n", "yaml",
			[]string{"3 keys at the top", "keys: name, list, nested"}},
		{"a log is no yaml", "INFO: a\nWARN: b\nINFO: c\n", "text", nil},
		{"xml", "<?xml version=\"1.0\"?>\n<feed a=\"b\"><entry><x/></entry><entry/><title>t</title></feed>", "xml",
			[]string{"4 elements under <feed>", "2 × <entry>", "1 × <title>"}},
		{"broken xml", "<a><b", "text", nil},
		{"entities are not resolved", "<!DOCTYPE a [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><a>&e;</a>", "text",
			nil},
		{"code", program, "code", []string{"L5: func main() {", "L13: func (t T) Do() {"}},
		{"markdown", "# A\ntext\n## B\ntext\n", "text", []string{"L1: A", "L3: B"}},
		{"errors", "fine\nError: a\nfine\nall failed\n", "text", []string{"L2: Error: a", "L4: all failed"}},
		{"control characters", "\x00\x01\x02\x03", "unknown", nil},
		{"blank", " \n ", "unknown", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := study(c.text)
			lines := a.lines()
			if a.kind != c.kind {
				t.Errorf("kind %s, want %s: %s", a.kind, c.kind, lines)
			}
			for _, want := range c.says {
				if !strings.Contains(lines, want+"\n") {
					t.Errorf("%q is missing in\n%s", want, lines)
				}
			}
		})
	}
}

func TestStandingOutLinesAreBounded(t *testing.T) {
	a := study(strings.Repeat("an error "+strings.Repeat("x", 1000)+"\n", 100))
	if len(a.notable) != 7 || a.notable[6] != "and 94 more lines like these" ||
		utf8.RuneCountInString(a.lines()) > 2*mostAbout {
		t.Errorf("%d lines: %s", len(a.notable), a.lines())
	}
}

func TestOneLongLineIsNotReadByLines(t *testing.T) {
	m := New(Config{})
	text := `{"a":"` + strings.Repeat("x", 50_000) + `"}`
	got := m.render(source{tool: "t", path: "/p", chars: len(text), whole: text, shown: text})
	if !strings.Contains(got, "too long for read_file") {
		t.Error(got)
	}
}

func TestTextThatIsTooLongIsNotLookedInto(t *testing.T) {
	p := newPlace(t)
	_, results := run(t, Config{Files: p.files}, nil, says("a", strings.Repeat("[1,\n", maxParsed/4+1)))
	if got := results[0].Text(); !strings.Contains(got, "kind: unknown") ||
		!strings.Contains(got, "too long to be looked into") || len(got) > 3600 {
		t.Error(got)
	}
}

// FuzzSynopsis: whatever a tool returns, its synopsis is short, names the file and ends as the text does.
func FuzzSynopsis(f *testing.F) {
	for _, s := range []string{
		`{"a":[{"b":1}]}`, "[[1],[2]]", "{\"a\":1}\n{\"a\":2}", "a,b\n1,2\n3,4", "a\tb\n1\t2\n3\t4", "a: 1\nb:\n  - c",
		"<a><b/></a>", "<a>&x;</a>", "func a() {\n}\n", "# A\n# B", "\x00", "\xff\xfe", "error\r\n", "\"", "{", "<",
		"<!--", strings.Repeat("[", 2000), `{"":`,
	} {
		f.Add(s)
	}
	m := New(Config{})
	f.Fuzz(func(t *testing.T, s string) {
		got := m.render(source{tool: "t", path: "/p", chars: utf8.RuneCountInString(s), whole: s, shown: s})
		if n := utf8.RuneCountInString(got); n > 3600 {
			t.Errorf("%d characters of %q", n, s)
		}
		if !strings.HasPrefix(got, fmt.Sprintf("[Full t output saved to /p (%d chars", utf8.RuneCountInString(s))) ||
			!strings.Contains(got, excerpt.Last(s, 1000)+"\nAccess: ") {
			t.Errorf("%q gives %q", s, got)
		}
	})
}

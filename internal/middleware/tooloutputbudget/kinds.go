package tooloutputbudget

import (
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
)

// Bounds of what is looked at before a kind is settled.
const (
	lookedLines = 60
	mostTokens  = 200_000 // of XML
	mostDepth   = 200
)

// sample is the start of a text: its first lines, within 64 KiB, without one that is cut.
func sample(text string) []string {
	const most = 64 << 10
	lines := strings.SplitN(text[:min(len(text), most)], "\n", lookedLines+1)
	if len(lines) > lookedLines || len(text) > most && len(lines) > 1 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// tableText knows rows of equally many cells under a line of names.
func tableText(text string) (about, bool) {
	for _, t := range []struct {
		kind  string
		comma rune
	}{{"tsv", '\t'}, {"csv", ','}, {"csv", ';'}} {
		names, ok := columns(sample(text), t.comma)
		if !ok {
			continue
		}
		for i, name := range names {
			names[i] = excerpt.Clip(oneLine(name), 30)
		}
		shown := strings.Join(names[:min(len(names), 20)], ", ")
		if more := len(names) - 20; more > 0 {
			shown += fmt.Sprintf(", and %d more", more)
		}
		lines := strings.Count(text, "\n") + 1
		return about{
			kind: t.kind, summary: fmt.Sprintf("%d columns, about %d rows", len(names), lines-1),
			structure: []string{"columns: " + shown},
		}, true
	}
	return about{}, false
}

// columns returns the cells of the first row if it names the columns of all others.
func columns(lines []string, comma rune) ([]string, bool) {
	r := csv.NewReader(strings.NewReader(strings.Join(lines, "\n")))
	r.Comma, r.LazyQuotes = comma, true
	rows, err := r.ReadAll() // all rows must have as many cells as the first one
	if err != nil || len(rows) < 3 || len(rows[0]) < 2 {
		return nil, false
	}
	names := rows[0]
	for i, name := range names {
		name = strings.TrimSpace(name)
		if name == "" || len(name) > 60 || name[0] >= '0' && name[0] <= '9' || slices.Contains(names[:i], name) {
			return nil, false
		}
	}
	return names, true
}

var (
	yamlKey    = regexp.MustCompile(`^("[^"]{1,80}"|[A-Za-z_][\w ./-]{0,80}):( |$)`)
	yamlInside = regexp.MustCompile(`^(\s+\S|- |-$|#|---|\.\.\.|[}\]])`)
)

// yamlText knows block mappings by their keys at the left edge. It parses nothing.
func yamlText(text string) (about, bool) {
	var keys []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch m := yamlKey.FindStringSubmatch(line[:min(len(line), 200)]); {
		case m != nil && slices.Contains(keys, m[1]) && !strings.HasPrefix(text, "---"):
			return about{}, false // a log says the same again and again
		case m != nil && len(keys) < 200:
			keys = append(keys, m[1])
		case m != nil || line == "" || yamlInside.MatchString(line):
		default:
			return about{}, false
		}
	}
	if len(keys) < 2 {
		return about{}, false
	}
	shown := strings.Join(keys[:min(len(keys), 20)], ", ")
	return about{kind: "yaml", summary: fmt.Sprintf("%d keys at the top", len(keys)),
		structure: []string{"keys: " + shown}}, true
}

// xmlText knows a document with one root. Entities are not resolved, and nothing outside of the text is read.
func xmlText(text string) (about, bool) {
	if !strings.HasPrefix(text, "<") {
		return about{}, false
	}
	d := xml.NewDecoder(strings.NewReader(text))
	var x xmlCount
	for range mostTokens {
		tok, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return x.about()
		}
		if err != nil || !x.add(tok) {
			return about{}, false
		}
	}
	return x.about()
}

// xmlCount counts what is under the root.
type xmlCount struct {
	root  string
	depth int
	total int
	names []string
	under map[string]int
}

func (x *xmlCount) add(tok xml.Token) bool {
	switch t := tok.(type) {
	case xml.StartElement:
		x.total++
		switch x.depth {
		case 0:
			if x.root != "" {
				return false
			}
			x.root, x.under = t.Name.Local, map[string]int{}
		case 1:
			if x.under[t.Name.Local] == 0 && len(x.names) < mostKeys {
				x.names = append(x.names, t.Name.Local)
			}
			if len(x.under) < 1000 || x.under[t.Name.Local] > 0 {
				x.under[t.Name.Local]++
			}
		}
		x.depth++
	case xml.EndElement:
		x.depth--
	}
	return x.depth >= 0 && x.depth < mostDepth
}

func (x *xmlCount) about() (about, bool) {
	if x.root == "" {
		return about{}, false
	}
	a := about{kind: "xml", summary: fmt.Sprintf("%d elements under <%s>", x.total-1,
		excerpt.Clip(oneLine(x.root), 60))}
	for _, name := range x.names {
		a.structure = append(a.structure, fmt.Sprintf("%d × <%s>", x.under[name], excerpt.Clip(oneLine(name), 60)))
	}
	return a, true
}

var (
	codeLine = regexp.MustCompile(`^\s*(import |from \S+ import |package \w|#include|using |def \w|class \w|func |fn ` +
		`\w|pub |impl |struct |interface |type \w+ |const |let |var |return\b|if \(|for \(|while \(|else|elif |` +
		`public |private |static |export |@\w|[{}\])];?,?$|//|/\*|\*/)`)
	codeDef = regexp.MustCompile(`^\s{0,4}(export |public |private |static |async |pub |abstract |final )*(def|` +
		`class|func|fn|function|struct|interface|impl|type|enum|trait) \S`)
)

// codeText knows programs by how many lines look like those of one, and lists what they define.
func codeText(text string) (about, bool) {
	like, all := 0, 0
	for _, line := range sample(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		all++
		if codeLine.MatchString(line[:min(len(line), 200)]) {
			like++
		}
	}
	if all < 8 || like*3 < all {
		return about{}, false
	}
	defs := standingOut(text, codeDef.MatchString, mostKeys)
	return about{kind: "code", summary: count(text), structure: defs}, len(defs) > 0
}

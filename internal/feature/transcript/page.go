package transcript

import (
	"bufio"
	"bytes"
	_ "embed"
	"html/template"

	"github.com/yuin/goldmark/ast"
	gmtext "github.com/yuin/goldmark/text"
)

// page writes one page of HTML, a part after the other.
type page struct{ out *bufio.Writer }

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

var parts = template.Must(template.New("page").Funcs(template.FuncMap{
	"time": timeOf, "summary": summary, "pictures": pictures, "title": titleOf,
	"style":  func() template.CSS { return template.CSS(pageCSS) }, //nolint:gosec // our own
	"render": render, "policy": func() string { return Policy },
}).Parse(pageHTML))

func (p page) part(name string, of any) error { return parts.ExecuteTemplate(p.out, name, of) }

func (p page) begin(a About) error { return p.part("begin", a) }

func (p page) say(s said) error { return p.part("said", s) }

func (p page) call(c call) error { return p.part("call", c) }

func (p page) end() error { return p.part("end", nil) }

// Policy is what a browser may do with the page, wherever it comes from: show it.
const Policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

// maxDepth is how deep what an answer has may be nested: browsers give up at 512.
const maxDepth = 100

// render is the Markdown of an answer as HTML. One that is too much for a parser or a browser is shown as it is.
func render(s string) template.HTML {
	if cheap(s) {
		var out bytes.Buffer
		md, source := markup(), []byte(s)
		doc := md.Parser().Parse(gmtext.NewReader(source))
		if depth(doc) <= maxDepth && md.Renderer().Render(&out, source, doc) == nil {
			return template.HTML(out.String()) //nolint:gosec // markup.go writes no HTML of the text
		}
	}
	return template.HTML("<pre>\n" + template.HTMLEscapeString(s) + "</pre>") //nolint:gosec // it is escaped
}

func depth(n ast.Node) (d int) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		d = max(d, depth(c))
	}
	return d + 1
}

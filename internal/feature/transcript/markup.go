package transcript

import (
	"net/url"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

const (
	// maxMarkup is how long a text with markup may be, and maxMarks how many characters in it may begin some: the
	// parser takes time that grows with their square. 6000 take half a second.
	maxMarkup, maxMarks = 64 << 10, 6000
)

// cheap reports whether a text can be parsed in a short time.
func cheap(s string) bool {
	marks := 0
	for i := range len(s) {
		if strings.IndexByte("*_[~`<>-", s[i]) >= 0 {
			marks++
		}
	}
	return len(s) <= maxMarkup && marks <= maxMarks
}

// markup parses Markdown and writes it as HTML that shows and does nothing.
func markup() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList,
			extension.NewCJK(extension.WithEastAsianLineBreaks())),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(harmless{}, 1))),
	)
}

// harmless writes what could act: HTML is shown as it was written, a link leads to the web or is its text, and a
// picture becomes a link, so that to look at the page asks no server for anything.
type harmless struct{}

// RegisterFuncs implements [renderer.NodeRenderer].
func (h harmless) RegisterFuncs(on renderer.NodeRendererFuncRegisterer) {
	on.Register(ast.KindHTMLBlock, h.block)
	on.Register(ast.KindRawHTML, h.inline)
	on.Register(ast.KindLink, h.link)
	on.Register(ast.KindImage, h.image)
	on.Register(ast.KindAutoLink, h.autoLink)
}

func (harmless) block(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	b, ok := n.(*ast.HTMLBlock)
	if !ok || !entering {
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("<pre>\n")
	for i := range b.Lines().Len() {
		line := b.Lines().At(i)
		_, _ = w.Write(util.EscapeHTML(line.Value(source)))
	}
	if b.HasClosure() {
		_, _ = w.Write(util.EscapeHTML(b.ClosureLine.Value(source)))
	}
	_, err := w.WriteString("</pre>\n")
	return ast.WalkContinue, err
}

func (harmless) inline(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	raw, ok := n.(*ast.RawHTML)
	for i := 0; ok && entering && i < raw.Segments.Len(); i++ {
		segment := raw.Segments.At(i)
		_, _ = w.Write(util.EscapeHTML(segment.Value(source)))
	}
	return ast.WalkSkipChildren, nil
}

func (harmless) link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	l, ok := n.(*ast.Link)
	if !ok {
		return ast.WalkContinue, nil
	}
	return ast.WalkContinue, anchor(w, string(l.Destination), entering)
}

// anchor begins or ends a link. Of one that leads nowhere outside, such as a path of the sandbox, the text stays, with
// the destination behind it.
func anchor(w util.BufWriter, to string, entering bool) (err error) {
	href := outside(to)
	switch {
	case entering && href != "":
		_, err = w.WriteString(`<a rel="noopener noreferrer nofollow" href="` + href + `">`)
	case entering:
	case href != "":
		_, err = w.WriteString("</a>")
	case to != "":
		_, err = w.WriteString(" (<code>" + string(util.EscapeHTML([]byte(to))) + "</code>)")
	}
	return err
}

// outside is a URL of the web or of mail, escaped for an attribute; empty for any other.
func outside(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
		return ""
	}
	return string(util.EscapeHTML([]byte(u.String())))
}

// image writes the words that stand for a picture, as a link that names its host.
func (harmless) image(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	i, ok := n.(*ast.Image)
	if !ok || !entering {
		return ast.WalkContinue, nil
	}
	to := string(i.Destination)
	u, errURL := url.Parse(to)
	if strings.HasPrefix(to, "data:") {
		to = ""
	}
	if inLink(n) {
		to = "" // a link within a link is none
	}
	err := anchor(w, to, true)
	_, _ = w.WriteString("[picture")
	if errURL == nil && u.Host != "" {
		_, _ = w.WriteString(" at ")
		_, _ = w.Write(util.EscapeHTML([]byte(u.Host)))
	}
	if words := i.Text(source); len(words) > 0 { //nolint:staticcheck // the words without their markup are what is wanted
		_, _ = w.WriteString(": ")
		_, _ = w.Write(util.EscapeHTML(words))
	}
	_, _ = w.WriteString("]")
	if err == nil {
		err = anchor(w, to, false)
	}
	return ast.WalkSkipChildren, err
}

func inLink(n ast.Node) bool {
	for n = n.Parent(); n != nil; n = n.Parent() {
		if n.Kind() == ast.KindLink {
			return true
		}
	}
	return false
}

func (harmless) autoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	l, ok := n.(*ast.AutoLink)
	if !ok || !entering {
		return ast.WalkContinue, nil
	}
	to := string(l.URL(source))
	if l.AutoLinkType == ast.AutoLinkEmail {
		to = "mailto:" + to
	}
	href := outside(to)
	label := string(util.EscapeHTML(l.Label(source)))
	if href == "" {
		_, err := w.WriteString(label)
		return ast.WalkContinue, err
	}
	_, err := w.WriteString(`<a rel="noopener noreferrer nofollow" href="` + href + `">` + label + "</a>")
	return ast.WalkContinue, err
}

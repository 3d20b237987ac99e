package markdown

import (
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// inline returns the text in a node in a style.
func (r renderer) inline(parent ast.Node, style string) (out []cell) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			out = append(out, r.cells(r.written(n), style)...)
			if n.HardLineBreak() {
				out = append(out, cell{text: "\n"})
			} else if n.SoftLineBreak() {
				out = append(out, blanks(1)...)
			}
		case *ast.CodeSpan:
			out = append(out, r.marked(n, "`", style, code)...)
		case *ast.Emphasis:
			out = append(out, r.marked(n, strings.Repeat("*", n.Level), style, [...]string{italic, bold}[n.Level-1])...)
		case *extended.Strikethrough:
			out = append(out, r.marked(n, "~~", style, struck)...)
		case *ast.Link:
			out = append(out, r.link(n, n.Destination, style)...)
		case *ast.Image:
			out = append(out, r.link(n, n.Destination, style)...)
		case *ast.AutoLink:
			out = append(out, r.cells(string(n.Label(r.source)), with(style, underlined))...)
		case *ast.RawHTML:
			for _, s := range n.Segments.Sliced(0, n.Segments.Len()) {
				out = append(out, r.cells(string(s.Value(r.source)), style)...)
			}
		}
	}
	return out
}

// marked returns the text in a node in one more style, or with its marks when there are no styles.
func (r renderer) marked(n ast.Node, mark, style, more string) []cell {
	inner := r.inline(n, with(style, more))
	if !r.plain {
		return inner
	}
	return append(append(r.cells(mark, ""), inner...), r.cells(mark, "")...)
}

// link returns the text of a link or an image, followed by where it leads unless that is the text.
func (r renderer) link(n ast.Node, destination []byte, style string) []cell {
	out, to := r.inline(n, with(style, underlined)), unescape(string(destination))
	switch shown := plainText(out); {
	case to == "" || shown == to || "mailto:"+shown == to:
		return out
	case shown == "":
		return r.cells(to, with(style, underlined))
	}
	return append(out, r.cells(" ("+to+")", with(style, dim))...)
}

// written returns a text without the escapes of Markdown. Code has none.
func (r renderer) written(n *ast.Text) string {
	s := string(n.Value(r.source))
	if n.IsRaw() || n.Parent().Kind() == ast.KindCodeSpan {
		return s
	}
	return unescape(s)
}

// unescape resolves backslashes before punctuation and references such as "&amp;". A reference to a character that
// could disturb the terminal stays as it is written.
func unescape(s string) string {
	const longest = 34 // bytes of a reference
	var b strings.Builder
	for len(s) > 0 {
		n := 1
		switch {
		case s[0] == '\\' && len(s) > 1 && util.IsPunct(s[1]):
			b.WriteByte(s[1])
			n = 2
		case s[0] == '&' && strings.IndexByte(s[:min(len(s), longest)], ';') > 0:
			n = strings.IndexByte(s, ';') + 1
			resolved := string(util.ResolveEntityNames(util.ResolveNumericReferences([]byte(s[:n]))))
			if strings.ContainsFunc(resolved, func(c rune) bool { return !unicode.IsGraphic(c) || c == '\u2028' }) {
				resolved = s[:n]
			}
			b.WriteString(resolved)
		default:
			b.WriteByte(s[0])
		}
		s = s[n:]
	}
	return b.String()
}

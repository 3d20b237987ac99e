package transcript_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	gmtext "github.com/yuin/goldmark/text"
	"golang.org/x/net/html"

	"github.com/pudu-ai/pudu/internal/feature/transcript"
	"github.com/pudu-ai/pudu/message"
)

// headings counts the headings of a Markdown text that stand in nothing else.
func headings(t *testing.T, md string) (n int) {
	t.Helper()
	for c := goldmark.DefaultParser().Parse(gmtext.NewReader([]byte(md))).FirstChild(); c != nil; c = c.NextSibling() {
		if h, ok := c.(*ast.Heading); ok && h.Level <= 2 {
			n++
		}
	}
	return n
}

// checkHarmless fails the test if the page has anything that acts, loads, or leads to where only a browser gets.
func checkHarmless(t *testing.T, doc *html.Node) {
	t.Helper()
	known := strings.Fields("html head meta title style body header main h1 h2 h3 h4 h5 h6 p code pre small article div details summary ul ol li a " +
		"em strong del br hr blockquote table thead tbody tr th td input")
	attributes := strings.Fields("charset http-equiv content name dir class href rel open start align style type disabled checked")
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			if n.Type == html.CommentNode {
				t.Errorf("a comment: %q", n.Data)
			}
			continue
		}
		if !slices.Contains(known, n.Data) {
			t.Errorf("an element <%s>", n.Data)
		}
		for _, a := range n.Attr {
			if !slices.Contains(attributes, a.Key) {
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
			u, err := url.Parse(a.Val)
			if a.Key == "href" && (err != nil || !slices.Contains([]string{"http", "https", "mailto"}, u.Scheme)) {
				t.Errorf("a link to %q", a.Val)
			}
			if a.Key == "style" && !strings.HasPrefix(a.Val, "text-align:") {
				t.Errorf("a style %q", a.Val)
			}
		}
	}
	if len(find(doc, "title")) != 1 || len(find(doc, "style")) != 1 || len(find(doc, "main")) != 1 ||
		len(find(doc, "meta")) != 5 {
		t.Error("a part of the page is there twice, or missing")
	}
}

// hostile are texts that try to be more than text.
func hostile() []string {
	return []string{
		"<script>alert(1)</script>", "</pre></details></main><script src=https://evil.example/x.js></script>",
		"<img src=x onerror=alert(1)>", "[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))",
		"[x](data:text/html,<script>alert(1)</script>)", "[x](vbscript:x)", "[x](java\tscript:alert(1))",
		"[x](&#106;avascript:alert(1))", "<javascript:alert(1)>", "<https://evil.example/\"onclick=x>",
		"![tracked](https://evil.example/pixel.png)", "![x](data:image/png;base64,AAAA)",
		"[![a](https://a.example/b.png)](https://c.example)", "[x]: javascript:alert(1)\n\n[x]",
		"[x](/etc/passwd) and [y](//evil.example)", "[x](https://a.example \"t\\\" onmouseover=x\")",
		"```html\n</code></pre><script>\n```", "| a |\n|:-:|\n| <iframe src=x> |", "<style>*{display:none}</style>",
		"<!-- <script> -->", "<!--", "<title>", "a\u202eb\x1b[31m\x00\u2028", "<svg/onload=alert(1)>",
		"<base href=https://evil.example>", "<meta http-equiv=refresh content=0>", "- [ ] a\n- [x] b",
		"https://evil.example", "<a@b.example>", "鹿<script>鹿</script>", "\\<script>", "&lt;script&gt;", "<?php ?>",
		"<![CDATA[<script>]]>", "~~<b>~~", "{{.}}",
	}
}

func TestHostile(t *testing.T) {
	for _, text := range hostile() {
		doc := parsed(t, written(t, transcript.HTML, everywhere(text)...))
		checkHarmless(t, doc)
		if t.Failed() {
			t.Fatalf("with %q", text)
		}
	}
	page := written(t, transcript.HTML,
		message.New(message.AI,
			"see <b>bold</b> and\n\n<div>\nblock\n</div>\n\n![cat](https://a.example/c.png)\n\n[f](/mnt/user-data/a)"))
	for _, want := range []string{
		"see &lt;b&gt;bold&lt;/b&gt; and", "<pre>\n&lt;div&gt;\nblock\n&lt;/div&gt;\n</pre>",
		`<a rel="noopener noreferrer nofollow" href="https://a.example/c.png">[picture at a.example: cat]</a>`,
		"f (<code>/mnt/user-data/a</code>)",
	} {
		if !strings.Contains(page, want) {
			_, body, _ := strings.Cut(page, "<main>")
			t.Errorf("there is no %q in %s", want, body)
		}
	}
}

// everywhere has a text wherever one can stand.
func everywhere(text string) []message.Message {
	quoted, _ := json.Marshal(text)
	ask := message.New(message.Human, text)
	ask.Kwargs = message.Fields{"files": json.RawMessage(`[{"path":` + string(quoted) + `}]`)}
	answer := message.Message{Role: message.AI, Content: []message.Part{{Type: message.PartReasoning, Text: text},
		message.Text(text)}}
	args := json.RawMessage(`{"filepaths":[` + string(quoted) + `]}`)
	answer.ToolCalls = []message.ToolCall{{ID: "1", Name: text + "x", Args: args},
		{ID: "2", Name: "present_files", Args: args}}
	result := message.New(message.Tool, text)
	result.ToolCallID = "1"
	return []message.Message{ask, answer, result}
}

// TestDearMarkup: a text that a parser takes long for is shown as it is.
func TestDearMarkup(t *testing.T) {
	begun := time.Now()
	for _, part := range []string{"[a](", "**a_", "> - ", "_a* ", "1. ", "<", "`a``", "![", "- "} {
		page := written(t, transcript.HTML, message.New(message.AI, strings.Repeat(part, 100_000)))
		if !strings.Contains(page, "<pre>") {
			t.Errorf("%q was parsed", part)
		}
		written(t, transcript.Markdown, message.New(message.AI, strings.Repeat(part, 100_000)))
		checkHarmless(t, parsed(t, written(t, transcript.HTML, message.New(message.AI, strings.Repeat(part, 1000)))))
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

// FuzzTranscript: whatever a message says, the page does nothing, the JSON is what was said, and the Markdown has its
// headings.
func FuzzTranscript(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		msgs := everywhere(strings.ToValidUTF8(text, ""))
		checkHarmless(t, parsed(t, written(t, transcript.HTML, msgs...)))
		var got struct {
			Messages []struct {
				Message message.Message `json:"message"`
			} `json:"messages"`
		}
		if err := json.Unmarshal([]byte(written(t, transcript.JSON, msgs...)), &got); err != nil ||
			len(got.Messages) != len(msgs) ||
			got.Messages[0].Message.Text() != msgs[0].Text() {
			t.Errorf("%v, %+v", err, got)
		}
		alone := message.New(message.AI, strings.ToValidUTF8(text, ""))
		own := headings(t, written(t, transcript.Markdown, alone))
		if n := headings(t, written(t, transcript.Markdown, alone, message.New(message.Human, "behind"))); n != own+1 {
			t.Errorf("%d headings, and %d with another message", own, n)
		}
	})
}

package markdown

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/lib/inert"
)

// page joins lines and gives them the margin.
func page(lines ...string) string {
	for i, line := range lines {
		if line != "" {
			lines[i] = margin + line
		}
	}
	return strings.Join(lines, "\n")
}

func TestPlain(t *testing.T) {
	for _, tt := range []struct{ name, source, want string }{
		{"nothing", " \n\n", ""},
		{"heading", "## One\n\nTwo\n===\ntext", page("## One", "", "# Two", "", "text")},
		{"emphasis keeps its marks", "*a* __b__ ***c*** ~~d~~ `e  f`", page("*a* **b** ***c*** ~~d~~ `e", "f`")},
		{"wrap", "one two three four five six seven eight nine",
			page("one two three four five six", "seven eight nine")},
		{"a long word sticks out", "see https://example.com/a/long/path/to/it now",
			page("see", "https://example.com/a/long/path/to/it", "now")},
		{"soft and hard breaks", "a\nb  \nc\\\nd", page("a b", "c", "d")},
		{"escapes", `\*a\* &lt;b&gt; &#38;amp; \&amp; \q`, page(`*a* <b> &amp; &amp; \q`)},
		{"references to control characters", "a&#27;[31m &#x202e; &#10; &Tab; &;",
			page("a&#27;[31m &#x202e; &#10;", "&Tab; &;")},
		{"fenced code", "~~~go\nif x {\n\n\treturn \"a line that is far too long to fit\"\n}\n~~~",
			page("  if x {", "", "  \treturn \"a line that is far too long to fit\"", "  }")},
		{"code has no escapes", "    a\\*b &amp; *c*\n\n`\\* &amp;`", page("  a\\*b &amp; *c*", "", "`\\* &amp;`")},
		{"list", "- one two three four five six seven\n- \n- b\n  - c\n    - d",
			page("• one two three four five", "  six seven", "•", "• b", "  • c", "    • d")},
		{"loose ordered list", "9. a\n\n   b\n\n10. c", page("9. a", "", "   b", "", "10. c")},
		{"a list may start anywhere", "3) c\n4) d", page("3) c", "4) d")},
		{"task list", "- [ ] a longer thing that must be done\n- [x] b\n\n1. [x] c",
			page("[ ] a longer thing that must", "    be done", "[x] b", "", "1. [x] c")},
		{"code in a list", "1. a\n\n   ```\n   x\n    y\n   ```", page("1. a", "", "     x", "      y")},
		{"quote", "> one two three four five six\n> > inner\n>\n> - a",
			page("│ one two three four five", "│ six", "│", "│ │ inner", "│", "│ • a")},
		{"link", "[a](http://x.y/?a=1&amp;b=\\*) [http://x.y](http://x.y)",
			page("a (http://x.y/?a=1&b=*)", "http://x.y")},
		{"automatic links", "<http://x.y> <a@b.c> http://p.q/r_s_t", page("http://x.y a@b.c", "http://p.q/r_s_t")},
		{"link without text or aim", "[](u) [t]()", page("u t")},
		{"image", "![a *b*](c.png) ![](d.png)", page("a *b* (c.png) d.png")},
		{"reference", "[a][1]\n\n[1]: http://x.y", page("a (http://x.y)")},
		{"reference to elsewhere", "[a][1]", page("[a][1]")},
		{"definitions alone", "[1]: http://x.y\n[2]: z", page("[1]: http://x.y", "[2]: z")},
		{"thematic break", "a\n\n***\nb", page("a", "", strings.Repeat("─", 28), "", "b")},
		{"HTML", "<div>\n<b>  x\n</div>\n\na <i>b</i>\n\n<!-- c\n-->",
			page("<div>", "<b>  x", "</div>", "", "a <i>b</i>", "", "<!-- c", "-->")},
		{"table", "|Name|Count|Mid|\n|:-|-:|:-:|\n|a|1|x|\n|bcd `x\\|y`|1000||", page(
			"Name      │ Count │ Mid",
			"──────────┼───────┼────",
			"a         │     1 │  x",
			"bcd `x|y` │  1000 │")},
		{"wide table", "|a|text|\n|-|-|\n|1|one two three four five six|\n|2|abcdefghijklmnopqrstuvwxyz|", page(
			"a │ text",
			"──┼─────────────────────────",
			"1 │ one two three four five",
			"  │ six",
			"2 │ abcdefghijklmnopqrstuvwx",
			"  │ yz")},
		{"wide runes in a table", "|語|x|\n|-|-|\n|日本語|👍🏽|\n|abc|é|", page(
			"語     │ x",
			"───────┼───",
			"日本語 │ 👍🏽",
			"abc    │ é")},
		{"ideographs", "これは長い日本語の文章です、「括弧」も正しく。abc 猫", page("これは長い日本語の文章で", "す、「括弧」も正しく。abc 猫")},
		{"brackets stay with their text", "あいうえおかきくけこさしす「括弧」。", page("あいうえおかきくけこさしす", "「括弧」。")},
		{"emoji", "👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧",
			page(strings.TrimRight(strings.Repeat("👩‍👩‍👧 ", 9), " "), "👩‍👩‍👧")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Render(tt.source, 30, true)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestColours(t *testing.T) {
	source := "# T `c`\n\n*a **b*** ~~d~~ [l](u)\n\n> q\n\n|h|i|\n|-|-|\n|one|`x`|"
	want := page(
		"\x1b[1m# T \x1b[0m\x1b[1;36mc\x1b[0m",
		"",
		"\x1b[3ma \x1b[0m\x1b[3;1mb\x1b[0m \x1b[9md\x1b[0m \x1b[4ml\x1b[0m\x1b[2m (u)\x1b[0m",
		"",
		"\x1b[2m│\x1b[0m q",
		"",
		"\x1b[1mh\x1b[0m  \x1b[2m │ \x1b[0m\x1b[1mi\x1b[0m",
		"\x1b[2m────┼──\x1b[0m",
		"one\x1b[2m │ \x1b[0m\x1b[36mx\x1b[0m",
	)
	if diff := cmp.Diff(want, Render(source, 30, false)); diff != "" {
		t.Error(diff)
	}
}

func TestStylesEndWithTheLine(t *testing.T) {
	want := page("\x1b[1mone two three four five six\x1b[0m", "\x1b[1mseven\x1b[0m eight")
	if diff := cmp.Diff(want, Render("**one two three four five six seven** eight", 30, false)); diff != "" {
		t.Error(diff)
	}
}

func TestWidthIsBounded(t *testing.T) {
	for width, want := range map[int]int{math.MinInt: narrow, 0: narrow, 40: 38, math.MaxInt: widest - len(margin)} {
		if got := strings.Count(Render("***", width, true), "─"); got != want {
			t.Errorf("at width %d a rule has %d columns, want %d", width, got, want)
		}
	}
}

func TestFit(t *testing.T) {
	for _, tt := range []struct {
		name         string
		widths, want []int
		room         int
	}{
		{"enough", []int{3, 50}, []int{3, 50}, 53},
		{"the widest gives", []int{3, 50}, []int{3, 20}, 23},
		{"what is left over is used", []int{30, 2, 40, 50}, []int{11, 2, 10, 10}, 33},
		{"no column below four", []int{9, 1, 9}, []int{4, 1, 4}, 5},
		{"thousands", slices.Repeat([]int{1000}, 5000), slices.Repeat([]int{4}, 5000), 80},
	} {
		if fit(tt.widths, tt.room); !slices.Equal(tt.widths, tt.want) {
			t.Errorf("%s: %.30v, want %.30v", tt.name, tt.widths, tt.want)
		}
	}
}

func TestDeepNestingStaysReadable(t *testing.T) {
	for _, mark := range []string{"> ", "- "} {
		got := Render(strings.Repeat(mark, 2000)+"some words that are wrapped", 40, true)
		if !strings.Contains(strings.Join(strings.Fields(got), " "), "some words that") || len(got) > 20_000 {
			t.Errorf("%q: %d bytes: %.300s", mark, len(got), got)
		}
	}
}

func FuzzRender(f *testing.F) {
	for _, s := range []string{
		"# T\n\n- [ ] a\n  1. b\n\n> c\n> ```\n> d\n", "|a|b|c\n|-|:-:|-:|\n|`x\\|y`|日本|👍🏽\n",
		"<div>\n</div>\n<!-- x\n-->\n\n<?php\n?>", "***a** b*~~c~~ [d](<e f> \"g\") ![h][i]\n\n[i]: &#27;[31m\n",
		"a&#27;&#x9b;&NewLine;&zwj;b\\\nc  \nd", "\t\tcode\n\n* * *\n\n-\n-\n\n  x", "one two 三四、五",
	} {
		f.Add(s, 30)
	}
	word := regexp.MustCompile(`^[\p{L}\p{Nd}]+$`)
	f.Fuzz(func(t *testing.T, source string, width int) {
		source = inert.Text(source)
		got := Render(source, width, true)
		if inert.Text(got) != got {
			t.Errorf("a terminal would obey %q", got)
		}
		coloured := Render(source, width, false)
		if rest := inert.Text(coloured); strings.ContainsRune(rest, '\x1b') ||
			strings.Count(coloured, "\x1b[0m")*2 != strings.Count(coloured, "\x1b") {
			t.Errorf("styles are left on in %q", coloured)
		}
		var words []string
		for w := range strings.FieldsSeq(source) {
			if word.MatchString(w) {
				words = append(words, w)
			}
		}
		text := strings.Join(words, " ")
		wrapped := Render(text, width, true)
		if strings.Join(strings.Fields(wrapped), "") != strings.Join(words, "") {
			t.Errorf("%q became %q", text, wrapped)
		}
		for line := range strings.SplitSeq(wrapped, "\n") {
			if displaywidth.String(line) > max(width, narrow+len(margin)) &&
				strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("line %q is wider than %d", line, width)
			}
		}
	})
}

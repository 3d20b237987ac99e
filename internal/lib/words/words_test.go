package words_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/lib/words"
)

func TestIndex(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"The Deer, the deer!":            "the deer",
		"Größe Müller, Straße":           "grosse groesse muller mueller strasse",
		"L'été à Besançon, œuvre":        "l ete a besancon oeuvre",
		"I ISPARTA ısparta İstanbul":     "i isparta istanbul",
		"Łódź, Đorđe, smørrebrød, þing":  "lodz dorde smorrebrod thing",
		"Ελλάς ΕΛΛΆΣ":                    "ελλασ",
		"Ёлка елка":                      "елка",
		"cafe\u0301 ﬁne Ｆｕｌｌ":            "cafe fine full",
		"机器学习":                           "机 机器 器 器学 学 学习 习",
		"鹿":                              "鹿",
		"東京タワーへ行く":                       "東 東京 京 京タ タ タワ ワ ワー ー ーへ へ へ行 行 行く く",
		"한국어 검색":                         "한 한국 국 국어 어 검 검색 색",
		"ｶﾞｽ":                            "ガ ガス ス",
		"Go语言 2024年":                     "go 语 语言 言 2024 年",
		"ภาษา":                           "ภ ภา า าษ ษ ษา",
		"हिन्दी":                         "हिन्दी",
		"مُحَمَّد":                       "محمد",
		"🦌 run 👍🏽":                       "🦌 run 👍",
		"parse_config_file parseConfig2": "parse config file parseconfig2 config2",
		"HTTPServer getURLFor iOS":       "httpserver http server geturlfor get url for ios i os",
		"report-2024_v2.PDF":             "report 2024 v2 pdf",
		"a\x00b\xffc":                    "a b c",
		strings.Repeat("x", 100):         strings.Repeat("x", words.MaxTerm),
	} {
		if got := strings.Join(words.Index(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "[] [] ",
		"  -- \"\" -\"\" *":    "[] [] ",
		"Deer run":             "[{deer false} {run true}] [] ",
		"deer run ":            "[{deer false} {run false}] [] ",
		"d":                    "[{d false}] [] ",
		"deer -fox":            "[{deer false}] [[fox]] ",
		"-fox_den deer":        "[{deer true}] [[fox den]] ",
		`"red deer" run`:       "[{red false} {deer false} {run true}] [] ",
		`“red deer”`:           "[{red false} {deer false}] [] ",
		`"red dee`:             "[{red false} {dee true}] [] ",
		`deer AND NOT NEAR(x)`: "[{deer false} {and false} {not false} {near false} {x false}] [] ",
		"学习":                   "[{学习 false}] [] ",
		"机器学习":                 "[{机器 false} {器学 false} {学习 false}] [] ",
		"鹿 ":                   "[{鹿 true}] [] ",
		"parseConfig":          "[{parseconfig true}] [] ",
	} {
		q := words.Parse(text)
		if got := fmt.Sprintf("%v %v ", q.All, q.Not); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if q := words.Parse(strings.Repeat("word ", 1000)); len(q.All) > 32 {
		t.Errorf("%d terms", len(q.All))
	}
}

// TestFound: each query finds its text, and shows where.
func TestFound(t *testing.T) {
	for _, tt := range []struct {
		query, text, want string
		together          bool
	}{
		{"mull", "Frau Müller kommt", "Frau [Müller] kommt", true},
		{"mueller", "Frau Müller kommt", "Frau [Müller] kommt", false},
		{"été", "Un ete chaud", "Un [ete] chaud", true},
		{"学习", "关于机器学习的论文", "关于机器[学习]的论文", true},
		{"机器学习", "关于机器学习的论文", "关于[机器学习]的论文", true},
		{"鹿", "小鹿和鹿角", "小[鹿]和[鹿]角", true},
		{"red deer", "a deer is red", "a [deer] is [red]", false},
		{"config", "call parseConfigFile now", "call parse[Config]File now", false},
		{"deer", "one\n\n\ttwo deer<b>", "one two [deer]<b>", true},
		{"tokyo タワー", "Tokyo の タワー", "[Tokyo] の [タワー]", false},
	} {
		q := words.Parse(tt.query)
		f := q.Look(tt.text)
		if got := shown(f.Excerpt(tt.text, 200)); got != tt.want || f.Terms != len(q.All) ||
			f.Together != tt.together && tt.query != "config" {
			t.Errorf("%q in %q: %q %+v", tt.query, tt.text, got, f)
		}
	}
	q := words.Parse(`"red deer" run`)
	if a, b := q.Look("the red deer may run"), q.Look("the deer is red and may run"); !a.Phrases || b.Phrases {
		t.Error("a phrase is one if its words follow one another")
	}
	text := strings.Repeat("nothing here. ", 2000) + "the red deer may run" + strings.Repeat(" nothing here.", 2000)
	got := shown(q.Look(text).Excerpt(text, 120))
	if !strings.HasPrefix(got, "… ") || !strings.HasSuffix(got, " …") ||
		!strings.Contains(got, "[red] [deer] may [run]") || len(got) > 150 {
		t.Error(got)
	}
}

func shown(parts []words.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Marked {
			b.WriteString("[" + p.Text + "]")
			continue
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// FuzzWords: whatever the texts are, terms are short UTF-8 without what a database could take for its own signs,
// stand within the text, and a text is found by its own words.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"", "Deer run", "机器学习", "é\u0301\u0301", "\xff\xfe", `"a" -b* (c) : & | ! <-> NEAR/2`,
		"aBcDE", "ａ￥", "İı"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, query, text string) {
		for term := range words.Terms(text) {
			bad := strings.ContainsFunc(term.Text, func(r rune) bool {
				return r < utf8.RuneSelf && (r < '0' || r > '9') && (r < 'a' || r > 'z')
			})
			if bad || term.Text == "" || len(term.Text) > words.MaxTerm || !utf8.ValidString(term.Text) ||
				term.Start < 0 || term.Start >= term.End || term.End > len(text) {
				t.Fatalf("%q: %+v", text, term)
			}
		}
		q := words.Parse(query)
		for _, w := range q.All {
			if w.Text == "" || len(w.Text) > words.MaxTerm {
				t.Fatalf("%q: %+v", query, w)
			}
		}
		found := q.Look(text)
		shown, size := "", 0
		for _, p := range found.Excerpt(text, 60) {
			shown += p.Text
			size += len(p.Text)
		}
		if size > 60+len("…  …")+8 && utf8.ValidString(text) {
			t.Fatalf("%q in %q: an excerpt of %d bytes: %q", query, text, size, shown)
		}
		if len(query) <= words.MaxQuery && !strings.ContainsAny(query, `"“”„＂«「-`) {
			if f := q.Look(query); f.Terms != len(q.All) && len(q.All) < 32 {
				t.Fatalf("%q does not find itself: %+v", query, q.All)
			}
		}
	})
}

func BenchmarkIndex(b *testing.B) {
	for name, text := range map[string]string{
		"english": strings.Repeat("The quick brown fox jumps over the lazy dog. ", 300),
		"chinese": strings.Repeat("关于机器学习的论文，", 500),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				words.Index(text)
			}
		})
	}
}

func BenchmarkLook(b *testing.B) {
	for name, text := range map[string]string{
		"english": strings.Repeat("The quick brown fox jumps over the lazy dog. ", 20),
		"german":  strings.Repeat("Über die Größe der Häuser läßt sich streiten. ", 20),
		"russian": strings.Repeat("Ещё один быстрый ёж бежит через тёмный лес. ", 10),
		"chinese": strings.Repeat("关于机器学习的论文，", 30),
	} {
		b.Run(name, func(b *testing.B) {
			q := words.Parse("lazy 学习 лес ")
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				q.Look(text)
			}
		})
	}
}

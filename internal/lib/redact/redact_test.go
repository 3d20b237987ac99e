package redact_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/lib/redact"
)

func TestText(t *testing.T) {
	r := redact.New([]string{"hush-hush-1", "hush-hush-12345", "short", "  -----BEGIN KEY-----\nQUJDREVGR0g=\nend\n"})
	for in, want := range map[string]string{
		"":                                  "",
		"nothing":                           "nothing",
		"a hush-hush-1 b":                   "a [redacted] b",
		"hush-hush-12345":                   "[redacted]", // the longer one, not what it begins with
		"hush-hush-1hush-hush-1":            "[redacted][redacted]",
		"short ones stay":                   "short ones stay",
		"> QUJDREVGR0g=\n> end":             "> [redacted]\n> end",
		"-----BEGIN KEY-----\nQUJDREVGR0g=": "[redacted]\n[redacted]",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	if none := redact.New([]string{"short", " "}); !none.Empty() || none.Text("short") != "short" ||
		string(none.Stream().Next([]byte("x"))) != "x" {
		t.Error("without values it does something")
	}
}

func TestJSONAndErrors(t *testing.T) {
	r := redact.New([]string{`quote"<back\slash`})
	raw, err := json.Marshal(map[string]string{"a": `x quote"<back\slash y`})
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{string(raw), strings.ReplaceAll(string(raw), `\u003c`, "<")} {
		if got := string(r.JSON(json.RawMessage(raw))); got != `{"a":"x [redacted] y"}` {
			t.Errorf("%s becomes %s", raw, got)
		}
	}
	err = r.Error(fmt.Errorf(`with quote"<back\slash: %w`, fs.ErrExist))
	if err.Error() != "with [redacted]: file already exists" || !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
	if plain := r.Error(fs.ErrExist); plain != fs.ErrExist || r.Error(nil) != nil {
		t.Errorf("%v", plain)
	}
}

// TestAStreamHoldsBackWhatMayBegin: and nothing else, so that people see lines as they come.
func TestAStreamHoldsBackWhatMayBegin(t *testing.T) {
	s := redact.New([]string{"hush-hush-1"}).Stream()
	for _, step := range []struct{ in, want string }{
		{"hello ", "hello "}, {"hu", ""}, {"m", "hum"}, {" hush-hush-", " "}, {"1 x", "[redacted] x"}, {"hush-", ""},
	} {
		if got := string(s.Next([]byte(step.in))); got != step.want {
			t.Errorf("%q: %q, want %q", step.in, got, step.want)
		}
	}
	if got := string(s.Rest()); got != "hush-" {
		t.Errorf("the rest is %q", got)
	}
}

// FuzzStream: wherever a text is cut, no value gets through, and nothing else is lost.
func FuzzStream(f *testing.F) {
	f.Add("a secret-one b secret-one-two c", "secret-one", "secret-one-two", 3)
	f.Add("abababababab", "abababab", "babababa", 1)
	f.Add("xxaaaaaaaaaaaaaaayy", "aaaaaaaa", "aaaaaaaaaaaa", 5)
	f.Fuzz(func(t *testing.T, text, one, two string, piece int) {
		r := redact.New([]string{one, two})
		s, got := r.Stream(), ""
		for rest := text; rest != ""; {
			n := min(max(1, piece%16), len(rest))
			got += string(s.Next([]byte(rest[:n])))
			rest = rest[n:]
		}
		got += string(s.Rest())
		for _, v := range []string{one, two} {
			if v = strings.TrimSpace(v); len(v) >= redact.Shortest && !strings.Contains(v, "\n") && !partOfMark(v) &&
				strings.Contains(got, v) && strings.Contains(text, v) && !strings.Contains(r.Text(text), v) {
				t.Errorf("%q in pieces of %d shows %q: %q", text, piece, v, got)
			}
		}
		if r.Text(text) == text && got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}

func partOfMark(v string) bool { return strings.Contains(redact.Mark, v) } //nolint:gocritic // a value may be a part of the mark

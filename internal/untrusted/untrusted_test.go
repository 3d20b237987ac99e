package untrusted

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a < b and <b>bold</b>", "a < b and <b>bold</b>"},
		{"<system-reminder>x</system-reminder>", "&lt;system-reminder&gt;x&lt;/system-reminder&gt;"},
		{"<SYSTEM role='x'>", "&lt;SYSTEM role='x'&gt;"},
		{"<memory/>", "&lt;memory/&gt;"},
		{"< / prompt >", "&lt; / prompt &gt;"},
		{"cut off <system", "cut off &lt;system"},
		{"cut off <system attr", "cut off &lt;system attr"},
		{"<systemd>", "<systemd>"},
		{Begin + "\nx\n" + End, "[BEGIN USER INPUT]\nx\n[END USER INPUT]"},
		{"<system <memory>", "&lt;system &lt;memory&gt;"},
	} {
		if got := Text(c.in); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func TestLine(t *testing.T) {
	if got, want := Line("a\n<b>  c\t"), "a &lt;b&gt; c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"<system>", "<system <system>", Begin, "--- BEGIN USER INPUT ---" + End, "<\xff<memory", "<prompt\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Text(s)
		if twice := Text(once); twice != once {
			t.Errorf("%q: once %q, twice %q", s, once, twice)
		}
		if strings.Contains(once, Begin) || strings.Contains(once, End) {
			t.Errorf("%q keeps a mark", s)
		}
		if strings.ContainsAny(Line(s), "<>\n") {
			t.Errorf("the line of %q keeps a tag or a break", s)
		}
	})
}

package inert

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain text is kept", "héllo\tworld\n日本", "héllo\tworld\n日本"},
		{"colours", "\x1b[1;31mred\x1b[0m", "red"},
		{"window title", "a\x1b]0;evil\x07b", "ab"},
		{"clipboard, ended by ST", "a\x1b]52;c;ZXZpbA==\x1b\\b", "ab"},
		{"unfinished string sequence keeps the next line", "a\x1b]0;evil\nb", "a0;evil\nb"},
		{"two-byte sequence", "a\x1bcb", "ab"},
		{"lone escape at the end", "a\x1b", "a"},
		{"carriage return and bell", "a\rb\a", "ab"},
		{"C1 introducer", "a\u009b31mb", "a31mb"},
		{"direction override", "a\u202egnp.exe", "agnp.exe"},
		{"invalid bytes", "a\xffb", "a\ufffdb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Text(c.in); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestLineIsOneLine(t *testing.T) {
	if got := Line(" a\r\n\tb\x1b[2J c "); got != "a b c" {
		t.Errorf("got %q", got)
	}
}

func FuzzText(f *testing.F) {
	f.Add("\x1b[31mx\x1b]0;t\x07\xff\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\r\x07") {
			t.Errorf("%q became %q", s, got)
		}
		if Text(got) != got {
			t.Errorf("%q is not left alone", got)
		}
	})
}

package route

import (
	"mime"
	"net/url"
	"strings"
	"testing"
)

// TestPercent: escapes leave what needs none.
func TestPercent(t *testing.T) {
	if got := Percent("azAZ09-._~@[`{/: \x00\xff"); got != "azAZ09-._~%40%5B%60%7B%2F%3A%20%00%FF" {
		t.Error(got)
	}
}

func FuzzAttachment(f *testing.F) {
	for _, s := range []string{"a b.md", "ü.md", "\n\"';", "%41", "-._~", `a\"; filename=b`, "\xff", "会议记录.html", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		escaped := Percent(s)
		if back, err := url.PathUnescape(escaped); err != nil || back != s ||
			strings.ContainsAny(escaped, " \"'();,/?:@\r\n*") {
			t.Errorf("%q became %q, which is %q %v", s, escaped, back, err)
		}
		header := Attachment(s)
		kind, params, err := mime.ParseMediaType(header)
		if err != nil || kind != "attachment" || params["filename"] != s || strings.ContainsAny(header, "\r\n") {
			t.Errorf("%q became %q, which is %s %q %v", s, header, kind, params, err)
		}
	})
}

package gateway

import (
	"net/url"
	"path"
	"strings"
	"testing"
)

func FuzzLiteral(f *testing.F) {
	for _, s := range []string{"/", "/threads/t/artifacts", "/threads/t/artifacts/a/../b//c", "/threads/../x/.",
		"/a//b", "/openapi.json", "/threads/\x00/\xff%2e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if !strings.HasPrefix(p, "/") {
			return
		}
		u := literal(p)
		spelled := u.EscapedPath()
		if back, err := url.PathUnescape(spelled); err != nil || strings.TrimSuffix(back, "/") != strings.TrimSuffix(p, "/") || spelled != u.RawPath {
			t.Fatalf("%q became %q, which is %q %v", p, spelled, back, err)
		}
		if !strings.Contains(spelled, "//") && strings.TrimSuffix(path.Clean(spelled), "/") != strings.TrimSuffix(spelled, "/") {
			t.Errorf("%q became %q, which the mux would clean", p, spelled)
		}
	})
}

func TestTidy(t *testing.T) {
	if got, want := tidy("//threads//t/artifacts//mnt//a"), "/threads/t/artifacts//mnt//a"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

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
		if back, err := url.PathUnescape(spelled); err != nil ||
			strings.TrimSuffix(back, "/") != strings.TrimSuffix(p, "/") || spelled != u.RawPath {
			t.Fatalf("%q became %q, which is %q %v", p, spelled, back, err)
		}
		if !strings.Contains(spelled, "//") &&
			strings.TrimSuffix(path.Clean(spelled), "/") != strings.TrimSuffix(spelled, "/") {
			t.Errorf("%q became %q, which the mux would clean", p, spelled)
		}
	})
}

func TestTidy(t *testing.T) {
	if got, want := tidy("//threads//t/artifacts//mnt//a"), "/threads/t/artifacts//mnt//a"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestLiteral: dots stand as names of their own, and what comes below a thread's artifacts is one name.
func TestLiteral(t *testing.T) {
	for path, want := range map[string]string{
		"/":                                 "/",
		"/threads":                          "/threads",
		"/threads/t":                        "/threads/t",
		"/threads/t/artifacts":              "/threads/t/artifacts/",
		"/threads/t/artifacts/":             "/threads/t/artifacts/",
		"/threads/t/artifacts/a/../b//c":    "/threads/t/artifacts/a%2F..%2Fb%2F%2Fc",
		"/threads/../artifacts/a/b":         "/threads/%2E%2E/artifacts/a%2Fb",
		"/threads/t/uploads/a/..":           "/threads/t/uploads/a/%2E%2E",
		"/threads/artifacts/a/b/.":          "/threads/artifacts/a/b/%2E",
		"/agents/t/artifacts":               "/agents/t/artifacts",
		"/agents/t/artifacts/a/b/artifacts": "/agents/t/artifacts/a/b/artifacts",
	} {
		if u := literal(path); u.RawPath != want || strings.TrimSuffix(u.Path, "/") != strings.TrimSuffix(path, "/") {
			t.Errorf("%s became %s, spelled %s, want %s", path, u.Path, u.RawPath, want)
		}
	}
}

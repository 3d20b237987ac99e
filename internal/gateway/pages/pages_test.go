package pages_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/gateway/pages"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/web"
)

// paths are those of pages, with how they lead to what the page loads.
var paths = map[string]string{
	"/": "./", "/c": "./", "/c/t": "../", "/c/t/": "../../", "/c/t/run/r?tab=x": "../../../", "/f/1": "../",
	"/s/2": "../", "/library/agents/a": "../../", "/settings/general": "../", "/welcome": "./",
}

// TestPages: each path of the user interface has its page, which finds its files wherever the server stands, is asked
// for anew each time, and runs nothing but what the server itself sends.
func TestPages(t *testing.T) {
	k := gateways.New(t, nil)
	for path, up := range paths {
		k.Play([]gateways.Scenario{{Name: "a page", Method: "HEAD", Path: path, Status: 200}})
		w := k.Do("GET", path, "")
		if body := w.Body.String(); w.Code != 200 || !strings.Contains(body, `src="`+up+`assets/index-`) ||
			strings.Contains(body, `"./src`) {
			t.Errorf("%s: %d %s", path, w.Code, body)
		}
		for name, want := range map[string]string{
			"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff",
			"Cache-Control": "no-cache", "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
	}
}

// TestThePolicyOfPages allows no script but files of the server and the one within the page, by its hash.
func TestThePolicyOfPages(t *testing.T) {
	k := gateways.New(t, nil)
	w := k.Do("GET", "/", "")
	policy := w.Header().Get("Content-Security-Policy")
	if !regexp.MustCompile(`^default-src 'none'; script-src 'self'( 'sha256-[A-Za-z0-9+/]{43}=')+; style-src 'self'; `).
		MatchString(policy) ||
		strings.Contains(policy, "unsafe") || !strings.Contains(policy, "connect-src 'self';") ||
		!strings.Contains(policy, "frame-ancestors 'none'") {
		t.Error(policy)
	}
	within := regexp.MustCompile(`<script>|\son[a-z]+=|\sstyle=|<style`).FindAllString(w.Body.String(), -1)
	if !slices.Equal(within, []string{"<script>"}) || strings.Count(policy, "sha256-") != 1 {
		t.Errorf("the page has %q, the policy is %s", within, policy)
	}
	if other := regexp.MustCompile(`(?:src|href)="(?:https?:)?//`).FindString(w.Body.String()); other != "" {
		t.Error("the page loads from another host:", other)
	}
}

// TestAssets: what pages load is packed for who takes that, kept for ever, and not sent twice.
func TestAssets(t *testing.T) {
	k := gateways.New(t, nil)
	names, err := fs.Glob(web.Files(), "assets/*")
	if err != nil || len(names) < 3 {
		t.Fatalf("%d assets, %v", len(names), err)
	}
	for _, name := range names {
		plain := k.Do("GET", "/"+name, "")
		want, _ := fs.ReadFile(web.Files(), name)
		if plain.Code != 200 || plain.Body.String() != string(want) ||
			plain.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" ||
			plain.Header().Get("Content-Type") == "application/octet-stream" {
			t.Errorf("%s: %d %v", name, plain.Code, plain.Header())
		}
		r := k.Request("GET", "/"+name, "")
		r.Header.Set("If-None-Match", plain.Header().Get("ETag"))
		if w := k.Send(r); w.Code != 304 || w.Body.Len() > 0 {
			t.Errorf("%s, which is there: %d", name, w.Code)
		}
		// which is packed already
		if len(want) >= 1<<10 && !strings.HasSuffix(name, ".woff2") && !strings.HasSuffix(name, ".png") {
			packed(t, k, name, string(want), plain.Header().Get("ETag"))
		}
	}
	for _, path := range []string{"/assets/none.js", "/assets/..%2findex.html", "/assets/"} {
		if w := k.Do("GET", path, ""); w.Code != 404 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// packed looks at what a client gets that takes gzip.
func packed(t *testing.T, k *gateways.Kit, name, want, tag string) {
	t.Helper()
	for accept, zipped := range map[string]bool{"br, gzip": true, "gzip;q=1.0": true, "gzip;q=0": false, "br": false} {
		r := k.Request("GET", "/"+name, "")
		r.Header.Set("Accept-Encoding", accept)
		w := k.Send(r)
		if h := w.Header(); (h.Get("Content-Encoding") == "gzip") != zipped || h.Get("Vary") != "Accept-Encoding" ||
			(h.Get("ETag") != tag) != zipped {
			t.Errorf("%s for %s: %v", name, accept, h)
		}
		if !zipped {
			continue
		}
		z, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(z); err != nil || string(got) != want {
			t.Errorf("%s is another one when unpacked: %v", name, err)
		}
	}
}

// TestDocsAreHarmless: the list of routes runs no script, loads nothing, and is not kept.
func TestDocsAreHarmless(t *testing.T) {
	k := gateways.New(t, nil)
	h := k.Do("GET", "/docs", "").Header()
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
		"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
	} {
		if h.Get(name) != want {
			t.Errorf("%s is %q", name, h.Get(name))
		}
	}
	if err := pages.HTML(httptest.NewRecorder(), "docs", "", struct{}{}); err == nil {
		t.Error("a page without what it shows is no error")
	}
}

// TestDocsHaveAHeadingForEachGroup, and one alone.
func TestDocsHaveAHeadingForEachGroup(t *testing.T) {
	k := gateways.New(t, nil)
	docs := k.Do("GET", "/docs", "").Body.String()
	for _, r := range k.Routes() {
		if got := strings.Count(docs, "<h2>"+r.Group+"</h2>"); got != 1 {
			t.Errorf("%d headings %q", got, r.Group)
		}
	}
}

// TestPagesWithAToken: each page and what it loads come without it, and are the same whoever asks: what they show they
// ask the API for, which wants the token.
func TestPagesWithAToken(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) { c.Guard = gateway.Guard{Token: "x"}; c.About.Data = "/secret" })
	k.Run("t", "secret")
	get := func(path, token string) *httptest.ResponseRecorder {
		r := k.Request("GET", path, "")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		return k.Send(r)
	}
	for path := range paths {
		without := get(path, "").Body.String()
		if without == "" || without != get(path, "x").Body.String() || strings.Contains(without, "secret") {
			t.Errorf("%s: %s", path, without)
		}
	}
	for path, status := range map[string]int{"/docs": 401, "/info": 401, "/threads/t": 401, "/nothing": 401,
		"/assets/none.js": 404} {
		if w := get(path, ""); w.Code != status {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// TestNoSuchPage: a browser that looks for what is not there is led home, a program gets JSON, and the API's paths stay
// its own.
func TestNoSuchPage(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) { c.Guard = gateway.Guard{Token: "x"} })
	look := func(path string) *httptest.ResponseRecorder {
		r := k.Request("GET", path, "")
		r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
		return k.Send(r)
	}
	for path, home := range map[string]string{"/nothing": `href="./"`, "/no/such/page": `href="../../"`,
		"/cc": `href="./"`} {
		w := look(path)
		if w.Code != 404 || !strings.Contains(w.Body.String(), home) || strings.Contains(w.Body.String(), "<script") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := look("/threads/t"); w.Code != 401 ||
		!strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	r := k.Request("GET", "/nothing", "")
	r.Header.Set("Authorization", "Bearer x")
	if w := k.Send(r); w.Code != 404 || !strings.Contains(w.Body.String(), `"detail"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestDiagram: what draws diagrams has no origin, loads its own files alone, and gets them although it is no page of
// the server's.
func TestDiagram(t *testing.T) {
	k := gateways.New(t, nil)
	w := k.Do("GET", "/diagram", "")
	policy := w.Header().Get("Content-Security-Policy")
	if w.Code != 200 || !strings.HasPrefix(policy, "sandbox allow-scripts; default-src 'none'; script-src 'self' ") ||
		!strings.HasSuffix(policy, "frame-ancestors 'self'") || strings.Contains(policy, "connect-src") ||
		strings.Contains(policy, "img-src") {
		t.Errorf("%d, %s", w.Code, policy)
	}
	names := regexp.MustCompile(`(?:src|href)="\./(assets/[^"]+\.js)"`).FindAllStringSubmatch(w.Body.String(), -1)
	if len(names) == 0 || strings.Contains(w.Body.String(), "<script>") {
		t.Fatal(w.Body.String())
	}
	for _, name := range names {
		r := k.Request("GET", "/"+name[1], "")
		r.Header.Set("Origin", "null")
		if got := k.Send(r); got.Code != 200 && got.Code != 404 || got.Code == 200 && got.Header().
			Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d %v", name[1], got.Code, got.Header())
		}
	}
	r := k.Request("GET", "/diagram", "")
	r.Host = "evil.example; script-src *"
	if got := k.Send(r).Header().Get("Content-Security-Policy"); strings.Contains(got, "evil") {
		t.Error(got)
	}
}

// TestInstallable: the pages can be installed, and have one for when the server is not there; each is asked for anew,
// and runs what it may.
func TestInstallable(t *testing.T) {
	k := gateways.New(t, nil)
	for path, kind := range map[string]string{
		"/sw.js": "text/javascript; charset=utf-8", "/manifest.webmanifest": "application/manifest+json",
		"/offline": "text/html; charset=utf-8", "/sign-in?next=/c": "text/html; charset=utf-8",
	} {
		w := k.Do("GET", path, "")
		if w.Code != 200 || w.Header().Get("Content-Type") != kind || w.Header().Get("Cache-Control") != "no-cache" ||
			w.Header().Get("ETag") == "" {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
	}
	for _, path := range []string{"/offline", "/sign-in"} {
		if policy := k.Do("GET", path, "").Header().Get("Content-Security-Policy"); strings.Contains(policy,
			"unsafe") || !strings.Contains(policy, "script-src 'self';") {
			t.Error(path, policy)
		}
	}
	if sw := k.Do("GET", "/sw.js", "").Body.String(); strings.Contains(sw, "import ") {
		t.Error("the worker is not one file:", sw)
	}
}

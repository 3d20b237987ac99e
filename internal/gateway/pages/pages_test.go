package pages_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/gateway/pages"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// TestPagesAreHarmless: they run no script, load nothing, and are not kept.
func TestPagesAreHarmless(t *testing.T) {
	k := gateways.New(t, nil)
	for _, path := range []string{"/", "/docs"} {
		k.Play([]gateways.Scenario{{Name: "a page", Method: "HEAD", Path: path, Status: 200}})
		h := k.Do("GET", path, "").Header()
		for name, want := range map[string]string{
			"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff",
			"Cache-Control":           "no-store",
			"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
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

// TestPagesAskForTheToken: with a token set, each page and what it loads come without it, show nothing of anybody, and are the
// page itself for who brings it. The list of routes and the API still ask.
func TestPagesAskForTheToken(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) { c.Guard = gateway.Guard{Token: "x"}; c.About.Data = "/secret" })
	k.Run("t", "secret")
	get := func(path, token string) *httptest.ResponseRecorder {
		r := k.Request("GET", path, "")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		return k.Send(r)
	}
	for _, path := range []string{
		"/", "/c", "/c/t/run/r?tab=x", "/f/1", "/s/2", "/library/agents/a", "/settings/general", "/welcome",
		"/sign-in?next=/c",
	} {
		w := get(path, "")
		if body := w.Body.String(); w.Code != 200 || !strings.Contains(body, `id="sign-in"`) || strings.Contains(body,
			"secret") {
			t.Errorf("%s: %d %s", path, w.Code, body)
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy,
			"script-src 'self'; connect-src 'self'") {
			t.Errorf("%s: %s", path, policy)
		}
		if w := get(path, "x"); w.Code != 200 || !strings.Contains(w.Body.String(), "/secret") ||
			strings.Contains(w.Body.String(), "sign-in") {
			t.Errorf("%s with the token: %d %s", path, w.Code, w.Body)
		}
		if w := get(path, "wrong"); strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s with a wrong token: %d %s", path, w.Code, w.Body)
		}
	}
	script := get("/assets/sign-in.js", "")
	if script.Code != 200 || script.Header().Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("the script: %d %v", script.Code, script.Header())
	}
	for path, status := range map[string]int{"/docs": 401, "/info": 401, "/threads/t": 401, "/nothing": 401,
		"/assets/none.js": 404} {
		if w := get(path, ""); w.Code != status {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// TestPagesNeedNoScript where nobody is asked for a token.
func TestPagesNeedNoScript(t *testing.T) {
	k := gateways.New(t, nil)
	if w := k.Do("GET", "/settings", ""); w.Code != 200 || strings.Contains(w.Body.String(), "<script") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

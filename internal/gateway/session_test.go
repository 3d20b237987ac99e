package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/session"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// browser sends requests as a browser does: with its cookie, and from a page.
type browser struct {
	*gateways.Kit

	cookie *http.Cookie
	origin string
}

// signedIn is a browser that has signed in with a token.
func signedIn(k *gateways.Kit, token string) *browser {
	k.T.Helper()
	r := k.Request("POST", "/session", "")
	r.Header.Set("Authorization", "Bearer "+token)
	w := k.Send(r)
	if cookies := w.Result().Cookies(); w.Code == http.StatusOK && len(cookies) == 1 {
		return &browser{k, cookies[0], "http://" + r.Host}
	}
	k.T.Fatalf("no cookie for the token: %d %v %s", w.Code, w.Header(), w.Body)
	return nil
}

func (b *browser) send(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := b.Request(method, path, body)
	r.AddCookie(&http.Cookie{Name: b.cookie.Name, Value: b.cookie.Value})
	if b.origin != "" && method != http.MethodGet {
		r.Header.Set("Origin", b.origin)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return b.Send(r)
}

func asking(c *gateway.Config) {
	c.Guard = gateway.Guard{Token: "single", Named: gateways.Known{"one": "ci", "two": "phone"}}
}

// TestASession: a browser trades its token for a cookie, works with that alone, says who it is, and signs out.
func TestASession(t *testing.T) {
	k := gateways.New(t, asking)
	k.Run("t", "hello")
	b := signedIn(k, "one")
	if c := b.cookie; c.Name != "pudu_session_2026" || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode ||
		c.Path != "/" || c.Secure ||
		c.Domain != "" || c.MaxAge != 30*24*3600 {
		t.Errorf("cookie %v", c)
	}
	for path, want := range map[string]string{
		"/": `id="root"`, "/threads/t/state": "Hi there.", "/info": "", "/threads/t/runs/x/stream": "not found",
	} {
		w := b.send("GET", path, "")
		if w.Code == http.StatusUnauthorized || !strings.Contains(w.Body.String(), want) ||
			w.Header()["Set-Cookie"] != nil {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := b.send("POST", "/threads", `{"thread_id":"mine"}`); w.Code != http.StatusOK {
		t.Errorf("a change: %d %s", w.Code, w.Body)
	}
	whole := func(want string) {
		t.Helper()
		f := &gateways.FileKit{Kit: k}
		f.Expect("who", b.send("GET", "/api/session", ""), 200, want)
	}
	whole(`{"signed_in":true,"token_required":true,"user_id":"user","role":"admin","scopes":null,"via":"session ci","ends_at":"*"}`)
	if w := b.send("POST", "/session", ""); w.Code != 200 || w.Header()["Set-Cookie"] != nil {
		t.Errorf("signed in twice: %d %v", w.Code, w.Header())
	}
	w := b.send("DELETE", "/session", "")
	if cookies := w.Result().Cookies(); w.Code != 200 || len(cookies) != 1 || cookies[0].MaxAge >= 0 ||
		cookies[0].Value != "" {
		t.Errorf("signed out: %d %v", w.Code, w.Header())
	}
	whole(`{"signed_in":false,"token_required":true,"user_id":"","role":"","scopes":null,"via":"","ends_at":null}`)
	if w := b.send("GET", "/info", ""); w.Code != 401 || !strings.Contains(w.Body.String(), "sign in again") {
		t.Errorf("after signing out: %d %s", w.Code, w.Body)
	}
	want := []string{
		"user, token ci: sign-in token ci", "user, token ci: sign-in session *", "user, session ci: delete session *",
		", address 192.0.2.1: sign-in session : the session is over",
	}
	got := audited(t, k)
	for i := range got {
		got[i] = regexp.MustCompile("[A-Z2-7]{26}$").ReplaceAllString(got[i], "*")
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("audit (-want +got):\n%s", d)
	}
}

// TestWithoutATokenNobodySignsIn: everybody is somebody already.
func TestWithoutATokenNobodySignsIn(t *testing.T) {
	k := gateways.New(t, nil)
	for _, method := range []string{"GET", "POST"} {
		k.Play([]gateways.Scenario{{
			Name: "nothing to trade", Method: method, Path: "/session", Status: 200,
			Want: `{"signed_in":true,"token_required":false,"user_id":"user","role":"admin","via":"loopback","ends_at":null}`,
		}})
	}
	if w := k.Do("POST", "/session", ""); w.Header()["Set-Cookie"] != nil {
		t.Errorf("a cookie: %v", w.Header())
	}
	k.Play([]gateways.Scenario{{Name: "nothing to end", Method: "DELETE", Path: "/session", Status: 200}})
}

// TestSessionsAreListed: a user sees from where he is signed in, and ends what he does not know, and at last his own.
func TestSessionsAreListed(t *testing.T) {
	k := gateways.New(t, asking)
	f := &gateways.FileKit{Kit: k}
	old, b := signedIn(k, "two"), signedIn(k, "one")
	f.Expect("two", b.send("GET", "/sessions", ""), 200, `[
		{"session_id":"*","via":"session ci","user_agent":"","created_at":"*","last_used_at":"*","ends_at":"*","current":true},
		{"via":"session phone","current":false}]`)
	id := func(of *browser) string { c, _, _ := strings.Cut(of.cookie.Value, "."); return c }
	list := b.send("GET", "/sessions", "").Body.String()
	for _, secret := range []string{strings.TrimPrefix(b.cookie.Value, id(b)+"."), "seal"} {
		if strings.Contains(list, secret) {
			t.Errorf("the list has %q: %s", secret, list)
		}
	}
	if w := b.send("DELETE", "/sessions/"+id(old), ""); w.Code != 204 || w.Header()["Set-Cookie"] != nil {
		t.Errorf("another one: %d %v %s", w.Code, w.Header(), w.Body)
	}
	if w := old.send("GET", "/info", ""); w.Code != 401 {
		t.Errorf("it goes on: %d", w.Code)
	}
	f.Expect("again", b.send("DELETE", "/sessions/"+id(old), ""), 404, `{"detail":"Session `+id(old)+` not found"}`)
	stranger := gateways.New(t, func(c *gateway.Config) {
		asking(c)
		c.User = access.FromRow("stranger")
		c.Sessions = k.Sessions
		c.Store = k.Store
	})
	other := signedIn(stranger, "one")
	f.Expect("of somebody else", other.send("DELETE", "/sessions/"+id(b), ""), 404, `{"detail":"*"}`)
	f.Expect("his own alone", other.send("GET", "/sessions", ""), 200, `[{"current":true}]`)
	w := b.send("DELETE", "/sessions/"+id(b), "")
	if cookies := w.Result().Cookies(); w.Code != 204 || len(cookies) != 1 || cookies[0].MaxAge >= 0 {
		t.Errorf("his own: %d %v", w.Code, w.Header())
	}
	if w := b.send("GET", "/info", ""); w.Code != 401 {
		t.Errorf("it goes on: %d", w.Code)
	}
	if got := audited(t, k); !slices.Contains(got, "user, session ci: delete session "+id(old)) {
		t.Errorf("the audit log has %q", got)
	}
}

// TestASessionEndsWithItsToken, also when another token has its name, and does what its token may do.
func TestASessionEndsWithItsToken(t *testing.T) {
	k := gateways.New(t, asking)
	b, other := signedIn(k, "one"), signedIn(k, "two")
	single := signedIn(k, "single")
	for _, c := range []struct {
		guard gateway.Guard
		want  []int
	}{
		{gateway.Guard{Token: "single", Named: gateways.Known{"one": "ci", "two": "phone"}}, []int{200, 200, 200}},
		{gateway.Guard{Token: "changed", Named: gateways.Known{"two": "phone"}}, []int{401, 200, 401}},
		{gateway.Guard{Named: gateways.Known{"new": "ci", "two": "phone"}}, []int{401, 200, 401}},
	} {
		k.Change(func(cfg *gateway.Config) { cfg.Guard = c.guard })
		var got []int
		for _, b := range []*browser{b, other, single} {
			got = append(got, b.send("GET", "/info", "").Code)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
	k.Change(func(cfg *gateway.Config) { cfg.Role = access.Viewer })
	if w := other.send("POST", "/threads", "{}"); w.Code != 403 {
		t.Errorf("a viewer's session changes something: %d", w.Code)
	}
	if w := other.send("DELETE", "/session", ""); w.Code != 200 {
		t.Errorf("a viewer cannot sign out: %d", w.Code)
	}
}

// TestOnlyOwnPagesChangeSomething with the cookie, which browsers send along with requests of pages of other ports too.
// A token is looked at before a cookie.
func TestOnlyOwnPagesChangeSomething(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) {
		asking(c)
		c.Guard.Origins = []string{"https://app.example", "http://localhost:3000", "*"}
	})
	b := signedIn(k, "one")
	host := strings.TrimPrefix(b.origin, "http://")
	for _, c := range []struct {
		origin string
		site   string
		status int
	}{
		{"http://" + host, "", 200}, {"https://" + host, "", 200}, {"https://app.example", "", 200},
		{"", "same-origin", 200}, {"", "same-site", 403}, {"", "none", 403}, {"", "", 403},
		{"http://localhost:3000", "", 200}, {"http://localhost", "", 403}, {"https://evil.example", "", 403},
		{"null", "", 403},
	} {
		b.origin = c.origin
		for method, path := range map[string]string{"POST": "/threads", "DELETE": "/session", "PATCH": "/threads/t"} {
			if c.status == 200 && method != "POST" {
				continue
			}
			if w := b.send(method, path, "{}", "Sec-Fetch-Site", c.site); w.Code != c.status {
				t.Errorf("%s of %q, %q: %d %s", method, c.origin, c.site, w.Code, w.Body)
			}
		}
	}
	b.origin = ""
	for token, status := range map[string]int{"two": 200, "wrong": 401} {
		if w := b.send("POST", "/threads", "{}", "Authorization", "Bearer "+token); w.Code != status {
			t.Errorf("with the token %s: %d", token, w.Code)
		}
	}
	if w := b.send("GET", "/info", ""); w.Code != 200 {
		t.Errorf("the session did not outlive it: %d", w.Code)
	}
}

// TestBehindAProxy: one that is trusted says that the client speaks https, and where it is.
func TestBehindAProxy(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) {
		asking(c)
		c.Guard.Proxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("10.0.0.0/8")}
	})
	signIn := func(remote, proto, host string) *http.Cookie {
		r := k.Request("POST", "/session", "")
		r.Header.Set("Authorization", "Bearer one")
		r.Header.Set("X-Forwarded-Proto", proto)
		r.RemoteAddr, r.Host = remote, host
		return k.Send(r).Result().Cookies()[0]
	}
	for _, c := range []struct{ remote, proto, host, name string }{
		{"192.0.2.1:1", "https", "pudu.example", "__Host-pudu_session"},
		{"192.0.2.1:1", "http, https", "pudu.example:8443", "__Host-pudu_session_8443"},
		{"192.0.2.1:1", "https, http", "pudu.example", "pudu_session"},
		{"203.0.113.9:1", "https", "pudu.example", "pudu_session"},
		{"@", "https", "localhost:2026", "pudu_session_2026"},
	} {
		if got := signIn(c.remote, c.proto, c.host); got.Name != c.name ||
			got.Secure != strings.HasPrefix(c.name, "__Host-") {
			t.Errorf("%+v: %v", c, got)
		}
	}
	b := &browser{k, signIn("192.0.2.1:1", "https", "localhost:2026"), ""}
	r := func(origin string) int {
		return b.send("POST", "/threads", "{}", "X-Forwarded-Proto", "https", "Origin", origin).Code
	}
	if plain, own := r("http://"+b.Request("GET", "/", "").Host),
		r("https://"+b.Request("GET", "/", "").Host); plain != 403 || own != 200 {
		t.Errorf("a page that came without https may: %d, with: %d", plain, own)
	}
	for forwarded, want := range map[string]string{
		"": "192.0.2.1", "203.0.113.5": "203.0.113.5", "1.1.1.1, 203.0.113.5": "203.0.113.5",
		"203.0.113.5, 10.1.1.1": "203.0.113.5", "10.2.2.2": "10.2.2.2", "junk": "192.0.2.1",
		"203.0.113.5, junk": "192.0.2.1", "::ffff:203.0.113.5": "203.0.113.5",
	} {
		r := k.Request("GET", "/", "")
		r.Header.Set("X-Forwarded-For", forwarded)
		if got := k.Guard.Client(r); got != want {
			t.Errorf("%q: %s, want %s", forwarded, got, want)
		}
	}
}

// TestWrongTokensRunOut: an address that sent too many has to wait, also with a good one; others need not, nor do
// sessions.
func TestWrongTokensRunOut(t *testing.T) {
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	k := gateways.New(t, func(c *gateway.Config) { asking(c); c.Now = func() time.Time { return now } })
	b := signedIn(k, "one")
	try := func(from, token string) *httptest.ResponseRecorder {
		r := k.Request("POST", "/session", "")
		r.Header.Set("Authorization", "Bearer "+token)
		r.RemoteAddr = from
		return k.Send(r)
	}
	for range 60 {
		if w := try("[2001:db8::1]:1", "guess"); w.Code != 401 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	if w := try("[2001:db8::2]:1", "one"); w.Code != 429 || w.Header().Get("Retry-After") != "60" {
		t.Errorf("the next one: %d %v %s", w.Code, w.Header(), w.Body)
	}
	if w := try("[2001:db8:0:1::1]:1", "one"); w.Code != 200 {
		t.Errorf("from elsewhere: %d", w.Code)
	}
	if w := b.send("GET", "/info", ""); w.Code != 200 {
		t.Errorf("a session: %d", w.Code)
	}
	now = now.Add(time.Minute)
	if w := try("[2001:db8::1]:1", "one"); w.Code != 200 {
		t.Errorf("a minute later: %d", w.Code)
	}
}

// TestASessionThatIsUsedLasts: the browser gets its cookie again, about once a day.
func TestASessionThatIsUsedLasts(t *testing.T) {
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	k := gateways.New(t, func(c *gateway.Config) { asking(c); c.Now = func() time.Time { return now } })
	b := signedIn(k, "one")
	for _, c := range []struct {
		after  time.Duration
		status int
		again  bool
	}{{time.Hour, 200, false}, {25 * time.Hour, 200, true}, {time.Hour, 200, false}, {session.Keep, 401, false}} {
		now = now.Add(c.after)
		w := b.send("GET", "/info", "")
		if again := w.Header()["Set-Cookie"] != nil; w.Code != c.status || again != c.again {
			t.Errorf("after %v: %d %v", c.after, w.Code, w.Header())
		}
	}
}

// TestASessionWhenTheDatabaseIsAway: the browser is told to come again, and is not signed out.
func TestASessionWhenTheDatabaseIsAway(t *testing.T) {
	k := gateways.New(t, asking)
	b := signedIn(k, "one")
	trouble := &gateways.Trouble{N: 1}
	r := gateways.Troubled(k.Request("GET", "/info", ""), trouble)
	r.AddCookie(&http.Cookie{Name: b.cookie.Name, Value: b.cookie.Value})
	w := k.Send(r)
	if trouble.Calls.Load() == 0 || w.Code != http.StatusServiceUnavailable || w.Header()["Set-Cookie"] != nil {
		t.Errorf("%d calls, %d %s", trouble.Calls.Load(), w.Code, w.Body)
	}
	if w := b.send("GET", "/info", ""); w.Code != 200 {
		t.Errorf("when it is back: %d", w.Code)
	}
	trouble = &gateways.Trouble{N: 1}
	r = gateways.Troubled(k.Request("POST", "/session", ""), trouble)
	r.Header.Set("Authorization", "Bearer one")
	if w := k.Send(r); w.Code != http.StatusServiceUnavailable || w.Header()["Set-Cookie"] != nil {
		t.Errorf("to sign in: %d %s", w.Code, w.Body)
	}
}

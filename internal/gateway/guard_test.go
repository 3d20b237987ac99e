package gateway_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/lib/logctx"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

func TestGuard(t *testing.T) {
	token := gateway.Guard{Token: "secret"}
	for name, c := range map[string]struct {
		guard   gateway.Guard
		path    string
		host    string
		headers map[string]string
		status  int
	}{
		"another machine's address": {path: "/info", host: "10.0.0.1:2026", status: 403},
		"the token by another scheme": {guard: token, path: "/info", host: "pudu.example",
			headers: map[string]string{"Authorization": "Basic secret"}, status: 401},
		"the scheme alone": {guard: token, path: "/info", host: "pudu.example",
			headers: map[string]string{"Authorization": "secret"}, status: 401},
		"ready needs none":               {guard: token, path: "/ready", host: "pudu.example", status: 200},
		"this machine":                   {path: "/info", host: "127.0.0.1:2026", status: 200},
		"by name":                        {path: "/info", host: "localhost", status: 200},
		"by IPv6 alone":                  {path: "/info", host: "[::1]", status: 200},
		"by name, aloud":                 {path: "/info", host: "LocalHost:2026", status: 200},
		"by a name below":                {path: "/info", host: "pudu.localhost:2026", status: 200},
		"by IPv6":                        {path: "/info", host: "[::1]:2026", status: 200},
		"by a name of somebody's":        {path: "/info", host: "evil.example:2026", status: 403},
		"by a name that looks like ours": {path: "/info", host: "localhost.evil.example", status: 403},
		"without a host":                 {path: "/info", host: "", status: 403},
		"a page of ours": {path: "/info", host: "localhost:2026",
			headers: map[string]string{"Origin": "http://localhost:2026"}, status: 200},
		"a page of somebody's": {path: "/info", host: "localhost:2026",
			headers: map[string]string{"Origin": "https://evil.example"}, status: 403},
		"a page of another port": {path: "/info", host: "localhost:2026",
			headers: map[string]string{"Origin": "http://localhost:3000"}, status: 403},
		"a page of the usual port": {path: "/info", host: "localhost:2026",
			headers: map[string]string{"Origin": "http://localhost"}, status: 403},
		"a page of nobody's": {path: "/info", host: "localhost:2026",
			headers: map[string]string{"Origin": "null"}, status: 403},
		"an image on somebody's page": {path: "/info", host: "localhost:2026",
			headers: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, status: 403},
		"a link on somebody's page": {path: "/info", host: "localhost:2026",
			headers: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, status: 200},
		"a page that may": {guard: gateway.Guard{Origins: []string{"https://app.example"}},
			path: "/info", host: "localhost:2026", headers: map[string]string{"Origin": "https://app.example"},
			status: 200},
		"every page may": {guard: gateway.Guard{Origins: []string{"*"}}, path: "/info",
			host: "localhost:2026", headers: map[string]string{"Origin": "https://x.example"}, status: 200},
		"open":     {guard: gateway.Guard{Open: true}, path: "/info", host: "pudu.example", status: 200},
		"no token": {guard: token, path: "/info", host: "pudu.example", status: 401},
		"a wrong token": {guard: token, path: "/info", host: "pudu.example",
			headers: map[string]string{"Authorization": "Bearer guess"}, status: 401},
		"the beginning of the token": {guard: token, path: "/info", host: "pudu.example",
			headers: map[string]string{"Authorization": "Bearer secre"}, status: 401},
		"its first letter as a key": {guard: token, path: "/info", host: "pudu.example",
			headers: map[string]string{"X-Api-Key": "s"}, status: 401},
		"the token and more": {guard: token, path: "/info", host: "pudu.example",
			headers: map[string]string{"Authorization": "Bearer secret2"}, status: 401},
		"the token in other letters": {guard: token, path: "/info", host: "pudu.example",
			headers: map[string]string{"Authorization": "Bearer SECRET"}, status: 401},
		"an empty token": {guard: token, path: "/info", host: "pudu.example",
			headers: map[string]string{"Authorization": "Bearer "}, status: 401},
		"the token": {guard: token, path: "/info", host: "pudu.example",
			headers: map[string]string{"Authorization": "bearer secret"}, status: 200},
		"the token as the SDKs send it": {guard: token, path: "/info", host: "pudu.example",
			headers: map[string]string{"X-Api-Key": "secret"}, status: 200},
		"health needs none":      {guard: token, path: "/api/health", host: "pudu.example", status: 200},
		"under any of its names": {guard: token, path: "/api/langgraph/ok", host: "pudu.example", status: 200},
		"a foreign page needs it as well": {guard: gateway.Guard{Token: "secret", Origins: []string{"*"}},
			path: "/info", host: "pudu.example", headers: map[string]string{"Origin": "https://x.example"},
			status: 401},
	} {
		t.Run(name, func(t *testing.T) {
			k := gateways.New(t, func(cfg *gateway.Config) { cfg.Guard = c.guard })
			r := k.Request("GET", c.path, "")
			r.Host = c.host
			for n, v := range c.headers {
				r.Header.Set(n, v)
			}
			w := k.Send(r)
			if w.Code != c.status {
				t.Errorf("status %d, want %d: %s", w.Code, c.status, w.Body)
			}
			if asks := c.status == http.StatusUnauthorized; (w.Header().Get("WWW-Authenticate") == "Bearer") != asks {
				t.Errorf("headers %v", w.Header())
			}
			if got, _ := jsontest.Decode(t, w.Body.Bytes()).(map[string]any); (len(got) == 1 &&
				got["detail"] != nil) == (c.status == http.StatusOK) {
				t.Errorf("a refusal says why, and nothing else: %s", w.Body)
			}
		})
	}
}

func TestPreflight(t *testing.T) {
	k := gateways.New(t, func(cfg *gateway.Config) {
		cfg.Guard = gateway.Guard{Token: "x", Origins: []string{"https://app.example"}}
	})
	r := k.Request("OPTIONS", "/threads", "")
	r.Header.Set("Origin", "https://app.example")
	r.Header.Set("Access-Control-Request-Headers", "content-type,x-api-key")
	w := k.Send(r)
	h := w.Header()
	if w.Code != 204 || w.Body.Len() > 0 {
		t.Errorf("%d %v %s", w.Code, h, w.Body)
	}
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":  "https://app.example",
		"Access-Control-Allow-Headers": "content-type,x-api-key", "Access-Control-Allow-Credentials": "true",
		"Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE", "Access-Control-Max-Age": "600",
		"Vary":                          "Origin",
		"Access-Control-Expose-Headers": "Content-Location, Location, X-Pagination-Total, X-Pagination-Next",
	} {
		if h.Get(name) != want {
			t.Errorf("%s is %q", name, h.Get(name))
		}
	}
	r.Header.Del("Access-Control-Request-Headers")
	if h := k.Send(r).Header(); h.Values("Access-Control-Allow-Headers") != nil {
		t.Errorf("headers that nobody asked for: %v", h)
	}
}

// statuses notes what requests were answered with.
type statuses struct {
	gateways.Nobody

	list []string
}

func (s *statuses) Answered(route, method string, status int, _ time.Duration) {
	s.list = append(s.list, fmt.Sprint(method, " ", route, " ", status))
}

// TestAnswersAreCounted by the route, and by what the client was told.
func TestAnswersAreCounted(t *testing.T) {
	watch := &statuses{}
	k := gateways.New(t, func(c *gateway.Config) { c.Watch = watch })
	for _, path := range []string{"/api/threads/nope", "/health", "/threads/a%20b", "/nothing"} {
		k.Do("GET", path, "")
	}
	want := []string{"GET /threads/{thread_id} 404", "GET /health 200", "GET /threads/{thread_id} 422"}
	if !slices.Equal(watch.list, want) {
		t.Errorf("%q", watch.list)
	}
}

// limited notes the classes of which there were too many requests.
type limited struct {
	gateways.Nobody

	list []string
}

func (l *limited) Limited(class string) { l.list = append(l.list, class) }

// TestTooManyRequestsAreRefused by their class, with the time to come again, and those of the other classes go on.
func TestTooManyRequestsAreRefused(t *testing.T) {
	watch := &limited{}
	k := gateways.New(t, func(c *gateway.Config) {
		c.Watch, c.Guard.Token, c.Rates = watch, "x", route.Rates{route.Write: 2, route.Cheap: 100}
		c.Now = func() time.Time { return time.Unix(1_900_000_000, 0) }
	})
	send := func(method, path, body string) *httptest.ResponseRecorder {
		r := k.Request(method, path, body)
		r.Header.Set("Authorization", "Bearer x")
		return k.Send(r)
	}
	for i, want := range []int{200, 200, 429} {
		w := send("POST", "/threads", fmt.Sprintf(`{"thread_id":"t%d"}`, i))
		if w.Code != want {
			t.Errorf("request %d: %d %s", i, w.Code, w.Body)
		}
		if want == 429 && (w.Header().Get("Retry-After") != "30" ||
			!strings.Contains(w.Body.String(), `{"detail":"Too many requests of the class \"write\"`)) {
			t.Errorf("%v %s", w.Header(), w.Body)
		}
	}
	if _, err := k.Data().Thread(t.Context(), "t2"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the request was carried out: %v", err)
	}
	if w := send("GET", "/threads/t1", ""); w.Code != http.StatusOK {
		t.Errorf("another class: %d %s", w.Code, w.Body)
	}
	if !slices.Equal(watch.list, []string{"write"}) {
		t.Errorf("%q", watch.list)
	}
}

// refusals counts the tokens that were refused.
type refusals struct {
	gateways.Nobody

	n int
}

func (r *refusals) Refused() { r.n++ }

// TestARefusedRequestDoesNothing, whatever it is refused for.
func TestARefusedRequestDoesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		guard   gateway.Guard
		host    string
		headers map[string]string
	}{
		"a foreign page":  {gateway.Guard{}, "localhost", map[string]string{"Origin": "https://evil.example"}},
		"a foreign image": {gateway.Guard{}, "localhost", map[string]string{"Sec-Fetch-Site": "cross-site"}},
		"a foreign name":  {gateway.Guard{}, "evil.example", nil},
		"no token":        {gateway.Guard{Token: "x"}, "localhost", nil},
	} {
		watch := &refusals{}
		k := gateways.New(t, func(cfg *gateway.Config) { cfg.Guard, cfg.Watch = c.guard, watch })
		r := k.Request("POST", "/threads", `{"thread_id":"t"}`)
		r.Host = c.host
		for n, v := range c.headers {
			r.Header.Set(n, v)
		}
		if w := k.Send(r); w.Code != http.StatusForbidden && w.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if want := map[bool]int{true: 1}[c.guard.Token != ""]; watch.n != want {
			t.Errorf("%s: %d tokens were refused", name, watch.n)
		}
		if _, err := k.Data().Thread(t.Context(), "t"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: a thread was made, %v", name, err)
		}
	}
}

// TestWhereARequestComesFrom is in the log: the address without the port, or what there is.
func TestWhereARequestComesFrom(t *testing.T) {
	for remote, want := range map[string]string{"192.0.2.1:5000": "192.0.2.1", "[::1]:80": "::1", "@": "@"} {
		if got := route.From(&http.Request{RemoteAddr: remote}); got != want {
			t.Errorf("%s: %s", remote, got)
		}
	}
}

// TestNamedTokens are good beside the one without a name; their names are in the log, and so is who was refused.
func TestNamedTokens(t *testing.T) {
	var log bytes.Buffer
	k := gateways.New(t, func(cfg *gateway.Config) {
		cfg.Guard = gateway.Guard{Token: "single", Named: gateways.Known{"one": "ci", "two": "phone"}}
		cfg.Log = slog.New(logctx.Handler(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	})
	for token, c := range map[string]struct {
		status int
		line   string
	}{
		"single": {200, ""}, "one": {200, "token=ci"}, "two": {200, "token=phone"}, "on": {401, "why=wrong"},
		"onee": {401, "why=wrong"}, "": {401, "why=missing"},
	} {
		log.Reset()
		r := k.Request("GET", "/info", "")
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("X-Request-ID", "r-"+token)
		if w := k.Send(r); w.Code != c.status || w.Header().Get("X-Request-ID") != "r-"+token {
			t.Errorf("%q: status %d, want %d, %v", token, w.Code, c.status, w.Header())
		}
		if !strings.Contains(log.String(), c.line) || !strings.Contains(log.String(), "request=r-"+token) {
			t.Errorf("%q: %q is not in %s", token, c.line, &log)
		}
		if refused := strings.Contains(log.String(), "token refused"); refused != (c.status == 401) {
			t.Errorf("%q: %s", token, &log)
		}
	}
}

// TestTheIDOfARequest is a new one where the caller's is none that belongs into a log.
func TestTheIDOfARequest(t *testing.T) {
	k := gateways.New(t, nil)
	for given, keeps := range map[string]bool{"a-1.b_2:c": true, "": false, "a b": false, "ä": false,
		strings.Repeat("a", 129): false} {
		r := k.Request("GET", "/info", "")
		r.Header.Set("X-Request-ID", given)
		if got := k.Send(r).Header().Get("X-Request-ID"); (got == given) != keeps || got == "" {
			t.Errorf("%q became %q", given, got)
		}
	}
}

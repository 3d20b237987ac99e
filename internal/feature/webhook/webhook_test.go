package webhook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/outgoing"
)

func local(t *testing.T) *Caller {
	t.Helper()
	g := outgoing.New(outgoing.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	return New(g)
}

func TestCallPostsJSON(t *testing.T) {
	got := make(chan string, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.Method + " " + r.URL.Path + " " + r.Header.Get("Content-Type") + " " + r.Header.Get("Webhook-Id") +
			" " + string(body)
	}))
	defer s.Close()
	if err := local(t).Call(t.Context(), s.URL+"/hook", "run-7", []byte(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	if want := `POST /hook application/json run-7 {"a":1}`; <-got != want {
		t.Errorf("want %s", want)
	}
}

func TestAPrivateAddressIsRefused(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	if err := New(outgoing.New(outgoing.Config{})).Call(t.Context(), s.URL, "run-7", nil); !errors.Is(err,
		outgoing.ErrRefused) {
		t.Error(err)
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	called := false
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	defer inner.Close()
	s := httptest.NewServer(http.RedirectHandler(inner.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	if err := local(t).Call(t.Context(), s.URL, "run-7", nil); err == nil || called {
		t.Errorf("error %v, followed: %v", err, called)
	}
}

func TestFailuresNameTheHostAlone(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	}))
	c := local(t)
	err := c.Call(t.Context(), s.URL+"/secret", "run-7", nil)
	if err == nil || !strings.Contains(err.Error(), "418") || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	s.Close()
	if err := c.Call(t.Context(), s.URL+"/secret", "run-7", nil); err == nil ||
		strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	if err := c.Call(t.Context(), "http://[::1/secret", "run-7", nil); err == nil ||
		strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

func TestASilentServerIsLeft(t *testing.T) {
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer s.Close()
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := local(t).Call(ctx, s.URL, "run-7", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

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
)

func local(t *testing.T, timeout time.Duration) *Caller {
	t.Helper()
	return New(Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Timeout: timeout})
}

func TestCallPostsJSON(t *testing.T) {
	got := make(chan string, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.Method + " " + r.URL.Path + " " + r.Header.Get("Content-Type") + " " + string(body)
	}))
	defer s.Close()
	if err := local(t, 0).Call(t.Context(), s.URL+"/hook", []byte(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	if want := `POST /hook application/json {"a":1}`; <-got != want {
		t.Errorf("want %s", want)
	}
}

func TestAddressesThatAreRefused(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	port := s.URL[strings.LastIndexByte(s.URL, ':'):]
	for _, to := range []string{
		s.URL, "http://localhost" + port, "http://[::1]" + port, "http://[::ffff:127.0.0.1]" + port, "http://0.0.0.0" + port, "http://127.1" + port,
		"http://10.0.0.1/", "http://192.168.1.1/", "http://172.16.0.1/", "http://169.254.169.254/latest/meta-data", "http://100.64.0.1/",
		"http://[fd00::1]/", "http://[fe80::1%25lo]/", "http://[64:ff9b::7f00:1]/", "http://224.0.0.1/", "http://255.255.255.255/", "http://2130706433" + port,
	} {
		err := New(Config{Timeout: time.Second}).Call(t.Context(), to, nil)
		if unknown := err != nil && strings.Contains(err.Error(), "lookup"); !unknown && !errors.Is(err, ErrRefused) { // a name that nobody has
			t.Errorf("%s: %v", to, err)
		}
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	called := false
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	defer inner.Close()
	s := httptest.NewServer(http.RedirectHandler(inner.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	if err := local(t, 0).Call(t.Context(), s.URL, nil); err == nil || called {
		t.Errorf("error %v, followed: %v", err, called)
	}
}

func TestFailuresNameTheHostAlone(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	c := local(t, 0)
	err := c.Call(t.Context(), s.URL+"/secret", nil)
	if err == nil || !strings.Contains(err.Error(), "418") || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	s.Close()
	if err := c.Call(t.Context(), s.URL+"/secret", nil); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	if err := c.Call(t.Context(), "http://[::1/secret", nil); err == nil || strings.Contains(err.Error(), "secret") {
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
	if err := local(t, time.Minute).Call(ctx, s.URL, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func FuzzAddressIsRefusedOrPublic(f *testing.F) {
	for _, s := range []string{"127.0.0.1:80", "[::1]:80", "8.8.8.8:443", "[::ffff:10.0.0.1]:1", "x", "1.2.3.4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		if (Config{}).check(address) != nil {
			return
		}
		at, err := netip.ParseAddrPort(address)
		if ip := at.Addr().Unmap(); err != nil || ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
			t.Errorf("%q may be called", address)
		}
	})
}

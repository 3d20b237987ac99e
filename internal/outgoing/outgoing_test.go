package outgoing

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// local may call this machine.
func local() *Guard {
	return New(Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
}

// get returns what a call of the profile brings, and closes the guard.
func get(t *testing.T, g *Guard, p Profile, url string) (string, error) {
	t.Helper()
	defer g.transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := g.Client(p).Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	return strconv.Itoa(res.StatusCode) + " " + string(data), err
}

func TestAddressesThatAreRefused(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	port := s.URL[strings.LastIndexByte(s.URL, ':'):]
	for _, to := range []string{
		s.URL, "http://localhost" + port, "http://[::1]" + port, "http://[::ffff:127.0.0.1]" + port, "http://0.0.0.0" +
			port, "http://127.1" + port, "http://10.0.0.1/", "http://192.168.1.1/", "http://172.16.0.1/",
		"http://169.254.169.254/latest/meta-data", "http://100.64.0.1/",
		"http://[fd00::1]/", "http://[fe80::1%25lo]/", "http://[64:ff9b::7f00:1]/", "http://224.0.0.1/",
		"http://255.255.255.255/", "http://2130706433" + port,
	} {
		_, err := get(t, New(Config{}), Profile{Timeout: time.Second}, to)
		// a name that nobody has
		if unknown := err != nil && strings.Contains(err.Error(), "lookup"); !unknown && !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", to, err)
		}
	}
}

// TestServersOfModels may be on this machine and in private networks, and nowhere where a machine learns its
// credentials.
func TestServersOfModels(t *testing.T) {
	for address, ok := range map[string]bool{
		"127.0.0.1:11434": true, "[::1]:1": true, "10.0.0.5:8000": true, "192.168.1.7:80": true, "[fd12::1]:80": true,
		"8.8.8.8:443": true, "100.64.1.2:80": true, "[2606:4700::1]:443": true, "[64:ff9b::808:808]:443": true,
		"[::ffff:10.0.0.1]:80": true, "169.254.169.254:80": false, "[fe80::1%eth0]:80": false,
		"[::ffff:169.254.169.254]:80": false, "[64:ff9b::a9fe:a9fe]:80": false, "100.100.100.200:80": false,
		"[fd00:ec2::254]:80": false, "168.63.129.16:80": false, "192.0.0.192:80": false, "0.0.0.0:80": false,
		"[::]:80": false, "224.0.0.1:80": false, "[ff02::1]:80": false, "255.255.255.255:80": false, "x": false,
	} {
		if err := ModelServer("tcp", address, nil); (err == nil) != ok ||
			err != nil && !errors.Is(err, ErrNoModelServer) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestEveryHopIsChecked: a redirect of an address that may be called leads to one that may not.
func TestEveryHopIsChecked(t *testing.T) {
	called := false
	inner := serve(t, func(http.ResponseWriter, *http.Request) { called = true })
	to := strings.Replace(inner, "127.0.0.1", "127.0.0.2", 1)
	first := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
	g := New(Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	if _, err := get(t, g, Profile{Redirects: 5}, first); !errors.Is(err, ErrRefused) || called {
		t.Errorf("%v, called %v", err, called)
	}
}

func TestRedirects(t *testing.T) {
	hops := 0
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if hops++; hops <= 2 {
			http.Redirect(w, r, "/next", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "here")
	})
	for n, want := range []string{"302 <a href", "stopped after 1 redirects", "200 here"} {
		hops = 0
		got, err := get(t, local(), Profile{Redirects: n}, url)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%d redirects: %s", n, got)
		}
	}
}

// TestAnswersAreBounded: an answer of the limit passes, one byte more does not; packed ones are measured unpacked.
func TestAnswersAreBounded(t *testing.T) {
	packed := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write(bytes.Repeat([]byte("a"), 1<<20))
		_ = z.Close()
	})
	plain := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "12345") })
	for _, tt := range []struct {
		url  string
		max  int64
		want string
		err  error
	}{
		{plain, 5, "200 12345", nil},
		{plain, 4, "200 1234", ErrTooLarge},
		{packed, 3, "200 aaa", ErrTooLarge},
	} {
		if got, err := get(t, local(), Profile{MaxBytes: tt.max}, tt.url); got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%d bytes: %q, %v", tt.max, got, err)
		}
	}
	if got, err := get(t, local(), Profile{}, packed); len(got) != 4+1<<20 || err != nil {
		t.Errorf("without a bound of its own: %d bytes, %v", len(got), err)
	}
}

// TestTimeout: a call ends with its time, unless it streams.
func TestTimeout(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(time.Second):
			_, _ = io.WriteString(w, "late")
		}
	})
	if _, err := get(t, local(), Profile{Timeout: 400 * time.Millisecond}, url); !errors.Is(err,
		context.DeadlineExceeded) {
		t.Error(err)
	}
	if got, err := get(t, local(), Profile{Timeout: 400 * time.Millisecond, Stream: true}, url); got != "200 late" ||
		err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestNoProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "direct") })
	if got, err := get(t, local(), Profile{}, url); got != "200 direct" || err != nil {
		t.Errorf("%q, %v", got, err)
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
		if ip := at.Addr().Unmap(); err != nil || ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() ||
			ip.IsMulticast() || ip.IsUnspecified() {
			t.Errorf("%q may be called", address)
		}
	})
}

package modeltest

import (
	"context"
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pudu-ai/pudu/model"
)

// networkCase is about the way to the server.
type networkCase struct {
	name string
	run  func(t *testing.T, h Harness)
}

func networkCases() []networkCase {
	return []networkCase{
		{"http2", http2},
		{"proxy", proxy},
		{"custom_ca", customCA},
		{"thousand_cancelled", thousandCancelled},
	}
}

// http2 wants calls, side by side, and the cancelling of one to work over one connection of HTTP/2.
func http2(t *testing.T, h Harness) {
	listen := func(srv *httptest.Server) { srv.EnableHTTP2 = true; srv.StartTLS() }
	s, m := startOver(t, h, 0, listen, silent(t, h, true), load(t, h, "text"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wantCanceled(t, m, ctx, cancel)
	s.waitGone()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { expectText(t, m, "Hello, world!") })
	}
	wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.protocol != 2 || s.conns != 1 {
		t.Errorf("HTTP/%d over %d connections, want HTTP/2 over one", s.protocol, s.conns)
	}
}

// envServer is the address that a process of its own is to ask: proxies and certificates are read from the environment,
// once.
const envServer = "PUDU_MODELTEST_SERVER"

// proxy wants the request to go through the proxy of the environment: the address itself exists nowhere.
func proxy(t *testing.T, h Harness) {
	if inChild(t, h) {
		return
	}
	s, _ := start(t, h, 0, load(t, h, "text"))
	child(t, envServer+"=http://model.invalid", "HTTP_PROXY="+s.url, "http_proxy="+s.url, "NO_PROXY=", "no_proxy=")
	if n := len(s.sent()); n != 1 {
		t.Errorf("%d requests came through the proxy, want 1", n)
	}
}

// customCA wants the certificates that SSL_CERT_FILE names to be trusted, and no others.
func customCA(t *testing.T, h Harness) {
	if inChild(t, h) {
		return
	}
	var cert []byte
	listen := func(srv *httptest.Server) {
		srv.StartTLS()
		cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	}
	s, _ := startOver(t, h, 0, listen, load(t, h, "text"))
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, cert, 0o600); err != nil {
		t.Fatal(err)
	}
	child(t, envServer+"="+s.url, "SSL_CERT_FILE="+file, "NO_PROXY=*", "no_proxy=*")
}

// inChild asks the server that this process was started for, and reports whether there is one.
func inChild(t *testing.T, h Harness) bool {
	t.Helper()
	url := os.Getenv(envServer)
	if url == "" {
		return false
	}
	expectText(t, h.New(Target{BaseURL: url, Key: Key, Model: ModelName}), "Hello, world!")
	return true
}

// child runs the test once more, in a process with this environment.
func child(t *testing.T, env ...string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	name := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	cmd := exec.CommandContext(ctx, self, "-test.run="+name, "-test.count=1")
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	} else if !strings.Contains(string(out), "PASS") {
		t.Errorf("no test ran: %s", out)
	}
}

// cancelled is how many streams are cancelled in a row.
const cancelled = 1000

// thousandCancelled cancels streams in the middle. The server sees each of them go; see start for what may be left.
func thousandCancelled(t *testing.T, h Harness) {
	s, m := start(t, h, 0, silent(t, h, true))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range cancelled / 20 {
				if err := cancelOne(t.Context(), m); !errors.Is(err, context.Canceled) {
					t.Errorf("error %v, want context.Canceled", err)
				}
			}
		})
	}
	wg.Wait()
	for range cancelled {
		s.waitGone()
	}
}

func cancelOne(ctx context.Context, m model.ChatModel) (last error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, err := range m.Stream(ctx, ask()) {
		last = err
		cancel()
	}
	return last
}

package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t *testing.T, idle time.Duration, h http.HandlerFunc) (*Client, *httptest.Server) {
	t.Helper()
	srv := httptest.NewServer(h)
	c := &Client{Origin: Origin{Provider: "p", Model: "m", Secrets: []string{"topsecret"}},
		HTTP: NewHTTPClient(nil, idle)}
	t.Cleanup(func() { c.HTTP.CloseIdleConnections(); srv.Close() })
	return c, srv
}

func TestPostReusesTheConnection(t *testing.T) {
	var conns atomic.Int32
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "data: [DONE]\n\n")
		w.(http.Flusher).Flush()
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	srv.Start()
	c := &Client{HTTP: NewHTTPClient(nil, 0)}
	defer srv.Close()
	defer c.HTTP.CloseIdleConnections()
	for range 3 {
		resp, err := c.Post(t.Context(), srv.URL, nil, []byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		if ev, err := eventReader(resp.Body).Next(); err != nil || string(ev.Data) != "[DONE]" {
			t.Fatalf("%q, %v", ev.Data, err)
		}
		Finish(resp.Body)
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

func TestFinishDoesNotWaitForEver(t *testing.T) {
	done := make(chan struct{})
	c, srv := serve(t, 0, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "data: x\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(done)
	})
	resp, err := c.Post(t.Context(), srv.URL, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	Finish(resp.Body)
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("took %v", d)
	}
	<-done
}

func TestIdleTimeout(t *testing.T) {
	for name, begin := range map[string]bool{"before the head": false, "in mid-stream": true} {
		t.Run(name, func(t *testing.T) {
			c, srv := serve(t, 500*time.Millisecond, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				if begin {
					io.WriteString(w, "data: x\n\n")
					w.(http.Flusher).Flush()
				}
				<-r.Context().Done()
			})
			resp, err := c.Post(t.Context(), srv.URL, nil, []byte(`{}`))
			if begin {
				if err != nil {
					t.Fatal(err)
				}
				_, err = io.ReadAll(resp.Body)
				resp.Body.Close()
				err = c.Failure(t.Context(), err)
			}
			if e := model.AsError(err); e == nil || e.Class != model.ClassTransient || !errors.Is(err, ErrIdle) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestASlowReaderIsNotIdle(t *testing.T) {
	c, srv := serve(t, 400*time.Millisecond,
		func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "data: x\n\n") })
	resp, err := c.Post(t.Context(), srv.URL, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	<-time.After(1200 * time.Millisecond) // the time that the reader takes is what is tested
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Error(err)
	}
}

// TestACallLeavesNoContext: the context that the idle time-out cancels ends with the call, however that ends, so that a
// program with one long context does not gather those of all its calls.
func TestACallLeavesNoContext(t *testing.T) {
	for name, fails := range map[string]error{"an answer": nil, "no answer": errors.New("connection refused")} {
		t.Run(name, func(t *testing.T) {
			seen := make(chan context.Context, 1)
			c := NewHTTPClient(&http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				seen <- r.Context()
				return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, fails
			})}, 0)
			resp, err := c.Post("http://model.test", "", nil)
			ctx := <-seen
			if err == nil {
				if ctx.Err() != nil {
					t.Error("the context ended before the answer was read")
				}
				resp.Body.Close()
			}
			if ctx.Err() == nil {
				t.Error("the context goes on after the call")
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestPostFailures(t *testing.T) {
	c, srv := serve(t, 0, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/html":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
		case "/redirect":
			http.Redirect(w, r, "https://elsewhere.invalid/", http.StatusTemporaryRedirect)
		case "/limit":
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	closed := httptest.NewServer(nil)
	closed.Close()
	tests := []struct {
		name, url string
		class     model.Class
		wait      time.Duration
	}{
		{"web page with 200", srv.URL + "/html", model.ClassBadRequest, 0},
		{"redirect", srv.URL + "/redirect", model.ClassBadRequest, 0},
		{"limit", srv.URL + "/limit", model.ClassRateLimit, 3 * time.Second},
		{"nobody there", closed.URL + "/?key=topsecret", model.ClassTransient, 0},
		{"no address", "http://\x00topsecret", model.ClassBadRequest, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := c.Post(t.Context(), tt.url, nil, nil)
			e := model.AsError(err)
			if e == nil || e.Class != tt.class || e.RetryAfter != tt.wait {
				t.Fatalf("error %#v", err)
			}
			if strings.Contains(err.Error(), "topsecret") {
				t.Errorf("the error tells a secret: %v", err)
			}
		})
	}
}

func TestCancelledPostReturnsTheContextsError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c, srv := serve(t, 0, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	})
	if _, err := c.Post(ctx, srv.URL, nil, nil); !errors.Is(err, context.Canceled) || model.AsError(err) != nil {
		t.Errorf("error %v", err)
	}
}

func TestHeader(t *testing.T) {
	for _, tt := range []struct {
		key, in string
		more    map[string]string
		want    http.Header
	}{
		{"", "x-key", nil, http.Header{}},
		{"k", "", nil, http.Header{"Authorization": {"Bearer k"}}},
		{"k", "x-key", map[string]string{"x-more": "1"}, http.Header{"X-Key": {"k"}, "X-More": {"1"}}},
		{"k", "", map[string]string{"authorization": "Basic b"}, http.Header{"Authorization": {"Basic b"}}},
	} {
		if d := cmp.Diff(tt.want, Header(tt.key, tt.in, tt.more)); d != "" {
			t.Errorf("%+v: %s", tt, d)
		}
	}
}

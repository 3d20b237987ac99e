package gateways

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/store"
)

// Cut sends a request and reports whether its connection was cut.
func (k *Kit) Cut(r *http.Request) (w *httptest.ResponseRecorder, cut bool) {
	w = httptest.NewRecorder()
	defer func() {
		if err := recover(); err != nil {
			if cut = err == http.ErrAbortHandler; !cut {
				panic(err)
			}
		}
	}()
	k.ServeHTTP(w, r)
	return w, false
}

// Open sends a request that is answered while it lasts. It is cut when the test ends, or by the returned function.
func (k *Kit) Open(method, path, body string) (*http.Response, func()) {
	k.T.Helper()
	server := httptest.NewServer(k)
	ctx, cancel := context.WithCancel(k.T.Context())
	k.T.Cleanup(func() {
		cancel()
		server.Client().CloseIdleConnections()
		server.Close()
	})
	r, err := http.NewRequestWithContext(ctx, method, server.URL+path, strings.NewReader(body))
	if err != nil {
		k.T.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := server.Client().Do(r)
	if err != nil {
		k.T.Fatal(err)
	}
	k.T.Cleanup(func() { _ = res.Body.Close() })
	return res, cancel
}

// Eventually waits for a condition.
func Eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never came to that")
		}
	}
}

// Raw begins a request of which only a part is sent.
func Raw(t *testing.T, server *httptest.Server, request string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err == nil {
		err = conn.SetDeadline(time.Now().Add(30 * time.Second))
	}
	if err == nil {
		_, err = io.WriteString(conn, request)
	}
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// ReadAll reads to the end.
func ReadAll(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// RunsOf lists the runs of a thread, the newest first.
func (k *Kit) RunsOf(threadID string) []store.Run {
	k.T.Helper()
	list, err := k.Data().ListRuns(k.T.Context(), store.RunFilter{ThreadID: threadID, Limit: 10})
	if err != nil {
		k.T.Fatal(err)
	}
	return list
}

// Large is more than a connection takes whose other end does not read.
const Large = 6 << 20

// Faulty is a kit behind a real server. A client has a moment for each piece.
func Faulty(t *testing.T, change func(*gateway.Config)) (*Kit, *httptest.Server, *Answered) {
	t.Helper()
	watch := &Answered{}
	k := New(t, func(c *gateway.Config) {
		c.Limits.Write, c.Watch = 200*time.Millisecond, watch
		if change != nil {
			change(c)
		}
	})
	server := httptest.NewServer(k)
	t.Cleanup(server.Close)
	return k, server, watch
}

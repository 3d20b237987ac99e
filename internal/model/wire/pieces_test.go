package wire

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// counted counts the system calls that move the bytes of a connection.
type counted struct {
	net.Conn

	writes *atomic.Int32
}

func (c counted) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// TestShortRequestIsOneWrite: its head and its body go out together.
func TestShortRequestIsOneWrite(t *testing.T) {
	const size = 12 << 10
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err != nil || len(body) != size {
			t.Errorf("%d bytes came, %v", len(body), err)
		}
	}))
	defer srv.Close()
	var writes atomic.Int32
	transport := NewTransport()
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		return counted{conn, &writes}, err
	}
	c := &Client{HTTP: NewHTTPClient(&http.Client{Transport: transport}, 0)}
	defer c.HTTP.CloseIdleConnections()
	resp, err := c.Post(t.Context(), srv.URL, nil, []byte(strings.Repeat("x", size)))
	if err != nil {
		t.Fatal(err)
	}
	Finish(resp.Body)
	if n := writes.Load(); n != 1 {
		t.Errorf("%d writes, want 1", n)
	}
}

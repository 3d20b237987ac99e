package gateway

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// raw begins a request of which only a part is sent.
func raw(t *testing.T, server *httptest.Server, request string) net.Conn {
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

// halfUpload is a request that promises more than it has.
func halfUpload() string {
	contentType, body := form(file("first.txt", "whole"), file("second.txt", strings.Repeat("x", 10000)))
	return fmt.Sprintf("POST /threads/t/uploads HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		contentType, len(body), body[:len(body)-500])
}

func TestUploadCutOff(t *testing.T) {
	for name, c := range map[string]struct {
		wait   time.Duration
		status string // that the client sees; empty if it has gone
	}{
		"the client goes":         {30 * time.Second, ""},
		"the client stands still": {200 * time.Millisecond, "HTTP/1.1 408 Request Timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			watch := &answered{}
			k := newFileKit(t, func(cfg *Config) { cfg.Limits.Write, cfg.Watch = c.wait, watch })
			server := httptest.NewServer(k)
			defer server.Close()
			conn := raw(t, server, halfUpload())
			defer conn.Close()
			eventually(t, func() bool { return slices.Contains(k.names("t"), "second.txt") || watch.count() > 0 })
			if c.status == "" {
				conn.Close()
			} else if got, _, _ := strings.Cut(readAll(t, conn), "\r\n"); got != c.status {
				t.Errorf("answered %q", got)
			}
			eventually(t, func() bool { return watch.count() > 0 })
			if got := k.names("t"); len(got) > 0 {
				t.Errorf("left behind: %q", got)
			}
		})
	}
}

func readAll(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// answered counts requests.
type answered struct {
	mu sync.Mutex
	n  int
}

func (a *answered) Answered(string, string, int, time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.n++
}

func (*answered) Streaming(int) {}
func (*answered) Refused()      {}

func (a *answered) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.n
}

// A client that sends slowly, but steadily, and then rests, finds its connection as it was.
func TestUploadSlowButSteady(t *testing.T) {
	const wait = 300 * time.Millisecond
	k := newFileKit(t, func(c *Config) { c.Limits.Write = wait })
	server := httptest.NewServer(k)
	defer server.Close()
	contentType, body := form(file("slow.txt", strings.Repeat("x", 64<<10)))
	conn := raw(t, server, fmt.Sprintf("POST /threads/t/uploads HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
		contentType, len(body)))
	defer conn.Close()
	for piece := range slices.Chunk([]byte(body), len(body)/8+1) {
		time.Sleep(wait / 4)
		if _, err := conn.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	one := make([]byte, 12)
	if _, err := io.ReadFull(conn, one); err != nil || string(one) != "HTTP/1.1 200" {
		t.Fatalf("%v %s", err, one)
	}
	time.Sleep(wait * 3 / 2)
	if _, err := io.WriteString(conn, "GET /ok HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if rest := readAll(t, conn); !strings.Contains(rest, "HTTP/1.1 200 OK\r\n") || k.read("t", "uploads/slow.txt") == "" {
		t.Errorf("%.1000s", rest)
	}
}

// A client that writes before it reads learns what is wrong all the same.
func TestUploadRefusalIsRead(t *testing.T) {
	k := newFileKit(t, func(c *Config) { c.Limits.Upload = 1000 })
	server := httptest.NewServer(k)
	defer server.Close()
	contentType, body := form(file("big.bin", strings.Repeat("x", 20<<20)))
	conn := raw(t, server, fmt.Sprintf("POST /threads/t/uploads HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
		contentType, len(body)))
	defer conn.Close()
	for piece := range slices.Chunk([]byte(body), 4<<20) {
		time.Sleep(150 * time.Millisecond) // a server that does not read on would be gone by then
		if _, err := conn.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	if got := readAll(t, conn); !strings.HasPrefix(got, "HTTP/1.1 413 ") || !strings.Contains(got, "File too large: big.bin") {
		t.Error(got)
	}
}

// What comes steadily but takes far too long is cut off too.
func TestUploadTooSlowOnAverage(t *testing.T) {
	const hour = 3600
	for got, want := range map[int64]error{0: os.ErrDeadlineExceeded, (hour - 60) * slowest: os.ErrDeadlineExceeded, (hour + 60) * slowest: nil} {
		var failed error
		half := make(chan struct{}) // the first half was read; the second has to be waited for
		k := newFileKit(t, nil)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b := k.steady(w, r, 1<<30)
			b.begun, b.got = time.Now().Add(-hour*time.Second), got
			_, failed = io.ReadFull(b, make([]byte, 50))
			close(half)
			if failed == nil {
				_, failed = io.ReadFull(b, make([]byte, 50))
			}
		}))
		conn := raw(t, server, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nConnection: close\r\n\r\n"+strings.Repeat("x", 50))
		<-half
		if _, err := io.WriteString(conn, strings.Repeat("x", 50)); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, conn)
		conn.Close()
		server.Close()
		if !errors.Is(failed, want) {
			t.Errorf("after %d bytes in an hour: %v", got, failed)
		}
	}
}

// TestBodiesWithoutALength: a body that does not tell how long it is has the same bound, of JSON as of a file.
func TestBodiesWithoutALength(t *testing.T) {
	k := newFileKit(t, func(c *Config) { c.Limits.Body, c.Limits.Upload, c.Limits.Uploads = 1000, 1000, 2000 })
	contentType, upload := form(file("big.bin", strings.Repeat("x", 64<<10)))
	for name, c := range map[string]struct {
		path, contentType, body string
		status                  int
	}{
		"json within":   {"/threads", "application/json", `{"metadata":{"a":"` + strings.Repeat("x", 900) + `"}}`, http.StatusOK},
		"json above":    {"/threads", "application/json", `{"metadata":{"a":"` + strings.Repeat("x", 1000) + `"}}`, http.StatusRequestEntityTooLarge},
		"a list above":  {"/runs/batch", "application/json", "[" + strings.Repeat(" ", 1000) + "]", http.StatusRequestEntityTooLarge},
		"blanks behind": {"/threads", "application/json", `{}` + strings.Repeat(" ", 1000), http.StatusRequestEntityTooLarge},
		"a file above":  {"/threads/t/uploads", contentType, upload, http.StatusRequestEntityTooLarge},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, c.path, io.NopCloser(strings.NewReader(c.body)))
		r.Host = "localhost"
		r.ContentLength, r.TransferEncoding = -1, []string{"chunked"}
		r.Header.Set("Content-Type", c.contentType)
		if w := k.send(r); w.Code != c.status {
			t.Errorf("%s: %d %.300s, want %d", name, w.Code, w.Body, c.status)
		}
	}
	if got := k.names("t"); len(got) > 0 {
		t.Errorf("left behind: %q", got)
	}
}

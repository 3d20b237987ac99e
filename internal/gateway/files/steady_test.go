package files_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// halfUpload is a request that promises more than it has.
func halfUpload() string {
	contentType, body := gateways.Form(gateways.File("first.txt", "whole"),
		gateways.File("second.txt", strings.Repeat("x", 10000)))
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
			watch := &gateways.Answered{}
			k := gateways.NewFiles(t, func(cfg *gateway.Config) { cfg.Limits.Write, cfg.Watch = c.wait, watch })
			server := httptest.NewServer(k)
			defer server.Close()
			conn := gateways.Raw(t, server, halfUpload())
			defer conn.Close()
			gateways.Eventually(t,
				func() bool { return slices.Contains(k.Names("t"), "second.txt") || watch.Count() > 0 })
			if c.status == "" {
				conn.Close()
			} else if got, _, _ := strings.Cut(gateways.ReadAll(t, conn), "\r\n"); got != c.status {
				t.Errorf("answered %q", got)
			}
			gateways.Eventually(t, func() bool { return watch.Count() > 0 })
			if got := k.Names("t"); len(got) > 0 {
				t.Errorf("left behind: %q", got)
			}
		})
	}
}

// A client that sends slowly, but steadily, and then rests, finds its connection as it was.
func TestUploadSlowButSteady(t *testing.T) {
	const wait = 1200 * time.Millisecond
	k := gateways.NewFiles(t, func(c *gateway.Config) { c.Limits.Write = wait })
	server := httptest.NewServer(k)
	defer server.Close()
	contentType, body := gateways.Form(gateways.File("slow.txt", strings.Repeat("x", 64<<10)))
	conn := gateways.Raw(t, server,
		fmt.Sprintf("POST /threads/t/uploads HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
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
	if rest := gateways.ReadAll(t, conn); !strings.Contains(rest, "HTTP/1.1 200 OK\r\n") ||
		k.Read("t", "uploads/slow.txt") == "" {
		t.Errorf("%.1000s", rest)
	}
}

// A client that writes before it reads learns what is wrong all the same.
func TestUploadRefusalIsRead(t *testing.T) {
	k := gateways.NewFiles(t, func(c *gateway.Config) { c.Limits.Upload = 1000 })
	server := httptest.NewServer(k)
	defer server.Close()
	contentType, body := gateways.Form(gateways.File("big.bin", strings.Repeat("x", 20<<20)))
	conn := gateways.Raw(t, server, fmt.Sprintf("POST /threads/t/uploads HTTP/1.1\r\nHost: localhost\r\n"+
		"Connection: close\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
		contentType, len(body)))
	defer conn.Close()
	for piece := range slices.Chunk([]byte(body), 4<<20) {
		time.Sleep(150 * time.Millisecond) // a server that does not read on would be gone by then
		if _, err := conn.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	if got := gateways.ReadAll(t, conn); !strings.HasPrefix(got, "HTTP/1.1 413 ") ||
		!strings.Contains(got, "File too large: big.bin") {
		t.Error(got)
	}
}

// TestBodiesWithoutALength: a body that does not tell how long it is has the same bound, of JSON as of a file.
func TestBodiesWithoutALength(t *testing.T) {
	k := gateways.NewFiles(t,
		func(c *gateway.Config) { c.Limits.Body, c.Limits.Upload, c.Limits.Uploads = 1000, 1000, 2000 })
	contentType, upload := gateways.Form(gateways.File("big.bin", strings.Repeat("x", 64<<10)))
	for name, c := range map[string]struct {
		path, contentType, body string
		status                  int
	}{
		"json files.Within": {"/threads", "application/json", `{"metadata":{"a":"` + strings.Repeat("x", 900) + `"}}`,
			http.StatusOK},
		"json above": {"/threads", "application/json", `{"metadata":{"a":"` + strings.Repeat("x", 1000) + `"}}`,
			http.StatusRequestEntityTooLarge},
		"a list above": {"/runs/batch", "application/json", "[" + strings.Repeat(" ", 1000) + "]",
			http.StatusRequestEntityTooLarge},
		"blanks behind": {"/threads", "application/json", `{}` + strings.Repeat(" ", 1000),
			http.StatusRequestEntityTooLarge},
		"a file above": {"/threads/t/uploads", contentType, upload, http.StatusRequestEntityTooLarge},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, c.path,
			io.NopCloser(strings.NewReader(c.body)))
		r.Host = "localhost"
		r.ContentLength, r.TransferEncoding = -1, []string{"chunked"}
		r.Header.Set("Content-Type", c.contentType)
		if w := k.Send(r); w.Code != c.status {
			t.Errorf("%s: %d %.300s, want %d", name, w.Code, w.Body, c.status)
		}
	}
	if got := k.Names("t"); len(got) > 0 {
		t.Errorf("left behind: %q", got)
	}
}

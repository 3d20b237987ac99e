package route

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// What comes steadily but takes far too long is cut off too.
func TestUploadTooSlowOnAverage(t *testing.T) {
	const hour = 3600
	for got, want := range map[int64]error{0: os.ErrDeadlineExceeded, (hour - 60) * slowest: os.ErrDeadlineExceeded,
		(hour + 60) * slowest: nil} {
		var failed error
		half := make(chan struct{}) // the first half was read; the second has to be waited for
		e := &Env{Limits: Limits{}.WithDefaults()}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b := e.Steady(w, r, 1<<30)
			b.begun, b.got = time.Now().Add(-hour*time.Second), got
			_, failed = io.ReadFull(b, make([]byte, 50))
			close(half)
			if failed == nil {
				_, failed = io.ReadFull(b, make([]byte, 50))
			}
		}))
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		const head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nConnection: close\r\n\r\n"
		if _, err := io.WriteString(conn, head+strings.Repeat("x", 50)); err != nil {
			t.Fatal(err)
		}
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

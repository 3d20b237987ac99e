package openai

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/model"
)

// TestThousandCancelledStreams leaves nothing behind: no goroutine, and no connection to a server that goes on sending.
func TestThousandCancelledStreams(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	var open atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "data: "+deltaEvent(`"content":"a\n<tool"`)+"\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	}
	srv.Start()
	client := &http.Client{Transport: &http.Transport{}}
	m := New(Config{BaseURL: srv.URL, Model: "m", Dialect: "generic", Client: client})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for i := range 50 {
				cancelOne(t, m, i%2 == 0)
			}
		})
	}
	wg.Wait()
	for begin := time.Now(); open.Load() > 0 && time.Since(begin) < 10*time.Second; {
		time.Sleep(time.Millisecond) // the server hears of it a little later
	}
	if n := open.Load(); n != 0 {
		t.Errorf("%d connections are open", n)
	}
	srv.Close()
	goleak.VerifyNone(t, leaks)
}

// cancelOne ends a stream at its first chunk, by the context or by reading no further.
func cancelOne(t *testing.T, m *Model, byContext bool) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range m.Stream(ctx, &model.Request{Tools: someTools}) {
		if last = err; !byContext {
			break
		}
		cancel()
	}
	if byContext != errors.Is(last, context.Canceled) {
		t.Errorf("by the context: %v, error %v", byContext, last)
	}
}

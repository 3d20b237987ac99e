package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pudu-ai/pudu/internal/store"
)

// ask sends a GET to a handler inside and returns the answer.
func ask(ctx context.Context, t *testing.T, c *Client, path string) (*http.Response, error) {
	t.Helper()
	req, err := c.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.send(c.http, req)
}

func TestInsideAnAnswerIsReadWhileItIsMade(t *testing.T) {
	more := make(chan struct{})
	c := Inside(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Kind", "stream")
		_, _ = io.WriteString(w, "one ")
		w.(http.Flusher).Flush()
		w.Header().Set("X-Kind", "too late")
		<-more
		_, _ = io.WriteString(w, "two "+r.RequestURI)
	}))
	res, err := ask(t.Context(), t, c, "/x?y=z")
	if err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 4)
	if _, err := io.ReadFull(res.Body, first); err != nil || string(first) != "one " ||
		res.Header.Get("X-Kind") != "stream" {
		t.Fatalf("%q, %v, %v", first, err, res.Header)
	}
	close(more)
	rest, err := io.ReadAll(res.Body)
	if err != nil || string(rest) != "two /x?y=z" || res.StatusCode != http.StatusOK {
		t.Errorf("%q, %v, %d", rest, err, res.StatusCode)
	}
	c.Close()
}

func TestInsideALongAnswerIsReadWhileItIsMade(t *testing.T) {
	long := strings.Repeat("x", 3*keep)
	c := Inside(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, long) }))
	var got strings.Builder
	if err := c.download(t.Context(), "/", &got); err != nil || got.String() != long {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
	c.Close()
}

// A short answer is there when its handler is done with everything, also with what follows it.
func TestInsideAnAnswerComesAtTheEndOfItsHandler(t *testing.T) {
	done := false
	c := Inside(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
		w.WriteHeader(http.StatusTeapot) // too late
		_, _ = w.Write(raw)
		done = r.Context().Err() == nil
	}))
	var out []int
	if err := c.call(t.Context(), http.MethodPost, "/", nil, []int{1, 2}, &out); err != nil || len(out) != 2 || !done {
		t.Errorf("%v, %v, %v", out, err, done)
	}
	c.Close()
}

func TestInsideARequestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		c := Inside(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/stream" {
				w.(http.Flusher).Flush()
			}
			<-r.Context().Done()
			_, err := io.WriteString(w, strings.Repeat("x", 2*keep)) // nobody reads it
			ended <- err
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // longer than any server may take
		defer cancel()
		if _, err := ask(ctx, t, c, "/"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a request in time: %v", err)
		}
		if err := <-ended; err == nil {
			t.Error("the handler could write")
		}
		res, err := ask(t.Context(), t, c, "/stream")
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; err == nil {
			t.Error("the handler could write to a closed body")
		}
		ctx, end := context.WithCancelCause(t.Context())
		if res, err = ask(ctx, t, c, "/stream"); err != nil {
			t.Fatal(err)
		}
		why := errors.New("enough")
		end(why)
		if _, err := io.ReadAll(res.Body); !errors.Is(err, why) {
			t.Errorf("a body after the end of its request: %v", err)
		}
		<-ended
		c.Close()
	})
}

// TestInsideAnEndedRequestHasNoWholeAnswer, also when its handler ends before anybody else hears that it is over.
func TestInsideAnEndedRequestHasNoWholeAnswer(t *testing.T) {
	c := Inside(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer c.Close()
	why := errors.New("enough")
	for range 100 { // half of the tries show it with the race detector, one of a thousand without
		ctx, end := context.WithCancelCause(t.Context())
		res, err := ask(ctx, t, c, "/stream")
		if err != nil {
			t.Fatal(err)
		}
		end(why)
		if _, err := io.ReadAll(res.Body); !errors.Is(err, why) {
			t.Fatalf("the body of a request that has ended: %v", err)
		}
	}
}

func TestInsideAnAnswerBreaksOff(t *testing.T) {
	c := Inside(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		panic(http.ErrAbortHandler)
	}))
	var got strings.Builder
	err := c.download(t.Context(), "/", &got)
	if !errors.Is(err, io.ErrUnexpectedEOF) || got.String() != "half" || !strings.Contains(err.Error(), "not whole") {
		t.Errorf("%q, %v", got.String(), err)
	}
	c.Close()
}

func TestInsideARefusalIsSaidAsItIs(t *testing.T) {
	c := Inside(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"detail":"Thread a not found"}`)
	}))
	err := c.get(t.Context(), "/", nil)
	if !errors.Is(err, store.ErrNotFound) || err.Error() != "Thread a not found" {
		t.Error(err)
	}
	c.Close()
}

// TestInsideAnAnswerWithoutABody: its handler may have ended before anybody looks at it.
func TestInsideAnAnswerWithoutABody(t *testing.T) {
	rt := &inside{handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})}
	for i := range 10_000 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, "http://pudu/x", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusNoContent {
			t.Fatal(res.Status, err)
		}
	}
}

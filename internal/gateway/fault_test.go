package gateway_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/follow"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/message"
)

// A client that reads nothing is let go, whatever it has asked for. It holds neither a goroutine nor the answer.
func TestAClientThatReadsNothing(t *testing.T) {
	k, server, watch := gateways.Faulty(t, nil)
	k.Run("t", strings.Repeat("x", gateways.Large))
	for _, path := range []string{"/threads/t/state", "/threads/t/history", "/threads/t/stream", "/threads/t/runs",
		"/threads/search"} {
		method, body := "GET", ""
		if path == "/threads/search" {
			method, body = "POST", "{}"
		}
		if path == "/threads/t/stream" { // of a run that is under way
			path = "/threads/t/runs/" + k.RunsOf("t")[0].ID + "/stream?stream_mode=values"
		}
		before := watch.Count()
		conn := gateways.Raw(t, server, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s",
			method, path, len(body), body))
		gateways.Eventually(t, func() bool { return watch.Count() > before })
		conn.Close()
	}
}

// A client that started a run with on_disconnect "cancel" and reads nothing has gone, too.
func TestTheRunOfAClientThatReadsNothing(t *testing.T) {
	k, server, _ := gateways.Faulty(t, nil)
	body := `{"on_disconnect":"cancel","if_not_exists":"create","input":{"messages":["` +
		strings.Repeat("x", gateways.Large) + `","wait"]}}`
	conn := gateways.Raw(t, server,
		fmt.Sprintf("POST /threads/t/runs/stream HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s",
			len(body), body))
	defer conn.Close()
	<-k.Begun
	gateways.Eventually(t, func() bool { return k.RunsOf("t")[0].StopReason == store.Cancelled })
}

// A client that promises a body and does not send it is not waited for.
func TestABodyThatDoesNotCome(t *testing.T) {
	for _, path := range []string{"/threads", "/threads/search", "/runs/batch", "/runs/stream",
		"/threads/t/runs/wait"} {
		_, server, _ := gateways.Faulty(t, nil)
		conn := gateways.Raw(t, server, "POST "+path+
			" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"limit\":")
		if got, _, _ := strings.Cut(gateways.ReadAll(t, conn), "\r\n"); got != "HTTP/1.1 408 Request Timeout" {
			t.Errorf("%s: %s", path, got)
		}
		conn.Close()
	}
}

// A client that announces more than is taken is refused at once: nothing of it is waited for.
func TestABodyThatIsAnnouncedTooLarge(t *testing.T) {
	for _, path := range []string{"/threads", "/runs/batch", "/threads/t/runs/stream"} {
		_, server, _ := gateways.Faulty(t, func(c *gateway.Config) { c.Limits.Write = time.Hour })
		conn := gateways.Raw(t, server, "POST "+path+
			" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000000\r\n\r\n{")
		if got := gateways.ReadAll(t, conn); !strings.HasPrefix(got, "HTTP/1.1 413 ") ||
			!strings.Contains(got, "\r\nConnection: close\r\n") {
			t.Errorf("%s: %s", path, got)
		}
		conn.Close()
	}
}

// A thousand clients that follow one run which waits cost about as many queries as one.
func TestManyFollowOneRunThatWaits(t *testing.T) {
	const clients = 1000
	st := &gateways.Counted{}
	streams := &gateways.Streams{}
	var hub *follow.Hub
	k, server, _ := gateways.Faulty(t, func(c *gateway.Config) {
		st.Store = c.Store
		hub = follow.New(follow.Config{Store: st, Poll: 20 * time.Millisecond})
		c.Store, c.Hub, c.Watch = st, hub, streams
		// nobody is to be let go, however long a thousand goroutines take on a busy machine
		c.Limits.Write = time.Minute
	})
	t.Cleanup(hub.Close)
	run, err := k.Ours().Submit(t.Context(), runs.Request{
		ThreadID: "t", Input: []message.Message{message.New(message.Human, "hello")},
		NotBefore: time.Now().Add(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	var following sync.WaitGroup
	ends := make(chan string, clients)
	for range clients {
		conn := gateways.Raw(t, server, "GET /threads/t/runs/"+run.ID+
			"/stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		following.Go(func() {
			defer conn.Close()
			text, err := io.ReadAll(conn)
			ends <- fmt.Sprintf("%v %.12s %v", err, text, strings.Contains(string(text), "event: end"))
		})
	}
	gateways.Eventually(t, func() bool { return streams.Now.Load() == clients })
	from, begun := st.Looks.Load(), time.Now()
	gateways.Eventually(t, func() bool { return st.Looks.Load() >= from+20 })
	polls, each := time.Since(begun)/(20*time.Millisecond)+1, st.Looks.Load()-from
	if each > 3*int64(polls) {
		t.Errorf("%d queries in the time of %d polls", each, polls)
	}
	if _, err := k.Ours().Cancel(t.Context(), run.ID, store.StopInterrupt); err != nil {
		t.Fatal(err)
	}
	following.Wait()
	close(ends)
	for end := range ends {
		if end != "<nil> HTTP/1.1 200 true" {
			t.Fatalf("a client saw %s", end)
		}
	}
	if total := st.Looks.Load(); total > 5*clients+int64(10*polls) {
		t.Errorf("%d queries in all", total)
	}
}

package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/follow"
	"github.com/pudu-ai/pudu/message"
)

// large is more than a connection takes whose other end does not read.
const large = 6 << 20

// faultKit is a kit behind a real server. A client has a moment for each piece.
func faultKit(t *testing.T, change func(*Config)) (*kit, *httptest.Server, *answered) {
	t.Helper()
	watch := &answered{}
	k := newServer(t, func(c *Config) {
		c.Limits.Write, c.Watch = 200*time.Millisecond, watch
		if change != nil {
			change(c)
		}
	})
	server := httptest.NewServer(k)
	t.Cleanup(server.Close)
	return k, server, watch
}

// A client that reads nothing is let go, whatever it has asked for. It holds neither a goroutine nor the answer.
func TestAClientThatReadsNothing(t *testing.T) {
	k, server, watch := faultKit(t, nil)
	k.run("t", strings.Repeat("x", large))
	for _, path := range []string{"/threads/t/state", "/threads/t/history", "/threads/t/stream", "/threads/t/runs", "/threads/search"} {
		method, body := "GET", ""
		if path == "/threads/search" {
			method, body = "POST", "{}"
		}
		if path == "/threads/t/stream" { // of a run that is under way
			path = "/threads/t/runs/" + k.runs("t")[0].ID + "/stream?stream_mode=values"
		}
		before := watch.count()
		conn := raw(t, server, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", method, path, len(body), body))
		eventually(t, func() bool { return watch.count() > before })
		conn.Close()
	}
}

// A client that started a run with on_disconnect "cancel" and reads nothing has gone, too.
func TestTheRunOfAClientThatReadsNothing(t *testing.T) {
	k, server, _ := faultKit(t, nil)
	body := `{"on_disconnect":"cancel","if_not_exists":"create","input":{"messages":["` + strings.Repeat("x", large) + `","wait"]}}`
	conn := raw(t, server, fmt.Sprintf("POST /threads/t/runs/stream HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
	defer conn.Close()
	<-k.begun
	eventually(t, func() bool { return k.runs("t")[0].StopReason == store.Cancelled })
}

// A client that promises a body and does not send it is not waited for.
func TestABodyThatDoesNotCome(t *testing.T) {
	for _, path := range []string{"/threads", "/threads/search", "/runs/batch", "/runs/stream", "/threads/t/runs/wait"} {
		_, server, _ := faultKit(t, nil)
		conn := raw(t, server, "POST "+path+" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"limit\":")
		if got, _, _ := strings.Cut(readAll(t, conn), "\r\n"); got != "HTTP/1.1 408 Request Timeout" {
			t.Errorf("%s: %s", path, got)
		}
		conn.Close()
	}
}

// A client that announces more than is taken is refused at once: nothing of it is waited for.
func TestABodyThatIsAnnouncedTooLarge(t *testing.T) {
	for _, path := range []string{"/threads", "/runs/batch", "/threads/t/runs/stream"} {
		_, server, _ := faultKit(t, func(c *Config) { c.Limits.Write = time.Hour })
		conn := raw(t, server, "POST "+path+" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000000\r\n\r\n{")
		if got := readAll(t, conn); !strings.HasPrefix(got, "HTTP/1.1 413 ") || !strings.Contains(got, "\r\nConnection: close\r\n") {
			t.Errorf("%s: %s", path, got)
		}
		conn.Close()
	}
}

// countedStore is a store that counts how often runs are looked at.
type countedStore struct {
	store.Store

	looks atomic.Int64
}

func (a *countedStore) For(u access.User) store.UserData { return countedData{a.Store.For(u), a} }

type countedData struct {
	store.UserData
	a *countedStore
}

func (d countedData) Run(ctx context.Context, id string) (store.Run, error) {
	d.a.looks.Add(1)
	return d.UserData.Run(ctx, id)
}

func (d countedData) Events(ctx context.Context, runID string, after event.ID, limit int) ([]event.Event, error) {
	d.a.looks.Add(1)
	return d.UserData.Events(ctx, runID, after, limit)
}

// A thousand clients that follow one run which waits cost about as many queries as one.
func TestManyFollowOneRunThatWaits(t *testing.T) {
	const clients = 1000
	st := &countedStore{}
	streams := &streaming{}
	var hub *follow.Hub
	k, server, _ := faultKit(t, func(c *Config) {
		st.Store = c.Store
		hub = follow.New(follow.Config{Store: st, Poll: 20 * time.Millisecond})
		c.Store, c.Hub, c.Watch = st, hub, streams
		c.Limits.Write = time.Minute // nobody is to be let go, however long a thousand goroutines take on a busy machine
	})
	t.Cleanup(hub.Close)
	run, err := k.ours().Submit(t.Context(), runs.Request{
		ThreadID: "t", Input: []message.Message{message.New(message.Human, "hello")}, NotBefore: time.Now().Add(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	var following sync.WaitGroup
	ends := make(chan string, clients)
	for range clients {
		conn := raw(t, server, "GET /threads/t/runs/"+run.ID+"/stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		following.Go(func() {
			defer conn.Close()
			text, err := io.ReadAll(conn)
			ends <- fmt.Sprintf("%v %.12s %v", err, text, strings.Contains(string(text), "event: end"))
		})
	}
	eventually(t, func() bool { return streams.now.Load() == clients })
	from, begun := st.looks.Load(), time.Now()
	eventually(t, func() bool { return st.looks.Load() >= from+20 })
	polls, each := time.Since(begun)/(20*time.Millisecond)+1, st.looks.Load()-from
	if each > 3*int64(polls) {
		t.Errorf("%d queries in the time of %d polls", each, polls)
	}
	if _, err := k.ours().Cancel(t.Context(), run.ID, store.StopInterrupt); err != nil {
		t.Fatal(err)
	}
	following.Wait()
	close(ends)
	for end := range ends {
		if end != "<nil> HTTP/1.1 200 true" {
			t.Fatalf("a client saw %s", end)
		}
	}
	if total := st.looks.Load(); total > 5*clients+int64(10*polls) {
		t.Errorf("%d queries in all", total)
	}
}

// streaming counts the streams that are open.
type streaming struct {
	nobody

	now atomic.Int64
}

func (s *streaming) Streaming(change int) { s.now.Add(int64(change)) }

// runs lists the runs of a thread, the newest first.
func (k *kit) runs(threadID string) []store.Run {
	k.t.Helper()
	list, err := k.data().ListRuns(k.t.Context(), store.RunFilter{ThreadID: threadID, Limit: 10})
	if err != nil {
		k.t.Fatal(err)
	}
	return list
}

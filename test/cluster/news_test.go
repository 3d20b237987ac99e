//go:build linux

package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/test/server"
)

// change is what a stream of news tells of a thread.
type change struct {
	Thread string `json:"thread_id"`
	State  string `json:"state"`
	Title  string `json:"title"`
}

// news are those that a node sends.
type news struct {
	t       *testing.T
	changes chan change
}

// newsOf follows the news of a node until the test ends.
func newsOf(t *testing.T, n *node) *news {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, n.URL+"/events", nil)
	server.Must(t, err)
	res, err := http.DefaultClient.Do(req)
	server.Must(t, err)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("GET /events: HTTP %d", res.StatusCode)
	}
	out := &news{t: t, changes: make(chan change, 1000)}
	begun := make(chan struct{}, 1)
	go func() {
		defer res.Body.Close()
		defer close(out.changes)
		event := ""
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				event = name
			}
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			switch {
			case ok && event == "counts": // which comes first
				select {
				case begun <- struct{}{}:
				default:
				}
			case ok && event == "thread":
				var c change
				if json.Unmarshal([]byte(data), &c) == nil {
					out.changes <- c
				}
			}
		}
	}()
	select {
	case <-begun:
	case <-time.After(time.Minute):
		t.Fatal("the news do not begin")
	}
	return out
}

// await waits for a change, and returns how long that took.
func (n *news) await(what string, is func(change) bool, limit time.Duration) time.Duration {
	n.t.Helper()
	start, seen := time.Now(), []change(nil)
	for timeout := time.After(limit); ; {
		select {
		case c, ok := <-n.changes:
			if !ok {
				n.t.Fatalf("the news have ended before %s; seen: %+v", what, seen)
			}
			if seen = append(seen, c); is(c) {
				return time.Since(start)
			}
		case <-timeout:
			n.t.Fatalf("no news of %s within %v; seen: %+v", what, limit, seen)
		}
	}
}

func titled(title string) func(change) bool {
	return func(c change) bool { return c.Title == title }
}

// TestNewsOfTheOtherNode: who reads the news at one node hears at once of what is done at the other one; without the
// bus too, by looking into the database, and at once again when it is back.
func TestNewsOfTheOtherNode(t *testing.T) {
	t.Parallel()
	const (
		// which is much on a machine that has much to do, and far less than a reader waits by itself
		atOnce = 5 * time.Second
		looks  = 45 * time.Second // a reader looks every 30 seconds
	)
	c := newCluster(t)
	c.a.api(http.MethodPost, "/threads", `{"thread_id":"n"}`, nil)
	atA, atB := newsOf(t, c.a), newsOf(t, c.b)
	var began time.Time
	rename := func(n *node, title string) {
		began = time.Now()
		n.api(http.MethodPatch, "/threads/n/marks", fmt.Sprintf(`{"title":%q}`, title), nil)
	}
	rename(c.a, "one")
	atB.await("the first title", titled("one"), atOnce)
	t.Logf("at the other node %v after the request began", time.Since(began).Round(time.Millisecond))
	r := c.a.submit("run", plan{Plan: "news", Words: 1, Hold: "news"}, nil)
	state := func(want string) func(change) bool {
		return func(c change) bool { return c.Thread == r.Thread && c.State == want }
	}
	atB.await("a run", state("running"), atOnce)
	c.model.open("news")
	atB.await("its end", state("answered"), atOnce)

	c.bus.Stop()
	slowest := time.Duration(0)
	for i := 0; slowest < time.Second && i < 5; i++ { // who loses the bus looks at once
		title := fmt.Sprint("alone ", i)
		rename(c.b, title)
		atB.await("what the node did itself", titled(title), atOnce)
		atA.await("what the other node did", titled(title), looks)
		slowest = max(slowest, time.Since(began))
	}
	if slowest < time.Second {
		t.Errorf("without a bus, every change was at the other node within %v; how?", slowest)
	}
	t.Logf("without a bus, at the other node %v after the request began", slowest.Round(time.Millisecond))

	c.bus.Restart()
	quickest := looks
	for i := 0; quickest > atOnce && i < 20; i++ { // the connection comes back by and by
		title := fmt.Sprint("again ", i)
		rename(c.a, title)
		quickest = atB.await(title, titled(title), looks)
	}
	if quickest > atOnce {
		t.Errorf("with the bus back, news still take %v", quickest)
	}
}

//go:build linux

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/testkit/natstest"
	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
	"github.com/pudu-ai/pudu/test/server"
	"github.com/pudu-ai/pudu/test/viewer"
)

// cluster is two nodes that share everything.
type cluster struct {
	place

	model *model
	bus   *natstest.Server
	a, b  *node
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	return clusterOn(t, pg.Database(t))
}

func clusterOn(t *testing.T, database string, env ...string) *cluster {
	t.Helper()
	c := &cluster{model: newModel(t), bus: natstest.Start(t)}
	c.place = newPlace(t, c.model.URL)
	c.database, c.nats, c.env = database, c.bus.URL(), env
	c.a, c.b = c.start(t, options{}), c.start(t, options{})
	return c
}

// TestSharedRuns: what one node is asked for, the other shows at once, can stop and can add to.
func TestSharedRuns(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	t.Run("a run is followed live at the other node", func(t *testing.T) { c.sharedLive(t) })
	times := newQuickest(t, 2*time.Second)
	t.Run("a run is cancelled through the other node",
		func(t *testing.T) { c.sharedCancel(t, "interrupt", "interrupted", times) })
	t.Run("a run is rolled back through the other node",
		func(t *testing.T) { c.sharedCancel(t, "rollback", "error", times) })
	t.Run("runs wait in line across the nodes", func(t *testing.T) { c.sharedLine(t) })
}

func (c *cluster) sharedLive(t *testing.T) {
	t.Parallel()
	var runs []run
	var viewers []*reader
	for i, n := range []*node{c.a, c.b} {
		r := n.submit(fmt.Sprint("live-", i), plan{Plan: fmt.Sprint("live", i), Tools: 1, Words: 3, Hold: "live"}, nil)
		runs = append(runs, r)
		viewers = append(viewers, follow(t, at(c.a), r), follow(t, at(c.b), r))
	}
	for _, v := range viewers { // the messages are not finished before the gate opens: no log has these pieces
		v.Await("50 pieces", func(fs []viewer.Frame) bool { return viewer.Pieces(fs) >= 50 })
	}
	c.model.open("live")
	for _, v := range viewers {
		v.End()
		if void := v.check(c.a); void != 0 {
			t.Errorf("%d pieces were void, and no attempt was cut off", void)
		}
		v.check(c.b)
	}
	t.Logf("the other node shows a frame %v later (median), %v (99 %%)", lag(viewers[0], viewers[1], 0.5),
		lag(viewers[0], viewers[1], 0.99))
	for _, r := range runs {
		if now := c.b.look(r); now.Status != "success" || now.Attempt != 1 {
			t.Errorf("%+v", now)
		}
	}
	if x, y := c.a.answer("live-1"), c.b.answer("live-1"); x != y || !strings.HasPrefix(x, "w1 ") {
		t.Errorf("the nodes say %.100q and %.100q", x, y)
	}
}

// lag is how much later one client sees the frames than the other, in a share of the cases.
func lag(a, b *reader, share float64) time.Duration {
	var lags []time.Duration
	at, then := a.Times(), b.Times()
	for i := range min(len(at), len(then)) {
		lags = append(lags, then[i].Sub(at[i]))
	}
	slices.Sort(lags)
	return lags[int(share*float64(len(lags)-1))].Round(100 * time.Microsecond)
}

func (c *cluster) sharedCancel(t *testing.T, action, status string, times *quickest) {
	t.Parallel()
	thread := "stop-" + action
	first := c.a.submit(thread, plan{Plan: action + " before", Words: 1}, nil)
	c.a.succeeds(first)
	before := c.b.answer(thread)
	r := c.a.submit(thread, plan{Plan: action, Hold: "never"}, nil)
	v := follow(t, at(c.b), r)
	v.More(3)
	start := time.Now()
	c.b.api(http.MethodPost, r.path()+"/cancel?wait=true&action="+action, "", nil)
	times.took("a cancel through the other node", time.Since(start))
	if now := c.b.look(r); now.Status != status || now.Stop != "cancelled" {
		t.Errorf("%+v", now)
	}
	v.End()
	if after := c.b.answer(thread); action == "rollback" && after != before {
		t.Errorf("the thread's answer is %q, and was %q before the run that was rolled back", after, before)
	}
}

// logTimes are the times of the run's events, as those who ran it took them.
func (n *node) logTimes(r run) (times []time.Time) {
	n.t.Helper()
	_, raw := request(n.t, http.MethodGet, n.URL+r.path()+"/log", "")
	for line := range bytes.Lines(raw) {
		var ev struct {
			ID   string
			Time time.Time
		}
		if json.Unmarshal(line, &ev) == nil && ev.ID != "" {
			times = append(times, ev.Time)
		}
	}
	if len(times) == 0 {
		n.t.Fatalf("no events in %.300s", raw)
	}
	return times
}

func (c *cluster) sharedLine(t *testing.T) {
	t.Parallel()
	r1 := c.a.submit("line", plan{Plan: "line1", Hold: "line"}, nil)
	follow(t, at(c.b), r1).More(1)
	if status, raw := request(t, http.MethodPost, c.b.URL+"/threads/line/runs",
		order(plan{Plan: "line2"}, map[string]any{"multitask_strategy": "reject"})); status != http.StatusConflict {
		t.Errorf("a second run at the other node: HTTP %d %s", status, raw)
	}
	enqueue := map[string]any{"multitask_strategy": "enqueue"}
	r2 := c.b.submit("line", plan{Plan: "line2", Words: 5}, enqueue)
	r3 := c.a.submit("line", plan{Plan: "line3", Words: 5}, enqueue)
	v2, v3 := follow(t, at(c.a), r2), follow(t, at(c.b), r3)
	if n2, n3 := c.a.look(r2), c.b.look(r3); n2.Status != "pending" || n3.Status != "pending" ||
		n2.Position >= n3.Position {
		t.Errorf("they wait as %+v and %+v", n2, n3)
	}
	start := time.Now()
	c.model.open("line")
	v2.End()
	v3.End()
	t.Logf("it took %v until both had their turn and ended", time.Since(start).Round(time.Millisecond))
	v2.check(c.b)
	v3.check(c.a)
	if end2, begin3 := last(c.a.logTimes(r2)), c.b.logTimes(r3)[0]; begin3.Before(end2) {
		t.Errorf("the third began %v before the end of the second", end2.Sub(begin3))
	}
}

// TestNodeIsKilled: the runs of a node that is killed go on at the other, and so do its clients.
func TestNodeIsKilled(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	h := at(c.a)
	var viewers []*reader
	for i := range 20 {
		r := c.a.submit(fmt.Sprint("k-", i), plan{Plan: fmt.Sprint("kill", i), Tools: i % 3, Hold: "kill"}, nil)
		// the second is at the other node all the time
		viewers = append(viewers, follow(t, h, r), follow(t, at(c.b), r))
	}
	for _, v := range viewers {
		v.Await("some frames", func(fs []viewer.Frame) bool { return viewer.Pieces(fs) >= 10 })
	}
	h.move(c.b)
	killed := time.Now()
	c.a.Kill()
	c.model.open("kill")
	var ended time.Time
	void := 0
	for i, v := range viewers {
		v.End()
		void += v.check(c.b)
		if now := c.b.look(v.run); now.Status != "success" || now.Attempt != 2 {
			t.Errorf("%+v", now)
		}
		if n := v.Connected(); i%2 == 1 && n != 1 {
			t.Errorf("the client at the other node needed %d connections", n)
		}
		ended = last(v.Times())
	}
	if void == 0 {
		t.Error("no piece was void: the node was killed too late")
	}
	t.Logf("%d pieces were void; the last run ended %v after the kill", void, ended.Sub(killed).Round(time.Millisecond))
}

// TestNATSGoesAndComesBack: without the bus events come later, and none is lost.
func TestNATSGoesAndComesBack(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	during := c.a.submit("during", plan{Plan: "during", Tools: 1, Hold: "during"}, nil)
	v := follow(t, at(c.b), during)
	v.More(20)
	c.bus.Stop()
	start := time.Now()
	stopped := c.a.submit("stopped", plan{Plan: "stopped", Hold: "never"}, nil)
	server.Eventually(t, "the run is in the model", func() bool { return c.model.asked("stopped") > 0 })
	c.b.api(http.MethodPost, stopped.path()+"/cancel?wait=true", "", nil)
	t.Logf("cancelled through the other node in %v, without a bus", time.Since(start).Round(time.Millisecond))
	whole := c.b.submit("whole", plan{Plan: "whole", Tools: 2, Words: 20}, nil)
	late := follow(t, at(c.a), whole)
	late.End()
	t.Logf("a short run at the other node, without a bus: %v", time.Since(start))
	late.check(c.b)
	early := c.start(t, options{}) // the bus need not be there
	early.succeeds(early.submit("early", plan{Plan: "early", Words: 3}, nil))
	start = time.Now()
	c.model.open("during")
	v.End()
	t.Logf("without a bus the end came after %v", time.Since(start).Round(time.Millisecond))
	if void := v.check(c.b); void != 0 || v.Connected() != 1 {
		t.Errorf("%d pieces were void; %d connections", void, v.Connected())
	}
	c.bus.Restart()
	start = time.Now()
	after := c.a.submit("after", plan{Plan: "after", Hold: "after"}, nil)
	back := follow(t, at(c.b), after)
	back.More(50) // live again, which no log could be
	t.Logf("live again %v after the bus was back", time.Since(start).Round(time.Millisecond))
	c.model.open("after")
	back.End()
	back.check(c.a)
}

// TestPostgreSQLRestarts: runs whose database goes away for a moment, or for so long that their nodes let go of them,
// come to their end, and nobody who follows them misses anything.
func TestPostgreSQLRestarts(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]func(t *testing.T, c *cluster){
		"at once": func(*testing.T, *cluster) {},
		"after the leases have run out": func(t *testing.T, c *cluster) {
			for _, n := range []*node{c.a, c.b} {
				server.Eventually(t, "the node has let go of its runs",
					func() bool { return strings.Contains(n.Out.String(), "the lease could not be renewed") })
			}
			for path, body := range map[string]string{"/threads/refused/runs": order(plan{Plan: "refused"}, nil),
				"/threads/pg-1": "", "/ready": ""} {
				method := http.MethodGet
				if body != "" {
					method = http.MethodPost
				}
				begun := time.Now()
				status, raw := request(t, method, c.a.URL+path, body)
				if status != http.StatusServiceUnavailable || !strings.Contains(string(raw), "cannot be reached") {
					t.Errorf("%s without a database: HTTP %d %.200s", path, status, raw)
				}
				t.Logf("%s was refused after %v", path, time.Since(begun).Round(time.Millisecond))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := pgtest.Start(t.Context(), pgtest.Config{})
			server.Must(t, err)
			t.Cleanup(func() { db.Stop() })
			c := clusterOn(t, db.URL("postgres"))
			var viewers []*reader
			for i := range 10 {
				p := plan{Plan: fmt.Sprint("restart", i), Tools: i % 4, Hold: "restart"}
				r := []*node{c.a, c.b}[i%2].submit(fmt.Sprint("pg-", i), p, nil)
				viewers = append(viewers, follow(t, at(c.a), r), follow(t, at(c.b), r))
			}
			for _, v := range viewers {
				v.Await("some pieces", func(fs []viewer.Frame) bool { return viewer.Pieces(fs) > 5 })
			}
			server.Must(t, db.Kill())
			start := time.Now()
			away(t, c)
			server.Must(t, db.Restart(context.Background()))
			t.Logf("the database was away for %v", time.Since(start).Round(time.Millisecond))
			c.model.open("restart")
			for _, v := range viewers {
				v.End()
				v.check(c.a)
				if now := c.b.look(v.run); now.Status != "success" {
					t.Errorf("%+v", now)
				}
			}
		})
	}
}

// TestPausedNode: a node that stands still for longer than its lease has lost its runs. When it wakes up it writes
// nothing more, and its clients see the run's end all the same.
func TestPausedNode(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	r := c.a.submit("paused", plan{Plan: "paused", Hold: "paused"}, nil)
	v := follow(t, at(c.a), r) // stays at the node that is stopped
	v.More(10)
	c.a.Signal(syscall.SIGSTOP)
	stopped := time.Now()
	other := follow(t, at(c.b), r)
	other.Await("the second attempt", func(fs []viewer.Frame) bool {
		return len(fs) > 0 && fs[len(fs)-1].ID[0] == '2' && viewer.Pieces(fs) > 20
	})
	t.Logf("taken over after %v", time.Since(stopped).Round(time.Millisecond))
	server.Eventually(t, "the node stood still for 8 s", func() bool { return time.Since(stopped) > 8*time.Second })
	c.a.Signal(syscall.SIGCONT)
	v.Await("the second attempt, at the node that woke up",
		func(fs []viewer.Frame) bool { return fs[len(fs)-1].ID[0] == '2' && fs[len(fs)-1].Piece() })
	c.model.open("paused")
	v.End()
	other.End()
	v.check(c.b)
	other.check(c.a)
	for _, f := range other.Seen() {
		if strings.Contains(f.Data, "run_resumed") && strings.Contains(f.Data, `"attempt":3`) {
			t.Error("the run was taken back")
		}
	}
	if now := c.a.look(r); now.Status != "success" || now.Attempt != 2 {
		t.Errorf("%+v", now)
	}
	// It works again.
	again := c.a.submit("again", plan{Plan: "again", Words: 3}, nil)
	c.b.succeeds(again)
}

func TestOtherFolder(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	other := newPlace(t, c.model.URL)
	other.database, other.nats = c.database, c.nats
	text := other.launch(t, options{}).Refused()
	for _, part := range []string{other.dir, "not the one", "--data"} {
		if !strings.Contains(text, part) {
			t.Errorf("it does not say %q: %s", part, text)
		}
	}
}

// TestRollingRestart: two nodes are replaced by another version, one after the other, and no client notices more than a
// connection that ends. A webhook that the first nodes could not call is called by the new one, and each once.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	c := clusterOn(t, pg.Database(t), "PUDU_WEBHOOK_NETWORKS=127.0.0.0/8")
	h := at(c.a)
	hooks := newReceiver(t)
	early := c.a.submit("early", plan{Plan: "early", Words: 2}, map[string]any{"webhook": hooks.URL})
	c.a.succeeds(early)
	var viewers []*reader
	for i := range 8 {
		r := c.a.submit(fmt.Sprint("roll-", i), plan{Plan: fmt.Sprint("roll", i), Tools: 1, Hold: "roll"},
			map[string]any{"webhook": hooks.URL})
		viewers = append(viewers, follow(t, h, r))
	}
	more := func() {
		for _, v := range viewers {
			v.More(10)
		}
	}
	more()
	h.move(c.b)
	t.Logf("the first node ended in %v", c.a.Term().Round(time.Millisecond))
	more()
	for _, v := range viewers {
		if v.Connected() != 1 {
			t.Errorf("the client of run %s needed %d more connections", v.run.ID, v.Connected())
		}
	}
	next := c.start(t, options{version: "two"})
	var info struct{ Version string }
	next.api(http.MethodGet, "/info", "", &info)
	if info.Version != "two" {
		t.Errorf("the new node is of version %q", info.Version)
	}
	h.move(next)
	c.b.Term()
	more()
	close(hooks.ready)
	hooks.calledOnce(early)
	c.model.open("roll")
	for _, v := range viewers {
		v.End()
		v.check(next)
		if now := next.look(v.run); now.Status != "success" || now.Attempt != 3 {
			t.Errorf("%+v", now)
		}
		hooks.calledOnce(v.run)
	}
}

// receiver is called by webhooks. Until it is ready it answers none.
type receiver struct {
	*httptest.Server

	t     *testing.T
	ready chan struct{}
	mu    sync.Mutex
	calls map[string]int // by run
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{t: t, ready: make(chan struct{}), calls: make(map[string]int)}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.CloseClientConnections)
	return r
}

func (r *receiver) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	var told run
	if err := json.NewDecoder(req.Body).Decode(&told); err != nil {
		r.t.Error(err)
	}
	select {
	case <-r.ready:
	case <-req.Context().Done():
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[told.ID]++
}

// calledOnce waits for the call of a run's webhook.
func (r *receiver) calledOnce(of run) {
	r.t.Helper()
	called := func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.calls[of.ID]
	}
	server.Eventually(r.t, "the webhook of run "+of.ID+" is called", func() bool { return called() > 0 })
	if n := called(); n != 1 {
		r.t.Errorf("the webhook of run %s was called %d times", of.ID, n)
	}
}

//go:build linux

package cluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// modes are what the clients here ask for.
const modes = "messages-tuple,values,updates,custom"

// run is a run as the API shows it.
type run struct {
	ID       string `json:"run_id"`
	Thread   string `json:"thread_id"`
	Status   string `json:"status"`
	Attempt  int    `json:"attempt"`
	Error    string `json:"error"`
	Stop     string `json:"stop_reason"`
	Position int    `json:"queue_position"`
}

func (r run) path() string { return "/threads/" + r.Thread + "/runs/" + r.ID }

// request sends a request and returns the answer.
func request(t testing.TB, method, url, body string) (int, []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	must(t, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp.StatusCode, raw
}

// api is request where the answer must be a success, which is decoded.
func (n *node) api(method, path, body string, into any) {
	n.t.Helper()
	status, raw := request(n.t, method, n.url+path, body)
	if status >= http.StatusMultipleChoices {
		n.t.Fatalf("%s %s: HTTP %d %s", method, path, status, raw)
	}
	if into != nil {
		if err := json.Unmarshal(raw, into); err != nil {
			n.t.Fatalf("%s %s: %v in %.300s", method, path, err, raw)
		}
	}
}

// order is the body of a request for a run.
func order(p plan, more map[string]any) string {
	body := map[string]any{
		"assistant_id": "lead_agent", "if_not_exists": "create", "stream_mode": strings.Split(modes, ","),
		"input": map[string]any{"messages": []any{map[string]string{"role": "user", "content": p.text()}}},
	}
	maps.Copy(body, more)
	b, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// submit starts a run on a thread.
func (n *node) submit(thread string, p plan, more map[string]any) (r run) {
	n.t.Helper()
	n.api(http.MethodPost, "/threads/"+thread+"/runs", order(p, more), &r)
	return r
}

// look is the run as it is now.
func (n *node) look(r run) (now run) {
	n.t.Helper()
	n.api(http.MethodGet, r.path(), "", &now)
	return now
}

// succeeds waits for the run's success.
func (n *node) succeeds(r run) {
	n.t.Helper()
	eventually(n.t, "run "+r.ID+" has succeeded; it is "+n.look(r).Status, func() bool { return n.look(r).Status == "success" })
}

// frame is one server-sent event.
type frame struct{ id, event, data string }

// readFrames hands on the frames of a stream until it ends; a part of a frame at the end is dropped.
func readFrames(body io.Reader, each func(frame)) error {
	var f frame
	for src := bufio.NewReader(body); ; {
		line, err := src.ReadString('\n')
		if err != nil {
			return err
		}
		name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ": ")
		switch name {
		case "id":
			f.id = value
		case "event":
			f.event = value
		case "data":
			f.data = value
		case "":
			if f != (frame{}) && value == "" {
				each(f)
			}
			f = frame{}
		}
	}
}

// home is where clients find a server. It moves when the server does.
type home struct {
	mu  sync.Mutex
	url string
}

func (h *home) get() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.url
}

func (h *home) move(n *node) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.url = n.url
}

func at(n *node) *home { return &home{url: n.url} }

// viewer is a client that follows a run, over as many connections as it takes.
type viewer struct {
	t   testing.TB
	run run

	mu          sync.Mutex
	frames      []frame
	times       []time.Time
	connections int
	err         error // of the last connection
	changed     chan struct{}
	done        chan struct{} // closed after "end"
}

// follow begins to follow a run, from its start.
func follow(t testing.TB, h *home, r run) *viewer {
	t.Helper()
	v := &viewer{t: t, run: r, changed: make(chan struct{}), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	var going sync.WaitGroup
	going.Go(func() { v.keepOn(ctx, h) })
	t.Cleanup(func() {
		cancel()
		going.Wait()
	})
	return v
}

func (v *viewer) keepOn(ctx context.Context, h *home) {
	for ctx.Err() == nil {
		err := v.connect(ctx, h.get())
		v.mu.Lock()
		v.err = err
		v.connections++
		over := len(v.frames) > 0 && v.frames[len(v.frames)-1].event == "end"
		v.mu.Unlock()
		if over {
			close(v.done)
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

func (v *viewer) connect(ctx context.Context, base string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+v.run.path()+"/stream?stream_mode="+modes, http.NoBody)
	if err != nil {
		return err
	}
	if last := v.last(); last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := streaming.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
		return fmt.Errorf("HTTP %d: %s", resp.StatusCode, raw)
	}
	return readFrames(resp.Body, v.add)
}

// streaming is for streams: a connection each, so that one that is dead is not used again.
var streaming = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func (v *viewer) add(f frame) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.frames, v.times = append(v.frames, f), append(v.times, time.Now())
	close(v.changed)
	v.changed = make(chan struct{})
}

func (v *viewer) last() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.frames) == 0 {
		return ""
	}
	return v.frames[len(v.frames)-1].id
}

func (v *viewer) seen() []frame {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clip(v.frames)
}

// connected is how many connections have ended.
func (v *viewer) connected() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.connections
}

// await waits until what the client has seen satisfies a condition.
func (v *viewer) await(what string, holds func([]frame) bool) {
	v.t.Helper()
	deadline := time.After(patience)
	for {
		v.mu.Lock()
		changed, ok, err := v.changed, holds(v.frames), v.err
		n := len(v.frames)
		v.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			v.t.Fatalf("not within %v: %s; the client of run %s has seen %d frames, its last connection ended with: %v", patience, what, v.run.ID, n, err)
		}
	}
}

// more waits until the client has seen so many pieces of messages beside those that it has seen already.
func (v *viewer) more(n int) {
	v.t.Helper()
	n += pieces(v.seen())
	v.await(fmt.Sprintf("%d pieces", n), func(fs []frame) bool { return pieces(fs) >= n })
}

// end waits until the client has seen the end.
func (v *viewer) end() {
	v.t.Helper()
	v.await("the end", func(fs []frame) bool { return len(fs) > 0 && fs[len(fs)-1].event == "end" })
	<-v.done
}

// piece reports whether a frame is a piece of a message that is not finished.
func (f frame) piece() bool {
	return f.event == "messages" && strings.Contains(f.data, "AIMessageChunk") && !strings.Contains(f.data, `"chunk_position":"last"`)
}

func pieces(fs []frame) (n int) {
	for _, f := range fs {
		if f.piece() {
			n++
		}
	}
	return n
}

// readAll follows a run that has ended from its start.
func (n *node) readAll(r run) []frame {
	n.t.Helper()
	v := follow(n.t, at(n), r)
	v.end()
	if v.connected() != 1 {
		n.t.Errorf("run %s took %d connections to read", r.ID, v.connected())
	}
	return v.seen()
}

// number is a frame's id in parts: attempt, number, part, where the last part is the greatest.
func number(t testing.TB, id string) [3]int64 {
	t.Helper()
	name, part, parts := strings.Cut(id, ".")
	attempt, n, ok := strings.Cut(name, "-")
	if !parts {
		part = "1000000"
	}
	var out [3]int64
	for i, s := range []string{attempt, n, part} {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil || !ok {
			t.Fatalf("the id %q is none", id)
		}
		out[i] = v
	}
	return out
}

func less(a, b [3]int64) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// check compares what a client saw until the end with what a reader from the start sees now. Each frame must have come
// once, in order and with the same bytes. Only pieces of an answer that was cut off may have come beside them, and then a
// frame says so. It returns how many these were.
func (v *viewer) check(n *node) (void int) {
	v.t.Helper()
	return v.compare(n.readAll(v.run))
}

func (v *viewer) compare(all []frame) (void int) {
	v.t.Helper()
	seen := v.seen()
	for i := 1; i < len(seen); i++ {
		if !less(number(v.t, seen[i-1].id), number(v.t, seen[i].id)) {
			v.t.Errorf("run %s: frame %s came after %s", v.run.ID, seen[i].id, seen[i-1].id)
		}
	}
	next := 0
	resumed := false
	for _, f := range seen {
		if next < len(all) && all[next] == f {
			next++
			resumed = resumed || strings.Contains(f.data, `"run_resumed"`)
			continue
		}
		if !f.piece() || next >= len(all) || number(v.t, all[next].id)[0] <= number(v.t, f.id)[0] {
			v.t.Errorf("run %s: the client saw %s %s %.200s; a reader from the start sees %s", v.run.ID, f.id, f.event, f.data, at0(all, next))
			return void
		}
		void++
	}
	if next != len(all) {
		v.t.Errorf("run %s: the client did not see %s", v.run.ID, at0(all, next))
	}
	if void > 0 && !resumed {
		v.t.Errorf("run %s: %d pieces were void, and nothing said so", v.run.ID, void)
	}
	return void
}

func at0(all []frame, i int) string {
	if i >= len(all) {
		return "nothing more"
	}
	return fmt.Sprintf("%s %s %.200s", all[i].id, all[i].event, all[i].data)
}

// answer is the text of the thread's last message.
func (n *node) answer(thread string) string {
	n.t.Helper()
	var state struct {
		Values struct {
			Messages []struct {
				Type    string          `json:"type"`
				Content json.RawMessage `json:"content"`
			} `json:"messages"`
		} `json:"values"`
	}
	n.api(http.MethodGet, "/threads/"+thread+"/state", "", &state)
	if len(state.Values.Messages) == 0 {
		return ""
	}
	return string(bytes.Trim(state.Values.Messages[len(state.Values.Messages)-1].Content, `"`))
}

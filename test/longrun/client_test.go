//go:build linux

package longrun

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const modes = "values,messages-tuple,custom"

// client speaks to the server, wherever that is now.
type client struct {
	t     *testing.T
	place *place
}

// call sends a request and returns the answer.
func (c *client) call(method, path, kind string, body io.Reader) (int, []byte) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+c.place.addr+path, body)
	must(c.t, err)
	req.Header.Set("Content-Type", kind)
	resp, err := streaming.Do(req)
	must(c.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	must(c.t, err)
	return resp.StatusCode, raw
}

// get is a call that must succeed, whose answer is decoded.
func (c *client) get(path string, into any) {
	c.t.Helper()
	status, raw := c.call(http.MethodGet, path, "application/json", nil)
	if err := json.Unmarshal(raw, into); status != http.StatusOK || err != nil {
		c.t.Fatalf("GET %s: HTTP %d %.300s: %v", path, status, raw, err)
	}
}

// thread makes a thread.
func (c *client) thread() (thread string) {
	c.t.Helper()
	var made struct {
		ID string `json:"thread_id"`
	}
	status, raw := c.call(http.MethodPost, "/api/langgraph/threads", "application/json", strings.NewReader("{}"))
	if err := json.Unmarshal(raw, &made); status != http.StatusOK || err != nil || made.ID == "" {
		c.t.Fatalf("make a thread: HTTP %d %s: %v", status, raw, err)
	}
	return made.ID
}

// file is a file to upload.
type file struct {
	name    string
	content []byte
}

// upload sends files to a thread.
func (c *client) upload(thread string, files []file) {
	c.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, f := range files {
		part, err := form.CreateFormFile("files", f.name)
		must(c.t, err)
		_, err = part.Write(f.content)
		must(c.t, err)
	}
	must(c.t, form.Close())
	status, raw := c.call(http.MethodPost, "/api/threads/"+thread+"/uploads", form.FormDataContentType(), &body)
	if status != http.StatusOK {
		c.t.Fatalf("upload: HTTP %d %s", status, raw)
	}
}

// artifact is a file of a thread; empty if it is not there.
func (c *client) artifact(thread, path string) string {
	c.t.Helper()
	status, raw := c.call(http.MethodGet, "/api/threads/"+thread+"/artifacts"+path, "", nil)
	if status != http.StatusOK && status != http.StatusNotFound {
		c.t.Fatalf("%s: HTTP %d %s", path, status, raw)
	}
	if status != http.StatusOK {
		return ""
	}
	return string(raw)
}

// run is a run as the API shows it.
type run struct {
	ID      string `json:"run_id"`
	Status  string `json:"status"`
	Stop    string `json:"stop_reason"`
	Error   string `json:"error"`
	Attempt int    `json:"attempt"`
	Input   int    `json:"total_input_tokens"`
	Output  int    `json:"total_output_tokens"`
	Total   int    `json:"total_tokens"`
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

// streaming is for streams: a connection each, so that one that is dead is not used again.
var streaming = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// viewer is a client that has started a run and follows it, over as many connections as it takes.
type viewer struct {
	c      *client
	thread string
	body   string // what starts the run; empty for a reader of one that is there
	run    string

	mu          sync.Mutex
	frames      []frame
	connections int
	err         error // of the last connection
	changed     chan struct{}
	done        chan struct{} // closed after "end"
}

// start starts a run and follows it.
func (c *client) start(thread string, order map[string]any) *viewer {
	c.t.Helper()
	order["assistant_id"], order["stream_mode"], order["stream_resumable"] = "lead_agent", strings.Split(modes, ","), true
	order["on_disconnect"], order["context"] = "continue", map[string]any{"is_plan_mode": true, "thread_id": thread}
	body, err := json.Marshal(order)
	must(c.t, err)
	return c.follow(&viewer{c: c, thread: thread, body: string(body)})
}

func (c *client) follow(v *viewer) *viewer {
	v.changed, v.done = make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	var going sync.WaitGroup
	going.Go(func() { v.keepOn(ctx) })
	c.t.Cleanup(func() {
		cancel()
		going.Wait()
	})
	return v
}

// keepOn connects again and again until the end has come. The server is away at times.
func (v *viewer) keepOn(ctx context.Context) {
	for ctx.Err() == nil {
		err := v.connect(ctx)
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

func (v *viewer) connect(ctx context.Context) error {
	at := "http://" + v.c.place.addr + "/api/langgraph/threads/" + v.thread + "/runs/"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at+"stream", strings.NewReader(v.body))
	id, last := v.seenUpTo()
	if id != "" {
		req, err = http.NewRequestWithContext(ctx, http.MethodGet, at+id+"/stream?stream_mode="+modes, http.NoBody)
	}
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if last != "" {
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
	if _, name, ok := strings.Cut(resp.Header.Get("Content-Location"), "/runs/"); ok && id == "" {
		v.mu.Lock()
		v.run = name
		v.mu.Unlock()
	}
	return readFrames(resp.Body, v.add)
}

// seenUpTo is the run, as far as it is known, and the last frame's id.
func (v *viewer) seenUpTo() (run, last string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.frames) > 0 {
		last = v.frames[len(v.frames)-1].id
	}
	return v.run, last
}

func (v *viewer) add(f frame) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.frames = append(v.frames, f)
	close(v.changed)
	v.changed = make(chan struct{})
}

func (v *viewer) seen() []frame {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clip(v.frames)
}

// await waits until the client has seen a frame that satisfies a condition.
func (v *viewer) await(what string, is func(frame) bool) {
	v.c.t.Helper()
	deadline := time.After(patience)
	for {
		v.mu.Lock()
		changed, found, err, n := v.changed, slices.ContainsFunc(v.frames, is), v.err, len(v.frames)
		v.mu.Unlock()
		if found {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			v.c.t.Fatalf("not within %v: %s; the client has seen %d frames, its last connection ended with: %v", patience, what, n, err)
		}
	}
}

// end waits until the client has seen the end, and returns the run.
func (v *viewer) end() (r run) {
	v.c.t.Helper()
	v.await("the end", func(f frame) bool { return f.event == "end" })
	<-v.done
	v.c.get("/api/langgraph/threads/"+v.thread+"/runs/"+v.run, &r)
	return r
}

// piece reports whether a frame is a piece of a message that is not finished.
func (f frame) piece() bool {
	return f.event == "messages" && strings.Contains(f.data, "AIMessageChunk") && !strings.Contains(f.data, `"chunk_position":"last"`)
}

// number is a frame's id in parts: attempt, number, part, where the last part is the greatest.
func number(t testing.TB, id string) (out [3]int64) {
	t.Helper()
	name, part, parts := strings.Cut(id, ".")
	attempt, n, ok := strings.Cut(name, "-")
	if !parts {
		part = "1000000"
	}
	for i, s := range []string{attempt, n, part} {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil || !ok {
			t.Fatalf("the id %q is none", id)
		}
		out[i] = v
	}
	return out
}

// check compares what the client saw, over all its connections, with what a reader from the start sees now. Each frame must
// have come once, in order and with the same bytes. Only pieces of an answer that was cut off may have come beside them. It
// returns how many these were.
func (v *viewer) check() (void int) {
	t := v.c.t
	t.Helper()
	fresh := v.c.follow(&viewer{c: v.c, thread: v.thread, run: v.run})
	fresh.end()
	all, seen, next := fresh.seen(), v.seen(), 0
	for i, f := range seen {
		if i > 0 {
			a, b := number(t, seen[i-1].id), number(t, f.id)
			if slices.Compare(a[:], b[:]) >= 0 {
				t.Errorf("frame %s came after %s", f.id, seen[i-1].id)
			}
		}
		switch {
		case next < len(all) && all[next] == f:
			next++
		case f.piece() && next < len(all) && number(t, all[next].id)[0] > number(t, f.id)[0]:
			void++
		default:
			t.Fatalf("the client saw %s %s %.200s; a reader from the start sees %v", f.id, f.event, f.data, all[next:min(next+1, len(all))])
		}
	}
	if next != len(all) {
		t.Errorf("the client did not see %.300v", all[next])
	}
	return void
}

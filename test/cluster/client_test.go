//go:build linux

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/test/server"
	"github.com/pudu-ai/pudu/test/viewer"
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
	ctx, cancel := context.WithTimeout(context.Background(), server.Patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	server.Must(t, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	server.Must(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	server.Must(t, err)
	return resp.StatusCode, raw
}

// api is request where the answer must be a success, which is decoded.
func (n *node) api(method, path, body string, into any) {
	n.t.Helper()
	status, raw := request(n.t, method, n.URL+path, body)
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
	server.Eventually(n.t, "run "+r.ID+" has succeeded; it is "+n.look(r).Status,
		func() bool { return n.look(r).Status == "success" })
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
	h.url = n.URL
}

func at(n *node) *home { return &home{url: n.URL} }

// reader is a client that follows a run.
type reader struct {
	*viewer.Viewer
	run run
}

// follow begins to follow a run, from its start.
func follow(t testing.TB, h *home, r run) *reader {
	t.Helper()
	join := func(ctx context.Context, _ string) (*http.Request, error) {
		return http.NewRequestWithContext(ctx, http.MethodGet, h.get()+r.path()+"/stream?stream_mode="+modes,
			http.NoBody)
	}
	return &reader{viewer.Follow(t, server.Patience, join), r}
}

// readAll follows a run that has ended from its start.
func (n *node) readAll(r run) []viewer.Frame {
	n.t.Helper()
	v := follow(n.t, at(n), r)
	v.End()
	if v.Connected() != 1 {
		n.t.Errorf("run %s took %d connections to read", r.ID, v.Connected())
	}
	return v.Seen()
}

// check compares what a client saw until the end with what a reader from the start sees now. It returns how many pieces
// of answers that were cut off came beside that.
func (v *reader) check(n *node) (void int) {
	n.t.Helper()
	return viewer.Compare(n.t, v.Seen(), n.readAll(v.run))
}

// hasBegun waits until a thread's command, which first touches the file begun, is at work. Its intent is stored by
// then.
func (n *node) hasBegun(thread string) {
	n.t.Helper()
	server.Eventually(n.t, "the command of "+thread+" has begun", func() bool {
		status, _ := request(n.t, http.MethodGet, n.URL+"/threads/"+thread+"/artifacts/mnt/user-data/workspace/begun",
			"")
		return status == http.StatusOK
	})
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

// last is when the last of them came.
func last(times []time.Time) time.Time { return times[len(times)-1] }

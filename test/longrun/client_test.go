//go:build linux

package longrun

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/test/server"
	"github.com/pudu-ai/pudu/test/viewer"
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
	ctx, cancel := context.WithTimeout(context.Background(), server.Patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+c.place.addr+path, body)
	server.Must(c.t, err)
	req.Header.Set("Content-Type", kind)
	resp, err := viewer.Client.Do(req)
	server.Must(c.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	server.Must(c.t, err)
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
		server.Must(c.t, err)
		_, err = part.Write(f.content)
		server.Must(c.t, err)
	}
	server.Must(c.t, form.Close())
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

// reader is a client that has started a run and follows it.
type reader struct {
	*viewer.Viewer
	c      *client
	thread string
}

// start starts a run and follows it.
func (c *client) start(thread string, order map[string]any) *reader {
	c.t.Helper()
	order["assistant_id"], order["stream_mode"], order["stream_resumable"] = "lead_agent", strings.Split(modes, ","),
		true
	order["on_disconnect"], order["context"] = "continue", map[string]any{"is_plan_mode": true, "thread_id": thread}
	body, err := json.Marshal(order)
	server.Must(c.t, err)
	return c.follow(thread, func(ctx context.Context, location string) (*http.Request, error) {
		if location != "" {
			return c.join(ctx, location)
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.place.addr+"/api/langgraph/threads/"+
			thread+"/runs/stream", bytes.NewReader(body))
		if err == nil {
			req.Header.Set("Content-Type", "application/json")
		}
		return req, err
	})
}

func (c *client) follow(thread string, request viewer.Request) *reader {
	return &reader{viewer.Follow(c.t, server.Patience, request), c, thread}
}

// join is the request for the stream of a run, wherever the server is now.
func (c *client) join(ctx context.Context, location string) (*http.Request, error) {
	return http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.place.addr+location+"/stream?stream_mode="+modes,
		http.NoBody)
}

// end waits until the client has seen the end, and returns the run.
func (v *reader) end() (r run) {
	v.c.t.Helper()
	v.End()
	v.c.get(v.Location(), &r)
	return r
}

// check compares what the client saw with what a reader from the start sees now. It returns how many pieces of an
// answer that was cut off came beside that.
func (v *reader) check() (void int) {
	v.c.t.Helper()
	fresh := v.c.follow(v.thread, func(ctx context.Context, _ string) (*http.Request,
		error) {
		return v.c.join(ctx, v.Location())
	})
	fresh.End()
	return viewer.Compare(v.c.t, v.Seen(), fresh.Seen())
}

package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/id"
)

// client speaks the LangGraph API with one server.
type client struct {
	http      *http.Client
	base      string // address with prefix, without a slash at its end
	assistant string
	header    http.Header
	// makeThreads is for servers that do not know if_not_exists: each thread is created by a call of its own.
	makeThreads bool
}

// newHTTPClient makes a client that keeps a connection for every concurrent stream.
func newHTTPClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			MaxIdleConnsPerHost: 1 << 16,
			IdleConnTimeout:     90 * time.Second,
			DisableCompression:  true,
			ReadBufferSize:      16 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// outcome is what a client saw of a run.
type outcome struct {
	first time.Duration // from the request to the first event; 0 if the whole came at once
	took  time.Duration // from the request to the end
}

// errUnanswered says that a run ended without the model's last word: the server failed in a way that it did not call
// an error.
var errUnanswered = errors.New("the run ended without the model's answer in its state")

func (c *client) newThread(ctx context.Context) (string, error) {
	thread := id.New(time.Now())
	if !c.makeThreads {
		return thread, nil
	}
	resp, err := c.do(ctx, http.MethodPost, "/threads", `{"thread_id":"`+thread+`"}`, nil)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return thread, err
}

// stream starts a run on a new thread, as the web client does, and reads it to its end.
func (c *client) stream(ctx context.Context, p Plan) (outcome, error) {
	start := time.Now()
	thread, err := c.newThread(ctx)
	if err != nil {
		return outcome{}, err
	}
	resp, err := c.start(ctx, thread, "stream", p)
	if err != nil {
		return outcome{}, err
	}
	defer resp.Body.Close()
	r := newFrameReader(resp.Body)
	defer r.release()
	var out outcome
	for answered := false; ; {
		f, err := r.next()
		switch {
		case err == io.EOF:
			if out.took == 0 {
				out.took = time.Since(start)
			}
			return out, unless(answered, errUnanswered)
		case err != nil:
			return out, fmt.Errorf("read the run's stream: %w", err)
		}
		if out.first == 0 {
			out.first = time.Since(start)
		}
		switch string(f.event) {
		case "values":
			answered = answered || bytes.Contains(f.data, []byte(lastToken))
		case "end":
			out.took = time.Since(start)
		case "error", "gap":
			return out, fmt.Errorf("the run's stream has an event %s: %.300s", f.event, f.data)
		}
	}
}

func unless(ok bool, err error) error {
	if ok {
		return nil
	}
	return err
}

// wait does a run on a new thread and takes its last state.
func (c *client) wait(ctx context.Context, p Plan) (outcome, error) {
	start := time.Now()
	thread, err := c.newThread(ctx)
	if err != nil {
		return outcome{}, err
	}
	resp, err := c.start(ctx, thread, "wait", p)
	if err != nil {
		return outcome{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxFrame))
	if err != nil {
		return outcome{}, fmt.Errorf("read the run's state: %w", err)
	}
	return outcome{took: time.Since(start)}, unless(bytes.Contains(body, []byte(lastToken)), fmt.Errorf("%w: %.300s", errUnanswered, body))
}

// start posts a run; how is stream or wait.
func (c *client) start(ctx context.Context, thread, how string, p Plan) (*http.Response, error) {
	create := ""
	if !c.makeThreads {
		create = `,"if_not_exists":"create"`
	}
	body := `{"assistant_id":` + quote(c.assistant) + `,"input":{"messages":[{"type":"human","content":"Load measurement: ` + p.String() + `"}]},` +
		`"config":{"recursion_limit":1000},"stream_mode":["messages-tuple","values"],"on_disconnect":"continue"` + create + `}`
	return c.do(ctx, http.MethodPost, "/threads/"+thread+"/runs/"+how, body, nil)
}

// attach follows a run from the frame after last; "-1" is from its beginning.
func (c *client) attach(ctx context.Context, thread, run, last string) (*http.Response, error) {
	return c.do(ctx, http.MethodGet, "/threads/"+thread+"/runs/"+run+"/stream", "", http.Header{"Last-Event-Id": {last}})
}

// statusError is an answer that is none.
type statusError struct {
	what   string
	status int
	text   string
}

func (e *statusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("%s: HTTP %d: %s", e.what, e.status, e.text))
}

// do makes a call. The caller closes the body.
func (c *client) do(ctx context.Context, method, path, body string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for _, h := range []http.Header{c.header, header} {
		maps.Copy(req.Header, h)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 300)) // the status says the most
	return nil, &statusError{method + " " + path, resp.StatusCode, string(text)}
}

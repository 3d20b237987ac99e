package load

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/id"
)

// client speaks the LangGraph API with one server.
type client struct {
	http *http.Client
	base string // address with prefix, without a slash at its end
}

func newClient(base string) *client {
	return &client{http: newHTTPClient(), base: strings.TrimSuffix(base, "/")}
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
	first time.Duration // from the request to the first event
	took  time.Duration // from the request to the end
}

var (
	errCut = errors.New("the stream ended without an end event")
	// errUnanswered says that a run ended without the model's last word: the server failed in a way that it did not
	// call an error.
	errUnanswered = errors.New("the run ended without the model's answer in its state")
)

// run does a run on a new thread, as the web client does, and reads its stream to its end. see gets each event, if it
// is not nil.
func (c *client) run(ctx context.Context, p Plan, see func(event)) (outcome, error) {
	start := time.Now()
	resp, err := c.begin(ctx, p)
	if err != nil {
		return outcome{}, err
	}
	return follow(resp, start, see)
}

// begin starts a run.
func (c *client) begin(ctx context.Context, p Plan) (*http.Response, error) {
	body := `{"assistant_id":"lead_agent","input":{"messages":[{"type":"human","content":"Load measurement: ` +
		p.String() + `"}]},` +
		`"config":{"recursion_limit":1000},"stream_mode":["messages-tuple","values"],"on_disconnect":"continue",` +
		`"if_not_exists":"create"}`
	return send(ctx, c.http, http.MethodPost, c.base+"/threads/"+id.New(time.Now())+"/runs/stream", []byte(body), nil)
}

// follow reads a run's stream to its end.
func follow(resp *http.Response, start time.Time, see func(event)) (out outcome, err error) {
	defer resp.Body.Close()
	answered := false
	err = readEvents(resp.Body, func(e event) error {
		if out.first == 0 {
			out.first = time.Since(start)
		}
		switch string(e.name) {
		case "values":
			answered = answered || bytes.Contains(e.data, []byte(lastToken))
		case "end":
			out.took = time.Since(start)
		case "error", "gap":
			return fmt.Errorf("the run's stream has an event %s: %.300s", e.name, e.data)
		}
		if see != nil {
			see(e)
		}
		return nil
	})
	switch {
	case err == nil && out.took == 0:
		err = errCut
	case err == nil && !answered:
		err = errUnanswered
	}
	return out, err
}

// send makes a call. The caller closes the body.
func send(ctx context.Context, c *http.Client, method, url string, body []byte,
	header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if header != nil {
		req.Header = header
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(req)
	if err != nil || resp.StatusCode == http.StatusOK {
		return resp, err
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 300)) // the status says the most
	return nil, fmt.Errorf("%s %s: HTTP %d: %s", method, url, resp.StatusCode, text)
}

// maxLine bounds a line of a stream, in bytes: the state of a whole conversation.
const maxLine = 256 << 20

// event is a server-sent event. Its bytes are valid until the next one.
type event struct{ name, id, data []byte }

var buffers = sync.Pool{New: func() any { return make([]byte, 16<<10) }}

// readEvents reads the events of a stream until it ends, or do says that it is enough. Of more than one line of data it
// keeps the last; nobody sends that here. A stream that ends within an event is an errCut.
func readEvents(body io.Reader, do func(event) error) error {
	buffer := buffers.Get().([]byte) //nolint:forcetypeassert // it holds nothing else
	defer buffers.Put(buffer)        //nolint:staticcheck // a slice's header is small beside a stream
	lines := bufio.NewScanner(body)
	lines.Buffer(buffer, maxLine)
	var e event
	for lines.Scan() {
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			e.name = append(e.name[:0], value...)
		case "id":
			e.id = append(e.id[:0], value...)
		case "data":
			e.data = append(e.data[:0], value...)
		case "": // the end of an event, or a comment
			if len(lines.Bytes()) > 0 {
				continue
			}
			if len(e.data) > 0 {
				if err := do(e); err != nil {
					return err
				}
			}
			e.name, e.id, e.data = e.name[:0], e.id[:0], e.data[:0]
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%w: %w", errCut, err)
	}
	if len(e.data) > 0 {
		return errCut
	}
	return nil
}

// direct makes the model calls of a run without a server between: the same requests, one after the other, each answer
// read to its end.
type direct struct {
	http  *http.Client
	url   string // of the chat completions
	calls [][]byte
}

func (d *direct) run(ctx context.Context) (outcome, error) {
	start := time.Now()
	for _, body := range d.calls {
		resp, err := send(ctx, d.http, http.MethodPost, d.url, body, nil)
		if err != nil {
			return outcome{}, fmt.Errorf("call the model: %w", err)
		}
		err = readEvents(resp.Body, func(event) error { return nil })
		resp.Body.Close()
		if err != nil {
			return outcome{}, fmt.Errorf("call the model: %w", err)
		}
	}
	return outcome{took: time.Since(start)}, nil
}

// newDirect has the server do one run of the plan and takes the model calls that it made. Each is then made as often as
// one wants, with delay.
func (b *bench) newDirect(ctx context.Context, s *subject, p Plan) (*direct, error) {
	quick := p
	quick.Delay = 0
	_, err := b.model.tape(ctx) // of what was before
	if err == nil {
		_, err = s.run(ctx, quick, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("do one run: %w", err)
	}
	calls, err := b.model.tape(ctx)
	if err != nil {
		return nil, err
	}
	if len(calls) < p.Steps+1 {
		return nil,
			fmt.Errorf("do one run: the server made %d model calls at %s/v1, not %d: is that its model's address?",
				len(calls), b.model.url, p.Steps+1)
	}
	for i, body := range calls {
		calls[i] = bytes.ReplaceAll(body, []byte(quick.String()), []byte(p.String()))
	}
	return &direct{http: b.model.http, url: b.model.url + "/v1/chat/completions", calls: calls}, nil
}

// tape returns the requests with a plan that have come since it was called last.
func (p *player) tape(ctx context.Context) (taped [][]byte, err error) {
	resp, err := send(ctx, p.http, http.MethodGet, p.url+"/tape", nil, nil)
	if err != nil {
		return nil, fmt.Errorf("tape the model's requests: %w", err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&taped); err != nil {
		return nil, fmt.Errorf("tape the model's requests: %w", err)
	}
	return taped, nil
}

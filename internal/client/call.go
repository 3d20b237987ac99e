package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/store"
)

// maxAnswer bounds the answer to one request, in bytes; it is the state of a whole conversation at most.
const maxAnswer = 1 << 30

// StatusError is an answer of the server that says no. It is [store.ErrNotFound], [store.ErrConflict] or
// [store.ErrTrashed] where its status and its text say so.
type StatusError struct {
	Status int
	server string // empty if it is this process
	detail string
}

func (e *StatusError) Error() string {
	status := fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	if e.Status == http.StatusUnauthorized {
		return fmt.Sprintf("%s does not know the token (%s); set PUDU_TOKEN to the server's, or give it with --token",
			e.server, status)
	}
	if e.server == "" {
		return e.detail
	}
	return fmt.Sprintf("%s says %s: %s", e.server, status, e.detail)
}

// Is implements errors.Is.
func (e *StatusError) Is(target error) bool {
	if trashed := e.Status == http.StatusConflict &&
		strings.Contains(e.detail, "is in the bin"); target == store.ErrTrashed || trashed {
		return target == store.ErrTrashed && trashed
	}
	return target == store.ErrNotFound && e.Status == http.StatusNotFound ||
		target == store.ErrConflict && e.Status == http.StatusConflict
}

// passing reports whether what went wrong may be better at the next try: no answer, or one of a server in trouble.
func passing(err error) bool {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.Status >= http.StatusInternalServerError || status.Status == http.StatusTooManyRequests ||
			status.Status == http.StatusRequestTimeout
	}
	return !errors.Is(err, errGarbled) && !errors.Is(err, errRefused)
}

var (
	// errGarbled: the server is none of ours, or of a version that speaks otherwise.
	errGarbled = errors.New("the answer cannot be read")
	// errRefused: the server has answered well, but not done what it should.
	errRefused = errors.New("it was refused")
)

// request makes a request; body may be nil.
func (c *Client) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if c.cfg.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	}
	req.Header.Set("User-Agent", "pudu")
	return req, nil
}

// send sends a request by h and returns the answer if it is a good one. The caller closes its body.
func (c *Client) send(h *http.Client, req *http.Request) (*http.Response, error) {
	res, err := h.Do(req) //nolint:gosec // the server is the one that was named
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // without the address, which is the name's
		}
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	if res.StatusCode < 300 {
		return res, nil
	}
	defer res.Body.Close()
	const most = 64 << 10
	raw, _ := io.ReadAll(io.LimitReader(res.Body, most)) // what there is
	e := &StatusError{Status: res.StatusCode, detail: detailOf(raw)}
	if c.inside == nil {
		e.server = c.name
	}
	if to := res.Header.Get("Location"); to != "" {
		e.detail = "it is now at " + inert.Line(to)
	}
	return nil, e
}

// detailOf is what an answer says is wrong, without a stop: a sentence, one with more beside it, or a list of faults
// with their places. Any other text is shown as it is, as far as a line goes.
func detailOf(raw []byte) string {
	const most = 500
	var said struct {
		Detail json.RawMessage `json:"detail"`
	}
	var faults []struct {
		Loc []any  `json:"loc"`
		Msg string `json:"msg"`
	}
	var more struct {
		Message string `json:"message"`
	}
	text := string(raw)
	if json.Unmarshal(raw, &said) == nil && said.Detail != nil && json.Unmarshal(said.Detail, &text) != nil {
		text = string(said.Detail)
		if json.Unmarshal(said.Detail, &more) == nil && more.Message != "" {
			text = more.Message
		} else if json.Unmarshal(said.Detail, &faults) == nil {
			lines := make([]string, len(faults))
			for i, f := range faults {
				lines[i] = strings.Trim(fmt.Sprint(f.Loc), "[]") + ": " + f.Msg
			}
			text = strings.Join(lines, "; ")
		}
	}
	return excerpt.Bound(strings.TrimSuffix(inert.Line(text), "."), most)
}

// get asks for JSON.
func (c *Client) get(ctx context.Context, path string, into any) error {
	return c.call(ctx, http.MethodGet, path, nil, nil, into)
}

// call sends JSON, or nothing, and reads the JSON of the answer; into may be nil.
func (c *Client) call(ctx context.Context, method, path string, header http.Header, in, into any) error {
	ctx, cancel := c.within(ctx, callTimeout)
	defer cancel()
	return c.exchange(ctx, method, path, header, in, into)
}

// exchange is call for an answer that takes its time.
func (c *Client) exchange(ctx context.Context, method, path string, header http.Header, in, into any) error {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
		body = bytes.NewReader(raw)
	}
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	maps.Copy(req.Header, header)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.send(c.http, req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return c.decode(res.Body, into)
}

func (c *Client) decode(body io.Reader, into any) error {
	if into == nil {
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(body, maxAnswer))
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: %w: is it a Pudu of this version? %w", c.name, errGarbled, err)
	}
	return nil
}

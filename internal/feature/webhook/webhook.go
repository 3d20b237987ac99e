// Package webhook tells a URL that a client has named that something has happened. The URL is not trusted: it is called
// by the guarded client, see package outgoing.
package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/pudu-ai/pudu/internal/outgoing"
)

// What a call may take. Nothing is done with the answer.
const (
	timeout   = 10 * time.Second
	maxAnswer = 64 << 10
)

// Caller calls webhooks.
type Caller struct{ http *http.Client }

// New makes a caller that calls what the guard allows.
func New(g *outgoing.Guard) *Caller {
	return &Caller{http: g.Client(outgoing.Profile{Timeout: timeout, MaxBytes: maxAnswer})}
}

// HeaderID names the header with the id of what has happened. It is the same each time that this is told, and so tells
// who is called twice. The name is that of the Standard Webhooks.
const HeaderID = "Webhook-Id"

// Call posts JSON to the URL, with the id of what has happened. Any answer of 200 to 299 is well; another one, a
// redirect too, is an error.
func (c *Caller) Call(ctx context.Context, to, id string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("call webhook: %w", withoutURL(err))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "pudu")
	req.Header.Set(HeaderID, id)
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("call webhook at %s: %w", req.URL.Host, withoutURL(err))
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body) // so that the connection can be used again
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("call webhook at %s: it answers %s", req.URL.Host, res.Status)
	}
	return nil
}

// withoutURL takes the URL out of an error: there may be a secret in its path.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

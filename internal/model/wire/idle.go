package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// idleTransport ends a call when the other side is silent for too long. It works below whatever reads the answer, so
// that the vendors' SDKs get it too.
type idleTransport struct {
	base http.RoundTripper
	idle time.Duration
}

var _ http.RoundTripper = (*idleTransport)(nil)

// RoundTrip sends the request; the time-out covers everything up to the head of the answer, then each read.
func (t *idleTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(t.idle, func() { cancel(ErrIdle) })
	resp, err := t.base.RoundTrip(req.WithContext(ctx))
	timer.Stop()
	if err != nil {
		err = idleCause(ctx, err)
		cancel(nil)
		return nil, err
	}
	if resp.StatusCode >= 400 { // bounded here because an SDK may read all of it
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxErrorBody), resp.Body}
	}
	resp.Body = &idleBody{ReadCloser: resp.Body, ctx: ctx, cancel: cancel, timer: timer, idle: t.idle}
	return resp, nil
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the transport below.
func (t *idleTransport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// idleBody times each read: the time that the reader takes between reads does not count.
type idleBody struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	idle   time.Duration
}

func (b *idleBody) Read(p []byte) (int, error) {
	b.timer.Reset(b.idle)
	n, err := b.ReadCloser.Read(p)
	b.timer.Stop()
	if err != nil && err != io.EOF {
		err = idleCause(b.ctx, err)
	}
	return n, err
}

// Close releases the connection and the request's context.
func (b *idleBody) Close() error {
	b.timer.Stop()
	err := b.ReadCloser.Close()
	b.cancel(nil)
	return err
}

func idleCause(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), ErrIdle) {
		return ErrIdle
	}
	return err
}

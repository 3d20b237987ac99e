package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

// Time-outs of a model call, unless the configuration says otherwise.
const (
	// DialTimeout bounds making a connection; TLS has as long again.
	DialTimeout = 10 * time.Second
	// DefaultIdleTimeout bounds the wait for the first byte and each silence between bytes. Reasoning models are
	// silent for minutes.
	DefaultIdleTimeout = 240 * time.Second
	// drainTime is how long a finished stream may take to end properly, so that its connection can be used again.
	drainTime = 100 * time.Millisecond
	// maxIdleConns bounds the connections of one provider that are kept for the next call. With HTTP/1 each call under
	// way has one of its own, and to make one anew costs more than the rest of the call.
	maxIdleConns = 1024
	// connBuffer is how much of a request is gathered before it is sent, and how much of an answer is taken at once:
	// enough for all of a short one, since each piece costs a system call, which is a good part of a short call.
	connBuffer = 16 << 10
)

// ErrIdle is the cause when a server was silent for longer than the idle time-out.
var ErrIdle = errors.New("no data within the idle time-out")

// NewHTTPClient makes the client of one provider: it keeps connections alive, takes proxies from the environment,
// follows no redirects (they would carry the key to another host) and ends a call with [ErrIdle] after idle without a
// byte (0 means [DefaultIdleTimeout]). base, which is not changed, may bring its own transport; nil means a new one.
// Make one per provider and share it among the provider's models.
func NewHTTPClient(base *http.Client, idle time.Duration) *http.Client {
	if idle <= 0 {
		idle = DefaultIdleTimeout
	}
	c := http.Client{}
	if base != nil {
		c = *base
	}
	if c.Transport == nil {
		c.Transport = NewTransport()
	}
	c.Transport = &idleTransport{base: c.Transport, idle: idle}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// NewTransport makes the transport to share among the models of one provider: connections with HTTP/2, keep-alive and
// proxies from the environment. Put it into the http.Client of their configuration.
func NewTransport() *http.Transport { return NewTransportTo(nil) }

// NewTransportTo makes a transport whose control looks at each address, after its name was resolved, before it is
// connected to; see [net.Dialer]. Of a call that goes through a proxy that is the proxy's.
func NewTransportTo(control func(network, address string, c syscall.RawConn) error) *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: (&net.Dialer{Timeout: DialTimeout, KeepAlive: 30 * time.Second,
			Control: control}).DialContext,
		TLSHandshakeTimeout: DialTimeout,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        maxIdleConns,
		MaxIdleConnsPerHost: maxIdleConns,
		IdleConnTimeout:     90 * time.Second,
		WriteBufferSize:     connBuffer,
		ReadBufferSize:      connBuffer,
		// A dead HTTP/2 connection would otherwise take all calls that share it down with it, each after idle.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// Client posts requests of one model and turns failures into [model.Error].
type Client struct {
	Origin
	HTTP *http.Client // from NewHTTPClient
}

// Post sends body as JSON and returns the answer when its status is 2xx and it is not a web page. Otherwise the body
// has been read and closed, and the error is a [model.Error], or the context's error if that has ended.
func (c *Client) Post(ctx context.Context, url string, header http.Header, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, c.badAddress()
	}
	req.Header = header.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, c.Failure(ctx, err)
	}
	if err := c.Check(resp); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	return resp, nil
}

// Header makes the header of a provider's requests: the key, unless it is empty, stands in the header that is named in,
// or as a bearer token if none is. Those of more win.
func Header(key, in string, more map[string]string) http.Header {
	h := http.Header{}
	switch {
	case key == "":
	case in != "":
		h.Set(in, key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
	for name, value := range more {
		h.Set(name, value)
	}
	return h
}

// Finish closes a stream that was read to its last event. It first reads what little is left, for a short time, so
// that the connection is kept.
func Finish(body io.ReadCloser) {
	if b, ok := body.(*idleBody); ok {
		b.idle = min(b.idle, drainTime)
		io.CopyN(io.Discard, b, maxErrorBody)
	}
	body.Close()
}

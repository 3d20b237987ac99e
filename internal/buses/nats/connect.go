package nats

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pudu-ai/pudu/internal/bus"
)

// Times of a connection. A server that is back is found within a second; one that hangs is given up after the pings, or
// at once if it does not take what is written.
const (
	dialTimeout   = 2 * time.Second
	retryWait     = 250 * time.Millisecond
	retryJitter   = 500 * time.Millisecond
	pingInterval  = 5 * time.Second
	missedPings   = 2
	writeTimeout  = 5 * time.Second
	noSendBuffer  = -1 // nothing is kept for a server that is away
	pendingBytes  = 32 << 20
	pendingNumber = 64 << 10
)

// connection is the client with what it needs to begin, and to end, in the background.
type connection struct {
	state  *state
	dialer *dialer
	client atomic.Pointer[nats.Conn] // nil until it was made
}

func connect(cfg Config) (*connection, error) {
	urls, hosts, err := cfg.servers()
	if err != nil {
		return nil, err
	}
	c := &connection{state: newState(hosts, cfg.Logger), dialer: newDialer(len(urls))}
	client, err := c.options(cfg, urls).Connect()
	if err != nil {
		return nil, err
	}
	c.client.Store(client)
	return c, nil
}

func (c *connection) options(cfg Config, urls []string) nats.Options {
	o := nats.GetDefaultOptions()
	o.Servers, o.Name, o.TLSConfig = urls, cfg.Name, cfg.TLS
	o.NoEcho = true // what is for this process does not go through the server
	o.RetryOnFailedConnect, o.MaxReconnect, o.IgnoreAuthErrorAbort = true, -1, true
	o.ReconnectBufSize = noSendBuffer
	o.Timeout, o.PingInterval, o.MaxPingsOut = dialTimeout, pingInterval, missedPings
	o.FlusherTimeout, o.ReconnectOnFlusherError = writeTimeout, true
	o.CustomDialer, o.SkipHostLookup = c.dialer, true // the dialer looks up, with a deadline
	o.CustomReconnectDelayCB = c.delay
	o.ConnectedCB = func(*nats.Conn) { c.state.set(nil) }
	o.ReconnectedCB = o.ConnectedCB
	o.DisconnectedErrCB = func(_ *nats.Conn, err error) { c.lost(err) }
	o.ReconnectErrCB = o.DisconnectedErrCB
	o.AsyncErrorCB = func(_ *nats.Conn, _ *nats.Subscription, err error) { c.state.complain(err) }
	return o
}

func (c *connection) lost(err error) {
	switch {
	case errors.Is(err, errPostponed):
		return
	case err == nil:
		err = errLost
	}
	c.state.set(err)
}

// delay is asked for when every server was tried. An attempt that failed after the dial, at the password for example,
// is reported nowhere else.
func (c *connection) delay(int) time.Duration {
	if !c.dialer.begun() {
		return 0
	}
	if client := c.client.Load(); client != nil {
		if err := client.LastError(); err != nil {
			c.lost(err)
		}
	}
	return retryWait + rand.N(retryJitter) //nolint:gosec // nothing is kept secret by it
}

// wait returns when the first attempt has ended, but soon: a server that does not answer must not hold up the start.
func (c *connection) wait(ctx context.Context, limit time.Duration) {
	select {
	case <-c.state.settled:
	case <-time.After(limit):
	case <-ctx.Done():
	}
}

// close ends the client. Its lock is free soon, because the socket under it is closed first.
func (c *connection) close() {
	c.state.end(bus.ErrClosed)
	c.dialer.close()
	c.client.Load().Close()
}

// errPostponed is the result of the first attempts.
var errPostponed = errors.New("not yet")

// dialer makes the connections. The client tries each server once before it comes back with itself, and could then wait
// for seconds: those attempts fail at once, so that all real ones happen in the background.
type dialer struct {
	net.Dialer

	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex
	postpone int // so many attempts more
	real     bool
	conn     net.Conn // the last one
}

func newDialer(postpone int) *dialer {
	d := &dialer{Dialer: net.Dialer{Timeout: dialTimeout}, postpone: postpone}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Dial is [nats.CustomDialer].
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	if d.postponed() {
		return nil, errPostponed
	}
	conn, err := d.DialContext(d.ctx, network, address)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx.Err() != nil {
		return nil, errors.Join(d.ctx.Err(), conn.Close())
	}
	d.conn = conn
	return conn, nil
}

func (d *dialer) postponed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.postpone > 0 {
		d.postpone--
		return true
	}
	d.real = true
	return false
}

// begun reports whether there was a real attempt.
func (d *dialer) begun() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.real
}

func (d *dialer) close() {
	d.cancel()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn != nil {
		d.conn.Close()
	}
}

// Package outgoing is the guarded HTTP client: the only way to an address that a user, a model or a web page has named.
//
// In comes a [Profile], which bounds the calls; out goes an *http.Client that whoever needs it uses as any other. Every
// address is checked when it is connected to, after its name was resolved, and the connection goes to the very address
// that was checked: on the first hop and after each redirect. Callers are webhooks and whatever else calls addresses
// that are not the operator's.
package outgoing

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// Errors of a call; they come wrapped.
var (
	// ErrRefused: the URL leads to an address that may not be called.
	ErrRefused = errors.New("the address is of this machine or of a private network")
	// ErrTooLarge: the answer has more bytes than the profile allows. What was read before is the answer's beginning.
	ErrTooLarge = errors.New("the answer is too large")
)

// Config says what may be called. The zero value allows public addresses alone.
type Config struct {
	// Allow are networks that may be called although they are private: the operator's choice.
	Allow []netip.Prefix
}

// Bounds of a connection.
const (
	connectTimeout = 10 * time.Second
	headTimeout    = time.Minute
	idleTimeout    = time.Minute
	maxIdle        = 64
	maxHeader      = 64 << 10
)

// Guard makes clients. They share their connections.
type Guard struct{ transport *http.Transport }

// New makes a guard.
func New(c Config) *Guard {
	dialer := &net.Dialer{Timeout: connectTimeout,
		Control: func(_, address string, _ syscall.RawConn) error { return c.check(address) }}
	return &Guard{transport: &http.Transport{
		// Without a proxy: it would make the connection that is to be checked.
		DialContext: dialer.DialContext, TLSHandshakeTimeout: connectTimeout, MaxIdleConns: maxIdle,
		IdleConnTimeout: idleTimeout, ResponseHeaderTimeout: headTimeout, MaxResponseHeaderBytes: maxHeader,
		ForceAttemptHTTP2: true,
	}}
}

// Profile bounds the calls of a client.
type Profile struct {
	// Timeout is for a whole call, the reading of the answer included; 0 means 30 seconds.
	Timeout time.Duration
	// Stream leaves the length of a call to the caller's context; the head of the answer must come within a minute.
	Stream bool
	// MaxBytes bounds an answer, unpacked; 0 means 10 MiB.
	MaxBytes int64
	// Redirects is how many are followed; with 0 the answer that redirects is the answer.
	Redirects int
}

// Client returns a client of the profile.
func (g *Guard) Client(p Profile) *http.Client {
	if p.Timeout == 0 {
		p.Timeout = 30 * time.Second
	}
	if p.MaxBytes == 0 {
		p.MaxBytes = 10 << 20
	}
	c := &http.Client{Transport: bounded{g.transport, p.MaxBytes}, CheckRedirect: p.redirect}
	if !p.Stream {
		c.Timeout = p.Timeout
	}
	return c
}

// Close ends the connections that nobody uses.
func (g *Guard) Close() { g.transport.CloseIdleConnections() }

// redirect follows as many redirects as the profile says.
func (p Profile) redirect(_ *http.Request, via []*http.Request) error {
	switch {
	case p.Redirects == 0:
		return http.ErrUseLastResponse
	case len(via) > p.Redirects:
		return fmt.Errorf("stopped after %d redirects", p.Redirects)
	}
	return nil
}

// check refuses an address, HOST:PORT after its name was resolved, that may not be called.
func (c Config) check(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrRefused, address)
	}
	ip := at.Addr().Unmap().WithZone("")
	for _, p := range c.Allow {
		if p.Contains(ip) {
			return nil
		}
	}
	if !public(ip) {
		return fmt.Errorf("%w: %s", ErrRefused, ip)
	}
	return nil
}

// special are the networks that are not of the public internet and that netip does not tell apart (RFC 6890).
func special() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"),
		netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"),
		netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
		netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
		netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"),
		netip.MustParsePrefix("100::/64"), netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"),
		netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
	}
}

func public(ip netip.Addr) bool {
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	for _, p := range special() {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}

// ModelServer is the control of a dialer (see [net.Dialer]) to the servers of models that were added while the program
// works. Models are often run on this machine or in a private network, so those pass. What never serves one does not:
// addresses of a link, such as those that tell a machine in a cloud its credentials, groups, and addresses of nothing.
func ModelServer(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrNoModelServer, address)
	}
	return ModelHost(at.Addr())
}

// ErrNoModelServer refuses an address that serves no model.
var ErrNoModelServer = errors.New("no model is served at this address, which is of a link, a group or a cloud's own " +
	"services")

// ModelHost is ErrNoModelServer for an address that [ModelServer] refuses.
func ModelHost(ip netip.Addr) error {
	ip = ip.Unmap().WithZone("")
	if nat64 := netip.MustParsePrefix("64:ff9b::/96"); nat64.Contains(ip) { // an address of IPv4 behind a translator
		bytes := ip.As16()
		ip = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	bad := !ip.IsLoopback() && !ip.IsGlobalUnicast()
	for _, p := range clouds() {
		bad = bad || p.Contains(ip)
	}
	if bad {
		return fmt.Errorf("%w: %s", ErrNoModelServer, ip)
	}
	return nil
}

// clouds are where clouds tell their machines of themselves, beside the addresses of links, and what is never assigned.
func clouds() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
		netip.MustParsePrefix("100.100.100.200/32"), netip.MustParsePrefix("168.63.129.16/32"),
		netip.MustParsePrefix("fd00:ec2::/32"), netip.MustParsePrefix("fd20:ce::/32"),
		netip.MustParsePrefix("2002::/16"),
	}
}

// bounded keeps the answers of a transport within so many bytes.
type bounded struct {
	next http.RoundTripper
	max  int64
}

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	res.Body = &body{res.Body, b.max}
	return res, nil
}

// body is an answer of at most so many bytes.
type body struct {
	io.ReadCloser

	left int64
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, ErrTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return n - 1, ErrTooLarge
	}
	return n, err
}

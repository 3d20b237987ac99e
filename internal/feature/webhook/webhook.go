// Package webhook tells a URL that a client has named that something has happened. The URL is not trusted: what it
// leads to is checked at the moment of connecting, so that nobody reaches this machine or its network through Pudu.
package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// ErrRefused is the error of a URL that leads to an address that may not be called.
var ErrRefused = errors.New("the address is of this machine or of a private network")

// Config says what may be called. The zero value allows public addresses alone.
type Config struct {
	// Allow are networks that may be called although they are private.
	Allow []netip.Prefix
	// Timeout bounds a call; 0 means 10 seconds.
	Timeout time.Duration
}

// Caller calls webhooks.
type Caller struct{ http *http.Client }

// New makes a caller.
func New(c Config) *Caller {
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Second
	}
	dialer := &net.Dialer{Timeout: c.Timeout, Control: func(_, address string, _ syscall.RawConn) error { return c.check(address) }}
	return &Caller{http: &http.Client{
		Timeout: c.Timeout,
		// Without a proxy: it would make the connection that is to be checked.
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: c.Timeout, MaxIdleConns: 16, IdleConnTimeout: time.Minute,
			MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
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
		netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
		netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
		netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
		netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("100::/64"),
		netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"),
		netip.MustParsePrefix("fec0::/10"),
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

// Call posts JSON to the URL. Any answer of 200 to 299 is well; another one, a redirect too, is an error.
func (c *Caller) Call(ctx context.Context, to string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("call webhook: %w", withoutURL(err))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "pudu")
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("call webhook at %s: %w", req.URL.Host, withoutURL(err))
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection can be used again
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

package gateway_test

import (
	"net/netip"
	"testing"

	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// TestAForgedAddress: who is no proxy is counted by his own address, whatever he says of others.
func TestAForgedAddress(t *testing.T) {
	k := gateways.New(t,
		func(c *gateway.Config) { c.Guard.Proxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
	for _, remote := range []string{"192.0.2.1:5000", "[2001:db8::1]:80"} {
		r := k.Request("GET", "/", "")
		r.RemoteAddr = remote
		r.Header.Set("X-Forwarded-For", "203.0.113.5")
		if got, want := k.Guard.Client(r), netip.MustParseAddrPort(remote).Addr().String(); got != want {
			t.Errorf("from %s: %s", remote, got)
		}
	}
}

// TestLookingWithACookie: what changes nothing is answered to a session wherever the request comes from.
func TestLookingWithACookie(t *testing.T) {
	b := signedIn(gateways.New(t, asking), "one")
	b.origin = ""
	for _, method := range []string{"GET", "HEAD"} {
		if w := b.send(method, "/info", "", "Sec-Fetch-Site", "none"); w.Code != 200 {
			t.Errorf("%s: %d %s", method, w.Code, w.Body)
		}
	}
}

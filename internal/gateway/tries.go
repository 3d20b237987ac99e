package gateway

import (
	"net/netip"
	"sync"
	"time"
)

const (
	// maxTries are the wrong tokens that may come from an address in triesWindow; then it has to wait, with a good one
	// too.
	maxTries    = 60
	triesWindow = time.Minute
	// maxAddresses bounds the addresses that are counted by themselves.
	maxAddresses = 10_000
)

// tries counts wrong tokens by the address that they come from, for a minute. A token that pudu makes cannot be
// guessed; one that somebody thought of could be.
type tries struct {
	mu    sync.Mutex
	since time.Time
	count map[netip.Prefix]int
}

// over reports whether too many came from an address.
func (t *tries) over(from string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return now.Sub(t.since) < triesWindow && t.count[t.network(from)] >= maxTries
}

// wrong counts one.
func (t *tries) wrong(from string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count == nil || now.Sub(t.since) >= triesWindow {
		t.since, t.count = now, make(map[netip.Prefix]int)
	}
	t.count[t.network(from)]++
}

// network is what an address is counted as: of IPv6 the network that one customer has. What comes when there are too
// many counts as one. t.mu is held.
func (t *tries) network(from string) (p netip.Prefix) {
	const ofCustomer = 64
	if addr, err := netip.ParseAddr(from); err == nil {
		bits := addr.BitLen()
		if addr.Is6() {
			bits = ofCustomer
		}
		p, _ = addr.WithZone("").Prefix(bits)
	}
	if _, known := t.count[p]; !known && len(t.count) >= maxAddresses {
		return netip.Prefix{}
	}
	return p
}

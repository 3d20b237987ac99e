package app

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pudu-ai/pudu/internal/gateway"
)

// turns is a handler whose gateway can be replaced while it works. Requests end with the one that they began with.
type turns struct {
	before func(r *http.Request) // of each request, what may replace the gateway; nil is nothing

	mu   sync.RWMutex
	now  *turn
	past []*turn // those that still have requests
}

// turn is a gateway, and how many requests it has.
type turn struct {
	*gateway.Server

	busy atomic.Int64
}

// ServeHTTP implements [http.Handler].
func (t *turns) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if t.before != nil {
		t.before(r)
	}
	t.mu.RLock()
	g := t.now
	g.busy.Add(1)
	t.mu.RUnlock()
	defer g.busy.Add(-1)
	g.ServeHTTP(w, r)
}

// set has g answer the requests that come.
func (t *turns) set(g *gateway.Server) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.now != nil {
		t.past = append(t.past, t.now)
	}
	t.past = slices.DeleteFunc(t.past, func(p *turn) bool { return p.busy.Load() == 0 })
	t.now = &turn{Server: g}
}

// stop ends all streams and waits.
func (t *turns) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range append(t.past, t.now) {
		p.Stop()
	}
}

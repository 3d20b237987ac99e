//go:build linux

package cluster

import (
	"sync"
	"testing"
	"time"
)

// quickest is the least time that each kind of thing took. That one of a kind is slow may be the doing of a busy
// machine; that all are is the server's.
type quickest struct {
	mu sync.Mutex
	of map[string]time.Duration
}

// newQuickest fails the test at its end, behind its subtests, if all of a kind took longer than the limit.
func newQuickest(t *testing.T, limit time.Duration) *quickest {
	t.Helper()
	q := &quickest{of: make(map[string]time.Duration)}
	t.Cleanup(func() {
		for kind, took := range q.of {
			if t.Logf("%s: the quickest took %v", kind, took.Round(time.Millisecond)); took > limit {
				t.Errorf("%s: even the quickest took %v, more than %v", kind, took, limit)
			}
		}
	})
	return q
}

func (q *quickest) took(kind string, d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if least, ok := q.of[kind]; !ok || d < least {
		q.of[kind] = d
	}
}

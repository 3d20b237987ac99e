package store

import (
	"context"
	"time"
)

// patienceKey is the key of a context's patience.
type patienceKey struct{}

// WithPatience bounds how long what is asked under the context waits for a database that cannot be reached, before it
// fails with [ErrUnreachable]. 0 is as long as the store does by itself: a run under way has time, a client who asks
// for a run has none.
func WithPatience(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, d)
}

// Patience is how long the context's asker waits, where the store itself would wait for own.
func Patience(ctx context.Context, own time.Duration) time.Duration {
	if d, ok := ctx.Value(patienceKey{}).(time.Duration); ok && d > 0 {
		return min(d, own)
	}
	return own
}

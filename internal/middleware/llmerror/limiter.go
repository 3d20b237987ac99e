package llmerror

import "context"

// Limiter bounds how many model calls of the process are under way at once. A nil Limiter sets no bound.
type Limiter struct{ slots chan struct{} }

// NewLimiter makes a limiter of n calls; n of 0 or less returns nil, which sets no bound.
func NewLimiter(n int) *Limiter {
	if n <= 0 {
		return nil
	}
	return &Limiter{slots: make(chan struct{}, n)}
}

// acquire waits for a place, first come first served, or for the end of the context. A waiter that gives up takes no
// place with it: the channel hands one over only to a send that is still waiting.
func (l *Limiter) acquire(ctx context.Context) error {
	if l == nil {
		return nil
	}
	select {
	case l.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *Limiter) release() {
	if l != nil {
		<-l.slots
	}
}

package modelcall

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// Limits bound the calls with one key. 0 sets no bound.
type Limits struct {
	RequestsPerMinute, TokensPerMinute, Concurrent int
}

// Limiter lets calls with one key go ahead: no more at once, and no more calls and tokens in any minute, than its
// limits say. Who comes first goes first, and waits as long as his context lets him. It also learns: when the vendor
// refuses a call for its rate, the others for the same model wait with it instead of finding out one by one, and then
// go ahead a few at a time (see [learned]). A nil Limiter sets no bound.
type Limiter struct {
	limits Limits

	mu      sync.Mutex
	under   int // calls under way
	minute  window
	more    int                 // tokens that calls take beyond what is guessed of their requests, lately
	models  map[string]*learned // by name; only those that were refused lately
	queue   []*waiter           // by ticket
	tickets ticket
	timer   *time.Timer // wakes serve when time alone lets somebody go; nil before the first need
}

// ticket is a place in the order of a limiter; 0 is none. A call keeps it over its tries.
type ticket uint64

// waiter is a call that wants to go ahead.
type waiter struct {
	ticket ticket
	model  string
	tokens int
	ready  chan struct{} // closed with permit set
	permit *permit
}

// NewLimiter makes a limiter. One without limits still learns.
func NewLimiter(l Limits) *Limiter {
	return &Limiter{limits: l, models: make(map[string]*learned)}
}

// NewBound makes the limiter of n calls at once; n of 0 or less returns nil, which sets no bound.
func NewBound(n int) *Limiter {
	if n <= 0 {
		return nil
	}
	return NewLimiter(Limits{Concurrent: n})
}

// Limited reports whether somebody has set limits: calls are to queue for them, not to fail.
func (l *Limiter) Limited() bool { return l != nil && l.limits != (Limits{}) }

// counts reports whether the limiter counts tokens, which costs a look at the whole request.
func (l *Limiter) counts() bool { return l != nil && l.limits.TokensPerMinute > 0 }

// forever is a wait that no clock ends.
const forever = time.Duration(1<<63 - 1)

// notice is how long a call waits before its owner is told.
const notice = time.Second

// acquire waits until the call may go ahead. t is the call's ticket, drawn at its first try. The permit must be given
// back.
func (l *Limiter) acquire(ctx context.Context, t *ticket, model string, tokens int,
	queued func(ahead int)) (*permit, error) {
	if l == nil {
		return nil, nil
	}
	w := l.join(t, model, tokens)
	select {
	case <-w.ready: // as nearly always
		return w.permit, nil
	default:
	}
	timer := time.NewTimer(notice)
	defer timer.Stop()
	for {
		select {
		case <-w.ready:
			return w.permit, nil
		case <-timer.C:
			queued(l.ahead(w))
		case <-ctx.Done():
			l.quit(w)
			return nil, context.Cause(ctx)
		}
	}
}

func (l *Limiter) join(t *ticket, model string, tokens int) *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if *t == 0 {
		l.tickets++
		*t = l.tickets
	}
	w := &waiter{ticket: *t, model: model, tokens: tokens, ready: make(chan struct{})}
	at, _ := slices.BinarySearchFunc(l.queue, w.ticket+1,
		func(w *waiter, t ticket) int { return cmp.Compare(w.ticket, t) })
	l.queue = slices.Insert(l.queue, at, w)
	l.serve()
	return w
}

// quit takes the waiter out of the queue. One that was let in at the same moment gives its place back.
func (l *Limiter) quit(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.permit != nil {
		l.minute.remove(w.permit.entry)
		l.release(w.permit)
	} else if i := slices.Index(l.queue, w); i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
	}
	l.serve()
}

// ahead counts those before the waiter: in the queue, and under way.
func (l *Limiter) ahead(w *waiter) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(slices.Index(l.queue, w), 0) + l.under
}

// serve lets in whoever may go, in order, and sets the clock for the next one. A model that must wait by itself holds
// up nobody else; whoever is the first to wait for the key holds up all behind him, so that nobody starves. l.mu is
// held.
func (l *Limiter) serve() {
	now := time.Now()
	soonest := forever
	var key time.Duration // what the first of the others waits for the key
	kept := l.queue[:0]
	for _, w := range l.queue {
		wait := l.models[w.model].wait(now)
		if wait == 0 && key == 0 {
			key = l.room(now, w.tokens+l.more)
		}
		if wait = max(wait, key); wait == 0 {
			l.admit(w, now)
			continue
		}
		soonest = min(soonest, wait)
		kept = append(kept, w)
	}
	clear(l.queue[len(kept):])
	l.queue = kept
	l.wake(soonest)
}

// wake sets the clock.
func (l *Limiter) wake(in time.Duration) {
	switch {
	case in == forever && l.timer != nil:
		l.timer.Stop()
	case in == forever:
	case l.timer == nil:
		l.timer = time.AfterFunc(in, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.serve()
		})
	default:
		l.timer.Reset(in)
	}
}

// room is how long a call must wait for the key: 0 if it may go.
func (l *Limiter) room(now time.Time, tokens int) time.Duration {
	if l.limits.Concurrent > 0 && l.under >= l.limits.Concurrent {
		return forever
	}
	return l.minute.wait(now, l.limits, tokens)
}

func (l *Limiter) admit(w *waiter, now time.Time) {
	l.under++
	w.permit = &permit{l: l, model: w.model, guess: w.tokens}
	if l.limits.RequestsPerMinute > 0 || l.limits.TokensPerMinute > 0 {
		w.permit.entry = l.minute.add(now, w.tokens+l.more)
	}
	if m := l.models[w.model]; m != nil {
		m.trying, m.since = m.trying+1, now
		w.permit.tries = m
	}
	close(w.ready)
}

// release takes a call out of the count. l.mu is held.
func (l *Limiter) release(p *permit) {
	l.under--
	p.tried()
}

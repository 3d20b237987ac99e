package modelcall

import (
	"slices"
	"time"
)

// minute is the length of the window. It is a little more than the vendor's, whose minute begins when a request
// arrives.
const minute = time.Minute + 500*time.Millisecond

// window is what was spent in the last minute. A bucket that fills up again would allow almost twice the limit within
// the minute after a quiet time, which vendors that count by the minute refuse.
type window struct {
	calls  []*spent // by time
	tokens int      // their sum
}

// spent is one call.
type spent struct {
	at     time.Time
	tokens int
}

// forget drops what is older than the window.
func (w *window) forget(now time.Time) {
	n := 0
	for n < len(w.calls) && now.Sub(w.calls[n].at) >= minute {
		w.tokens -= w.calls[n].tokens
		n++
	}
	w.calls = slices.Delete(w.calls, 0, n)
}

// wait is how long a call must wait: 0 if it may go. One that is larger than the limit waits until nothing else is in
// the window.
func (w *window) wait(now time.Time, l Limits, tokens int) time.Duration {
	w.forget(now)
	free := 0 // how many calls must leave the window
	if l.RequestsPerMinute > 0 {
		free = max(len(w.calls)-l.RequestsPerMinute+1, 0)
	}
	if l.TokensPerMinute > 0 {
		over := w.tokens + min(tokens, l.TokensPerMinute) - l.TokensPerMinute
		for i := 0; over > 0 && i < len(w.calls); i++ {
			over -= w.calls[i].tokens
			free = max(free, i+1)
		}
	}
	if free == 0 {
		return 0
	}
	return w.calls[free-1].at.Add(minute).Sub(now)
}

func (w *window) add(now time.Time, tokens int) *spent {
	s := &spent{now, tokens}
	w.calls = append(w.calls, s)
	w.tokens += tokens
	return s
}

// settle puts what a call took in the place of what was guessed.
func (w *window) settle(s *spent, tokens int) {
	if s == nil || !slices.Contains(w.calls, s) {
		return
	}
	w.tokens += tokens - s.tokens
	s.tokens = tokens
}

// remove takes a call out that was never made.
func (w *window) remove(s *spent) {
	if i := slices.Index(w.calls, s); s != nil && i >= 0 {
		w.tokens -= s.tokens
		w.calls = slices.Delete(w.calls, i, i+1)
	}
}

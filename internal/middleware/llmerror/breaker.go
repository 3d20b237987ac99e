package llmerror

import (
	"cmp"
	"sync"
	"time"
)

// BreakerConfig tunes a [Breaker].
type BreakerConfig struct {
	// Threshold is how many calls must fail in a row to open the breaker; 0 means 5.
	Threshold int
	// Recovery is how long it stays open before one call may probe the model; 0 means 60 s.
	Recovery time.Duration
}

// Breaker keeps calls from a model that is down. There is one per model, shared by all runs, and it counts whole
// calls with their tries. Closed lets every call pass; after Threshold failures in a row it opens and lets none pass;
// after Recovery a single probe decides whether it closes or stays open for another Recovery. Failures that say nothing
// about the model's health, and calls that were cancelled, change nothing.
type Breaker struct {
	cfg BreakerConfig

	mu       sync.Mutex
	failures int
	open     bool
	until    time.Time // when open: the earliest probe
	probing  bool
	period   int // counts openings and closings; a call that began in another period decides nothing
}

// NewBreaker makes a closed breaker.
func NewBreaker(cfg BreakerConfig) *Breaker {
	cfg.Threshold = cmp.Or(cfg.Threshold, 5)
	cfg.Recovery = cmp.Or(cfg.Recovery, 60*time.Second)
	return &Breaker{cfg: cfg}
}

// outcome is how a call ended, as far as the breaker cares.
type outcome int

const (
	released  outcome = iota // says nothing
	succeeded                // the model answered
	failed                   // the model is not well
)

// pass lets one call go ahead; it must be given back with leave.
type pass struct {
	b      *Breaker
	period int
}

// enter asks to make a call. Without a pass, wait is how long it will take until a probe may be made; 0 if one is
// under way. A nil breaker lets everything pass.
func (b *Breaker) enter(now time.Time) (p pass, wait time.Duration, ok bool) {
	if b == nil {
		return pass{}, 0, true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open {
		if wait := b.until.Sub(now); wait > 0 || b.probing {
			return pass{}, max(wait, 0), false
		}
		b.probing = true
	}
	return pass{b: b, period: b.period}, 0, true
}

// leave reports how the call ended.
func (p pass) leave(o outcome, now time.Time) {
	b := p.b
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.period != b.period {
		return
	}
	if b.open {
		b.probing = false
	}
	switch {
	case o == succeeded:
		b.failures = 0
		b.set(false)
	case o == failed && b.open:
		b.until = now.Add(b.cfg.Recovery)
	case o == failed:
		if b.failures++; b.failures >= b.cfg.Threshold {
			b.until = now.Add(b.cfg.Recovery)
			b.set(true)
		}
	}
}

func (b *Breaker) set(open bool) {
	if b.open != open {
		b.open = open
		b.period++
	}
}

package llmerror

import (
	"cmp"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/model"
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
//
// A model also rests after any call that failed: who has another model to ask passes it by, until a probe answers. That
// does not hold up those who have no other.
type Breaker struct {
	cfg BreakerConfig

	mu       sync.Mutex
	failures int
	open     bool
	until    time.Time // when open: the earliest probe
	probing  bool
	period   int // counts openings and closings; a call that began in another period decides nothing
	rest     rest
}

// rest is the time for which a model is passed by. The zero value is none.
type rest struct {
	why     model.Class // of the failure
	until   time.Time   // the earliest probe
	probing bool
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
	unwell                   // the model is not well
)

// pass lets one call go ahead; it must be given back with leave.
type pass struct {
	b      *Breaker
	period int
	probe  bool // it finds out whether the rest is over
}

// shut is why there is no pass.
type shut struct {
	// wait is how long it will take until a probe may be made; 0 if one is under way.
	wait time.Duration
	// resting is why the model rests; empty if the breaker is open, so that nobody may ask.
	resting model.Class
}

// enter asks to make a call. choice says that there is another model to ask, so that this one may rest. A nil breaker
// lets everything pass.
func (b *Breaker) enter(now time.Time, choice bool) (pass, *shut) {
	if b == nil {
		return pass{}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if wait := b.until.Sub(now); b.open && (wait > 0 || b.probing) {
		return pass{}, &shut{wait: max(wait, 0)}
	}
	p := pass{b: b, period: b.period, probe: choice && b.rest.why != ""}
	if p.probe && (now.Before(b.rest.until) || b.rest.probing) {
		return pass{}, &shut{resting: b.rest.why}
	}
	b.probing = b.open
	b.rest.probing = b.rest.probing || p.probe
	return p, nil
}

// rest says that the model is not to be asked for a while by those who have another; 0 means the time of Recovery.
func (p pass) rest(why model.Class, now time.Time, d time.Duration) {
	b := p.b
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if until := now.Add(cmp.Or(d, b.cfg.Recovery)); until.After(b.rest.until) {
		b.rest.why, b.rest.until = why, until
	}
}

// leave reports how the call ended.
func (p pass) leave(o outcome, now time.Time) {
	b := p.b
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.probe {
		b.rest.probing = false
	}
	if o == succeeded {
		b.rest = rest{}
	}
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
	case o == unwell && b.open:
		b.until = now.Add(b.cfg.Recovery)
	case o == unwell:
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

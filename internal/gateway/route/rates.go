package route

import (
	"math"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/pudu-ai/pudu/internal/access"
)

// Rates are how many requests of each class a user may send a minute, of which all may come at once; 0 is as many as he
// likes.
type Rates map[Rate]int

// DefaultRates are far above what a person's programs do, and below what keeps others from being answered.
func DefaultRates() Rates {
	return Rates{Cheap: 6000, Write: 3000, Costly: 1200, Work: 1200, Stream: 1200}
}

const (
	// withoutToken is how many times as much is allowed where nobody brings a token: all callers are one user there.
	withoutToken = 100
	// maxBuckets bounds the callers that are counted each by himself.
	maxBuckets = 10_000
)

// limiter counts requests by user and class. The zero value has no rates, and lets everything pass.
type limiter struct {
	rates Rates
	asks  func() bool // whether callers bring tokens; nil is that they do not

	mu      sync.Mutex
	buckets map[counted]*rate.Limiter
	swept   time.Time
}

// counted is whose requests are counted together: a user's, or those of nobody known from an address.
type counted struct {
	who    string
	class  Rate
	tokens bool
}

// take counts a request. It returns how long the caller has to wait with it; 0 is not at all.
func (l *limiter) take(by access.Principal, from string, class Rate, now time.Time) time.Duration {
	n := l.rates[class]
	if n <= 0 {
		return 0
	}
	who := counted{who: by.User.ID(), class: class, tokens: l.asks != nil && l.asks()}
	if by.User == (access.User{}) {
		who.who = "address " + from
	}
	if !who.tokens {
		n *= withoutToken
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.bucket(who, n, now).ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// bucket is that of a caller. When there are too many, those that are full again are forgotten, which changes nothing
// for their callers; who then finds no room shares one. l.mu is held.
func (l *limiter) bucket(who counted, n int, now time.Time) *rate.Limiter {
	if b := l.buckets[who]; b != nil {
		return b
	}
	if len(l.buckets) >= maxBuckets && now.Sub(l.swept).Abs() >= time.Second {
		l.swept = now
		for key, b := range l.buckets {
			if b.TokensAt(now) >= float64(b.Burst()) {
				delete(l.buckets, key)
			}
		}
	}
	if len(l.buckets) >= maxBuckets {
		if who.who = "the others"; l.buckets[who] != nil {
			return l.buckets[who]
		}
	}
	if l.buckets == nil {
		l.buckets = make(map[counted]*rate.Limiter)
	}
	b := rate.NewLimiter(rate.Limit(float64(n)/time.Minute.Seconds()), n)
	l.buckets[who] = b
	return b
}

// Limited bounds how many requests a minute a user may send; asks reports whether callers bring tokens.
func (e *Env) Limited(rates Rates, asks func() bool) { e.limiter = limiter{rates: rates, asks: asks} }

// inTime refuses a request of a user who has sent too many of its class.
func (e *Env) inTime(req *http.Request, class Rate) error {
	wait := e.limiter.take(Caller(req.Context()), From(req), class, e.Now())
	if wait == 0 {
		return nil
	}
	e.Watch.Limited(string(class))
	err := Failf(http.StatusTooManyRequests, "Too many requests of the class %q: at most %d a minute; try again later",
		class, e.limiter.rates[class])
	err.RetryAfter = int(math.Ceil(wait.Seconds()))
	return err
}

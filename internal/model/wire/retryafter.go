package wire

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds what a server may ask for; beyond it waiting is pointless.
const maxRetryAfter = 24 * time.Hour

// RetryAfter reads how long a server asks to wait: Retry-After-Ms, or Retry-After as seconds or as a date. A date
// counts from the answer's own Date, else from now. The result is between 0 (nothing usable said) and 24 hours.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if d, ok := number(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	value := h.Get("Retry-After")
	if d, ok := number(value, time.Second); ok {
		return d
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}

func number(s string, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || f != f {
		return 0, false
	}
	f = min(max(f, 0), float64(maxRetryAfter/unit))
	return time.Duration(f * float64(unit)), true
}

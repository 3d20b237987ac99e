package config

import (
	"strconv"
	"strings"
	"time"
)

// Retention says how long things are kept that a thread can do without. Messages, files and the state of every step are
// kept as long as their thread.
type Retention struct {
	// Chunks are the boundaries of the pieces in which a message was streamed: as long as they are there, a reader who
	// was cut off within a message goes on in its middle, later he gets it as a whole.
	Chunks Age `key:"chunks"`
	// Logs are the full outputs of the bash tool, and results of other tools that were too long to be shown.
	Logs Age `key:"logs"`
	// Snapshots of a thread's state make its older steps quick to load. The newest ones always stay.
	Snapshots Age `key:"snapshots"`
	// Bin is how long a thread stays in the bin; Temporary how long a temporary one stays after its last use.
	Bin       Age `key:"bin"`
	Temporary Age `key:"temporary"`
}

// Age is how long something is kept, written as a number of seconds or with a unit: "90m", "24h", "7d". The zero value,
// also written "forever", keeps it always.
type Age time.Duration

var _ custom = (*Age)(nil)

// Before returns the time before which things are too old; zero if nothing ever is.
func (a Age) Before(now time.Time) time.Time {
	if a == 0 {
		return time.Time{}
	}
	return now.Add(-time.Duration(a))
}

func (a *Age) decode(d *decoder, t *tree, at string) {
	s, ok := d.scalar(t, at, "a length of time", "")
	if !ok {
		return
	}
	age, ok := parseAge(s)
	if !ok {
		d.failf(t.line, at, `must be a length of time such as 3600, "24h", "7d" or "forever", got %s`, t.what())
		return
	}
	*a = age
}

// parseAge reads an age of at most a hundred years.
func parseAge(s string) (Age, bool) {
	const most = 100 * 365 * 24 * time.Hour
	s = strings.TrimSpace(s)
	if s == "forever" {
		return 0, true
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return Age(n) * Age(24*time.Hour), err == nil && n > 0 && n <= uint64(most/(24*time.Hour))
	}
	if n, err := strconv.ParseUint(s, 10, 32); err == nil {
		return Age(n) * Age(time.Second), n > 0 && n <= uint64(most/time.Second)
	}
	dur, err := time.ParseDuration(s)
	return Age(dur), err == nil && dur > 0 && dur <= most
}

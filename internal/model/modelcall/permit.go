package modelcall

import "time"

// permit is a call that goes ahead. The methods of a nil permit do nothing.
type permit struct {
	l     *Limiter
	model string
	guess int      // the tokens of the request
	entry *spent   // of the minute; nil if nothing is counted
	tries *learned // what the call finds out about; nil if there is nothing
}

// tried ends the finding out. l.mu is held.
func (p *permit) tried() {
	if p.tries != nil {
		p.tries.trying--
		p.tries = nil
	}
}

// accepted says that the vendor has begun to answer.
func (p *permit) accepted() {
	if p == nil {
		return
	}
	p.l.mu.Lock()
	defer p.l.mu.Unlock()
	m := p.tries
	if m == nil {
		return
	}
	p.tried()
	if m.most++; m.most > mostLearned && p.l.models[p.model] == m {
		delete(p.l.models, p.model)
	}
	p.l.serve()
}

// refused says that the vendor limits the rate, and for how long if it said so.
func (p *permit) refused(after time.Duration) {
	if p == nil {
		return
	}
	p.l.mu.Lock()
	defer p.l.mu.Unlock()
	m := p.l.models[p.model]
	if m == nil {
		m = &learned{}
		p.l.models[p.model] = m
	}
	m.pause(time.Now(), after)
	p.l.serve()
}

// done gives the permit back. tokens is what the call took.
func (p *permit) done(tokens int) {
	if p == nil {
		return
	}
	p.l.mu.Lock()
	defer p.l.mu.Unlock()
	if tokens > 0 { // an answer has a length, and so the next one is expected to have
		p.l.more = max(p.l.more+(tokens-p.guess-p.l.more)/4, 0)
	}
	p.l.minute.settle(p.entry, tokens)
	p.l.release(p)
	p.l.serve()
}

// learned is what a refusal has taught about a model: nobody asks before a time, and then as many calls may wait for
// the vendor's first word as it has accepted since, and one more. So the calls that a pause has gathered do not all
// come back at once only to be refused again.
type learned struct {
	until  time.Time
	most   int       // calls that may be on trial at once
	trying int       // calls on trial
	since  time.Time // when the last of them began
}

// Bounds of what is learned.
const (
	// longestPause is the longest that one refusal holds up others, whatever the vendor asks for.
	longestPause = time.Minute
	// usualPause is that of a refusal that names none.
	usualPause = time.Second
	// mostLearned is where so much is accepted that the refusal is forgotten.
	mostLearned = 64
	// trial is how long a call may keep others waiting for the vendor's first word: a refusal comes sooner than that.
	trial = 5 * time.Second
)

func (m *learned) pause(now time.Time, after time.Duration) {
	if after <= 0 {
		after = usualPause
	}
	if until := now.Add(min(after, longestPause)); until.After(m.until) {
		m.until = until
	}
	m.most = 1
}

// wait is how long the next call must wait: 0 if it may go.
func (m *learned) wait(now time.Time) time.Duration {
	switch {
	case m == nil:
		return 0
	case now.Before(m.until):
		return m.until.Sub(now)
	case m.trying >= m.most:
		return max(m.since.Add(trial).Sub(now), 0)
	}
	return 0
}

package crash

import (
	"math/rand/v2"
	"time"
)

// kill says when a worker is killed: a time after the nth mark of its process, or after its start.
type kill struct {
	mark  string // "" counts from the start of the process
	nth   int    // the first has 1
	delay time.Duration
}

// never is no kill.
var never = kill{mark: "never"}

// plan draws kills. The same seed draws the same.
type plan struct {
	rnd   *rand.Rand
	again bool // the next one comes before the next attempt gets anywhere
}

func newPlan(seed uint64) *plan {
	return &plan{rnd: rand.New(rand.NewPCG(seed, 7))}
}

// next draws a kill: half of them while a tool runs, a third right after a commit, the rest in the recovery or
// anywhere; one in eight is followed by a second one in the next attempt's recovery.
func (p *plan) next() kill {
	if p.again {
		p.again = false
		return p.recovery()
	}
	p.again = p.rnd.IntN(8) == 0
	switch n := p.rnd.IntN(100); {
	case n < 40: // in any tool
		return kill{mark: markBegin, nth: 1 + p.rnd.IntN(7), delay: p.upTo(3 * time.Millisecond)}
	case n < 54: // in one that takes longer, if it is one
		return kill{mark: markBegin, nth: 1 + p.rnd.IntN(7), delay: p.upTo(16 * time.Millisecond)}
	case n < 86:
		return kill{mark: markCommit, nth: 1 + p.rnd.IntN(18), delay: p.upTo(2 * time.Millisecond)}
	case n < 92:
		return p.recovery()
	}
	return kill{delay: p.upTo(400 * time.Millisecond)}
}

// recovery draws a kill between the start of a process and its first steps.
func (p *plan) recovery() kill {
	switch p.rnd.IntN(3) {
	case 0:
		return kill{delay: p.upTo(60 * time.Millisecond)}
	case 1:
		return kill{mark: markOpen, nth: 1, delay: p.upTo(8 * time.Millisecond)}
	}
	return kill{mark: markAttempt, nth: 1, delay: p.upTo(3 * time.Millisecond)}
}

func (p *plan) upTo(d time.Duration) time.Duration { return time.Duration(p.rnd.Int64N(int64(d))) }

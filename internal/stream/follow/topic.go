package follow

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
)

// topic is a run that is executed or followed in this process: what is in memory of it and who waits for more.
type topic struct {
	hub   *Hub
	user  access.User // whose run it is
	runID string

	mu  sync.Mutex
	mem memory
	// known says that mem begins at a place of which is known that it exists. Where it is not, readers read the log
	// themselves: a position that a client names may be made up.
	known bool
	feed  *Feed // who executes the run here; nil if nobody does
	row   store.Run
	over  bool  // the row says that the run is at its end, and mem has everything up to there
	whole bool  // the run's end was shown here, so that mem has everything up to there
	err   error // ends the readers

	readers int
	waiting []*reader
	turn    int  // the present list of the waiting, from 1; a reader whose turn this is stands in it
	waking  bool // they will be woken soon
	looks   int  // how often the store was looked at

	// What keeps a topic with readers up to date, see watch.go.
	unwatch   context.CancelFunc
	kick      chan struct{} // has room for one: the watcher has something to do
	force     atomic.Bool   // it shall look at the store
	looked    time.Time
	ownerName string    // of the process that executes the run
	heard     time.Time // when the owner was heard last
	asked     time.Time
	missing   bool // the owner is to publish again what is behind missed
	missed    int64
	back      bool  // that is before the floor
	ownerHas  int64 // the owner has everything behind this number

	pub *publisher // while somebody elsewhere is interested
}

func newTopic(h *Hub, u access.User, runID string) *topic {
	t := &topic{hub: h, user: u, runID: runID, kick: make(chan struct{}, 1), turn: 1}
	t.mem.cfg = &h.cfg
	return t
}

// log is what the run's user has.
func (t *topic) log() store.UserData { return t.hub.cfg.Store.For(t.user) }

// next finds out what the reader does next.
func (t *topic) next(r *reader) task {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.err != nil:
		return task{err: t.err}
	case !t.known:
		return t.nextInLog(r)
	case r.pos.Compare(t.mem.floor) < 0:
		if through := t.mem.settledID(); through.Compare(r.through) > 0 {
			return task{log: true, through: through}
		}
		t.miss(r.through, true)
		return t.wait(r)
	}
	if evs := t.mem.after(r.pos, batchSize); len(evs) > 0 {
		return task{events: evs}
	}
	if t.over {
		return task{done: true, run: t.row}
	}
	if t.whole { // who was shown the end and still follows wants the run's row
		t.lookNow()
	}
	return t.wait(r)
}

// nextInLog is next while nothing is in memory: the log is read after each look at the store.
func (t *topic) nextInLog(r *reader) task {
	through := event.ID{Attempt: t.row.Attempt}
	if t.over {
		through = theEnd
	}
	switch {
	case t.over && r.through == theEnd:
		return task{done: true, run: t.row}
	case t.over || r.look <= t.looks:
		r.look = t.looks + 1
		return task{log: true, through: through}
	}
	return t.wait(r)
}

// wait has the reader woken when there is more.
func (t *topic) wait(r *reader) task {
	if r.turn != t.turn {
		r.turn = t.turn
		t.waiting = append(t.waiting, r)
	}
	return task{}
}

// forget takes a reader out of the waiting.
func (t *topic) forget(r *reader) {
	if i := slices.Index(t.waiting, r); i >= 0 {
		last := len(t.waiting) - 1
		t.waiting[i], t.waiting[last] = t.waiting[last], nil
		t.waiting, r.turn = t.waiting[:last], 0
	}
}

// fewReaders are woken by who has something for them. More are woken a little later and by a goroutine of their own, so
// that Show takes no longer.
const (
	fewReaders = 2
	wakeEvery  = 2 * time.Millisecond
)

// notify wakes the waiting. t.mu is held.
func (t *topic) notify() {
	switch n := len(t.waiting); {
	case n > fewReaders && !t.waking:
		t.waking = true
		time.AfterFunc(wakeEvery, t.wakeWaiting)
	case n <= fewReaders:
		t.turn++
		wakeAll(t.waiting)
		clear(t.waiting)
		t.waiting = t.waiting[:0]
	}
}

func (t *topic) wakeWaiting() {
	t.mu.Lock()
	all := t.waiting
	t.waiting, t.waking = nil, false
	t.turn++
	t.mu.Unlock()
	wakeAll(all)
}

func wakeAll(rs []*reader) {
	for _, r := range rs {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

// seed lets the memory begin where a reader has come to in the log, if that place exists: if there was an event, or if
// it is the start of an attempt.
func (t *topic) seed(r *reader) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known || t.over || r.pos.Attempt > t.row.Attempt || !r.read && r.pos.N > 0 {
		return
	}
	t.mem.reset(floorOf(r.pos.Attempt, r.pos.N), r.pos.Attempt, nil)
	t.known = true
}

// newAttempt begins the memory of a higher attempt: what the one before did not commit is void. t.mu is held.
func (t *topic) newAttempt(attempt int) {
	if attempt > t.mem.attempt {
		t.mem.reset(floorOf(attempt, 0), attempt, nil)
		t.feed, t.whole, t.missing, t.ownerHas = nil, false, false, 0
	}
}

// failIfGone ends the readers if an error of the store will not pass. t.mu is held.
func (t *topic) failIfGone(err error) {
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrClosed) {
		t.err = err
		t.notify()
	}
}

// subject is where the events of a run are published.
func subject(runID string) string { return "run." + runID }

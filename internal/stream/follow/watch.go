package follow

import (
	"context"
	"time"

	"github.com/pudu-ai/pudu/internal/bus"
	"github.com/pudu-ai/pudu/internal/store"
)

const (
	// perLook is how far apart looks at the store are, over all runs.
	perLook = 5 * time.Millisecond
	// patience is how many polls a run is left alone while its events come by another way.
	patience = 10
	// lookTimeout bounds a look.
	lookTimeout = 30 * time.Second
)

// startWatcher keeps the topic up to date until stopWatcher. t.mu is held.
func (t *topic) startWatcher() {
	ctx, cancel := context.WithCancel(t.hub.ctx)
	t.unwatch = cancel
	t.hub.working.Go(func() { t.watch(ctx) })
}

func (t *topic) stopWatcher() { t.unwatch() }

func (t *topic) watch(ctx context.Context) {
	t.hub.watched.Add(1)
	defer t.hub.watched.Add(-1)
	timer := time.NewTimer(t.hub.cfg.Poll)
	defer timer.Stop()
	var sub bus.Subscription
	defer func() {
		if sub != nil {
			sub.Close()
		}
	}()
	for {
		if sub == nil && t.hub.cfg.Bus != nil { // an error passes, or the bus is closed: then there is the log
			sub, _ = t.hub.cfg.Bus.Subscribe(subject(t.runID), t.hear)
		}
		again := t.renew()
		if t.due() {
			t.look(ctx)
		}
		timer.Reset(again)
		select {
		case <-ctx.Done():
			return
		case <-t.kick:
		case <-timer.C:
		}
	}
}

// lookNow has the watcher look at the store at once.
func (t *topic) lookNow() {
	t.force.Store(true)
	t.wakeWatcher()
}

func (t *topic) wakeWatcher() {
	select {
	case t.kick <- struct{}{}:
	default:
	}
}

// due reports whether it is time to look at the store.
func (t *topic) due() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.err != nil {
		return false
	}
	now := t.force.Swap(false)
	every := t.hub.cfg.Poll
	if t.feed != nil || time.Since(t.heard) < t.hub.cfg.Interest/2 {
		every *= patience
	}
	every = max(every, time.Duration(t.hub.watched.Load())*perLook)
	if !now && time.Since(t.looked) < every {
		return false
	}
	t.looked = time.Now()
	return true
}

// look reads the run's row, and what the memory lacks from the log. A failure is tried again at the next time.
func (t *topic) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	row, err := t.log().Run(ctx, t.runID)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil || row.Attempt < t.mem.attempt { // read before the run was taken over
		t.failIfGone(err)
		return
	}
	t.row, t.ownerName = row, row.Owner
	t.looks++
	if t.known && row.Attempt > 0 {
		t.newAttempt(row.Attempt)
		if t.feed != nil && (row.Active() || !t.whole) {
			return // an end that is committed is yet to be shown, with pieces before it that the log does not have
		}
		if !t.whole {
			err = t.fill(ctx, row)
		}
		if err != nil {
			t.failIfGone(err)
			return
		}
	}
	if !row.Active() {
		t.over = true
		t.mem.settleAll()
	}
	if t.over || !t.known {
		t.notify()
	}
}

// fill adds what the log has more than the memory. t.mu is held, and released while the log is read.
func (t *topic) fill(ctx context.Context, row store.Run) error {
	through := floorOf(row.Attempt, 0)
	if !row.Active() {
		through = theEnd
	}
	at := t.mem.lastID()
	for p := (&pages{log: t.log(), runID: t.runID, pos: at, after: at}); !p.done; {
		t.mu.Unlock()
		evs, err := p.next(ctx, through)
		t.mu.Lock()
		if err != nil {
			return err
		}
		for _, ev := range evs {
			t.newAttempt(ev.ID.Attempt)
			t.mem.add(ev)
		}
		if len(evs) > 0 {
			t.notify()
		}
	}
	return nil
}

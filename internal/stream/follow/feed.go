package follow

import (
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
)

// Feed takes the events of an attempt that this process executes. After a higher attempt has begun it does nothing.
type Feed struct {
	t       *topic
	attempt int
}

// Own begins the live feed of a run that this process executes as the attempt of its row. Close it when the attempt has
// ended.
func (h *Hub) Own(run store.Run) *Feed {
	runID, attempt := run.ID, run.Attempt
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listen()
	t := h.topics[runID]
	if t == nil {
		t = newTopic(h, access.FromRow(run.UserID), runID)
		h.topics[runID] = t
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f := &Feed{t: t, attempt: attempt}
	if attempt < t.mem.attempt || attempt == t.mem.attempt && t.feed != nil {
		return f // it was taken over already
	}
	t.mem.reset(floorOf(attempt, 0), attempt, nil)
	t.known, t.feed, t.looked, t.ownerName = true, f, time.Now(), h.cfg.Owner
	t.missing, t.over, t.whole = false, false, false
	t.notify()
	h.publish(runID, header{Attempt: attempt, From: h.cfg.Owner, Begins: true}, nil)
	return f
}

// Show takes the next event, in order of the ids: a live one when it happens, a durable one after its commit. It waits
// for nobody. The event's data must not be changed any more.
func (f *Feed) Show(ev event.Event) {
	t := f.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.feed != f {
		return
	}
	t.mem.add(ev)
	if d, ok := ev.Data.(event.Run); ok && ends(d) {
		t.whole = true
	}
	t.notify()
}

// Close ends the feed. If the run is not at its end, what the attempt has not committed is void. A second call does
// nothing.
func (f *Feed) Close() {
	t := f.t
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.feed != f {
		t.hub.drop(t)
		return
	}
	t.feed = nil
	if t.mem.first > 0 {
		t.mem.reset(floorOf(t.mem.attempt, t.mem.last), t.mem.attempt, nil)
	}
	if !t.whole {
		t.lookNow()
	}
	t.notify()
	if t.pub == nil {
		t.hub.publish(t.runID, header{Attempt: f.attempt, From: t.hub.cfg.Owner, Has: t.mem.last, After: t.mem.last,
			Over: true}, nil)
	}
	t.hub.drop(t)
}

package follow

import (
	"encoding/json"
	"time"

	"github.com/pudu-ai/pudu/event"
)

// replayEvery is how often an owner is asked to publish something again.
const replayEvery = 50 * time.Millisecond

// hear takes what is published of a run.
func (t *topic) hear(data []byte) {
	h, raw, err := cutHeader(data)
	if err != nil {
		t.lookNow()
		return
	}
	if h.From == t.hub.cfg.Owner {
		return
	}
	evs, err := decodeEvents(raw)
	if err != nil {
		t.lookNow()
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || h.Attempt < t.mem.attempt || h.Attempt == t.mem.attempt && t.feed != nil {
		return
	}
	t.mirror(h, evs)
	if h.Over {
		t.lookNow()
	}
}

// mirror adds what the owner published, if nothing is missing before it. t.mu is held.
func (t *topic) mirror(h header, evs []event.Event) {
	begun := h.Begins || h.Attempt > t.mem.attempt // of a row that was read before, the attempt is known already
	t.newAttempt(h.Attempt)
	t.ownerName, t.ownerHas = h.From, h.Has
	if begun && !h.Over {
		t.ask()
	}
	switch {
	case !t.known, h.After > t.mem.last && h.Has > t.mem.last, t.back && t.missing && h.After < t.mem.floorN():
		t.mem.reset(floorOf(h.Attempt, h.After), h.Attempt, h.Open)
		t.known, t.missing = true, false
	case h.After > t.mem.last:
		t.miss(t.mem.lastID(), false)
		return
	}
	t.heard = time.Now()
	for _, ev := range evs {
		t.mem.add(ev)
	}
	if !t.back {
		t.missing = false
	}
	t.notify()
}

// miss has the owner publish again what comes after a position, if it can. back says that this is before the floor.
// t.mu is held.
func (t *topic) miss(after event.ID, back bool) {
	if t.feed != nil || after.Attempt != t.mem.attempt || after.N < t.ownerHas {
		return
	}
	if t.missing && t.missed <= after.N && t.back == back {
		return // it is asked for
	}
	t.missing, t.missed, t.back = true, after.N, back
	t.wakeWatcher()
}

// renew asks the owner to go on publishing, or again for what is still missing, and returns after what time to do so
// again.
func (t *topic) renew() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.feed != nil || t.over || t.row.Attempt+t.mem.attempt == 0 || t.hub.cfg.Bus == nil {
		return t.hub.cfg.Poll
	}
	every := t.hub.cfg.Interest / 3
	if t.missing {
		every = replayEvery
	}
	if time.Since(t.asked) >= every {
		t.ask()
	}
	return min(t.hub.cfg.Poll, every)
}

// ask sends the request. t.mu is held.
func (t *topic) ask() {
	if t.hub.cfg.Bus == nil || t.ownerName == "" || t.ownerName == t.hub.cfg.Owner {
		return
	}
	t.asked = time.Now()
	a := ask{Run: t.runID, Attempt: t.mem.attempt, Again: t.missing}
	if t.missing {
		a.After = t.missed
	}
	data, err := json.Marshal(a)
	if err == nil {
		t.hub.cfg.Bus.Publish(askSubject(t.ownerName), data)
	}
}

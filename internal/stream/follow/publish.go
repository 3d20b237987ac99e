package follow

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/pudu-ai/pudu/event"
)

const (
	// coalesce is how long events wait for others before they are published.
	coalesce = 5 * time.Millisecond
	// batchBytes is how large a message becomes before another is begun.
	batchBytes = 64 << 10
	// maxEvent bounds an event that is published. Larger ones are left to the log.
	maxEvent = 512 << 10
)

// publisher brings a run's events to followers in other processes, as long as they ask. It is a reader of the memory.
type publisher struct {
	reader // all of it is guarded by the topic's lock

	feed   *Feed
	until  time.Time // nobody is interested any more
	answer bool      // something is to be said even if there are no events
	over   bool      // it was said that the attempt is over
	has    int64     // behind it nothing was left to the log
}

// listen takes the requests of other processes. h.mu is held.
func (h *Hub) listen() {
	// an error passes, or the bus is closed: followers have the log
	if h.cfg.Bus != nil && h.asks == nil && h.ctx.Err() == nil {
		h.asks, _ = h.cfg.Bus.Subscribe(askSubject(h.cfg.Owner), h.answer)
	}
}

// answer publishes a run for who asks.
func (h *Hub) answer(data []byte) {
	var a ask
	if json.Unmarshal(data, &a) != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[a.Run]
	if t == nil || h.ctx.Err() != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.feed == nil {
		return
	}
	p := t.pub
	if p == nil || p.feed != t.feed {
		p = &publisher{feed: t.feed}
		p.wake, p.pos = make(chan struct{}, 1), t.mem.settledID()
		t.pub = p
		h.working.Go(func() { t.publish(p) })
	}
	p.until, p.answer = time.Now().Add(h.cfg.Interest), true
	if pos := (event.ID{Attempt: a.Attempt, N: a.After}); a.Again && pos.Attempt == t.mem.attempt &&
		pos.Compare(p.pos) < 0 {
		p.pos = pos
	}
	wakeAll([]*reader{&p.reader})
}

// publish works until nobody is interested, or the feed has ended and everything is said.
func (t *topic) publish(p *publisher) {
	for {
		h, evs, do := t.toPublish(p)
		switch do {
		case stop:
			return
		case idle:
			if !t.hub.sleep(t.hub.cfg.Interest, p.wake) {
				return
			}
		case say:
			p.publish(t, h, evs)
		}
		if do == say && (h.Over || len(evs) == batchSize) {
			continue
		}
		if !t.hub.sleep(coalesce, nil) {
			return
		}
	}
}

// sleep returns after a time or a wake-up; false means that the hub is closed.
func (h *Hub) sleep(d time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-h.ctx.Done():
		return false
	}
	return true
}

type doing int

const (
	stop doing = iota // nobody is interested any more, or everything is said
	idle              // wait for more
	say               // publish the events; there may be none
)

// toPublish takes the next events. With the last message comes that the attempt is over.
func (t *topic) toPublish(p *publisher) (header, []event.Event, doing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pub != p || t.mem.attempt != p.feed.attempt {
		return t.unpublish(p)
	}
	if p.pos.Compare(t.mem.floor) < 0 {
		p.pos = t.mem.floor
	}
	h := header{Attempt: t.mem.attempt, From: t.hub.cfg.Owner, Has: max(p.has, t.mem.floorN()),
		Open: maps.Clone(t.mem.open)}
	if p.pos.Attempt == h.Attempt {
		h.After = p.pos.N
	}
	evs := t.mem.after(p.pos, batchSize)
	switch {
	case len(evs) > 0:
		p.pos = evs[len(evs)-1].ID
	case p.over:
		return t.unpublish(p)
	case t.feed != p.feed:
		h.Over, p.over = true, true
	case p.answer:
	case time.Now().After(p.until):
		return t.unpublish(p)
	default:
		t.wait(&p.reader)
		return h, nil, idle
	}
	p.answer = false
	return h, evs, say
}

// unpublish ends a publisher. t.mu is held.
func (t *topic) unpublish(p *publisher) (header, []event.Event, doing) {
	t.forget(&p.reader)
	if t.pub == p {
		t.pub = nil
	}
	return header{}, nil, stop
}

// publish sends events in messages that are not too large.
func (p *publisher) publish(t *topic, h header, evs []event.Event) {
	var b []byte
	flush := func(after int64) {
		t.hub.publish(t.runID, h, b)
		h.After, b = after, nil
	}
	for _, ev := range evs {
		one, err := ev.AppendJSON(nil)
		if err != nil || len(one) > maxEvent {
			if b != nil {
				flush(0)
			}
			h.After, h.Has, p.has = ev.ID.N, ev.ID.N, ev.ID.N
			continue
		}
		b = append(append(b, ','), one...)
		if len(b) > batchBytes {
			flush(ev.ID.N)
		}
	}
	if b != nil || len(evs) == 0 {
		flush(0)
	}
}

// publish sends one message about a run. The events are JSON, each behind a comma.
func (h *Hub) publish(runID string, head header, events []byte) {
	if h.cfg.Bus == nil {
		return
	}
	b, err := head.begin()
	if err != nil {
		return // strings and numbers have no bad form
	}
	if len(events) > 0 {
		events[0] = '['
		b = append(append(b, events...), ']')
	}
	h.cfg.Bus.Publish(subject(runID), b)
}

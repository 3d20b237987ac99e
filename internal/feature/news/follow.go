package news

import (
	"context"
	"time"
)

const (
	// first is how many changes a reader gets who has seen none.
	first = 200
	// page is how many are read at once.
	page = 500
	// recount is how often counts are read at most: they go through all threads that ask for a look.
	recount = 500 * time.Millisecond
)

// Why a reader has to begin anew: it may have missed that threads were deleted.
const (
	ResetTooOld  = "too old"    // what it has seen is from longer ago than [Keep]
	ResetUnknown = "unknown id" // what it has seen is not of this database, such as of one before it was restored
)

// Look is what a reader is shown at once.
type Look struct {
	// Reset says that Changes are the newest and that others may be missing: read the list of threads again.
	Reset   string
	Changes []Change
	// Counts are there when they are others than before.
	Counts *Counts
	// Notice is shown once and is not kept.
	Notice string
}

// Follow shows what changes on the user's threads after a number, oldest first, until ctx ends or show fails, whose
// error it returns. With 0 it begins with the newest changes. Each change of a thread is shown, or a later one of the
// same; where processes share a store one may be shown twice to a reader that comes back. [ErrReaders] if the user has
// too many streams.
func (m *Mine) Follow(ctx context.Context, after int64, show func(Look) error) error {
	r, err := m.hub.enter(m.user)
	if err != nil {
		return err
	}
	defer m.hub.leave(m.user, r)
	w := &way{Mine: m, shown: make(map[string]int64)}
	next, err := w.begin(ctx, after)
	for err == nil {
		if next.Reset != "" || len(next.Changes) > 0 || next.Counts != nil || next.Notice != "" {
			err = show(next)
		}
		if err == nil {
			next, err = w.more(ctx, r)
		}
	}
	return err
}

// way is where a reader stands.
type way struct {
	*Mine

	at     int64 // all up to here was shown, as far as it was stored
	behind bool  // there is more than what was read
	shown  map[string]int64

	counts  *Counts
	counted time.Time
	changed bool // there were changes since then
}

// begin finds the first changes to show.
func (w *way) begin(ctx context.Context, after int64) (l Look, err error) {
	last, err := w.nth(ctx, 0)
	if err != nil {
		return l, err
	}
	switch {
	case after <= 0:
	case after > last:
		l.Reset = ResetUnknown
	case after < w.hub.cfg.Now().Add(-Keep).UnixMicro():
		l.Reset = ResetTooOld
	default:
		w.at = after
		return w.look(ctx)
	}
	if w.at, err = w.nth(ctx, first); err != nil {
		return l, err
	}
	reset := l.Reset
	l, err = w.look(ctx)
	l.Reset = reset
	return l, err
}

// more waits for something new.
func (w *way) more(ctx context.Context, r *reader) (Look, error) {
	if w.behind {
		return w.look(ctx)
	}
	wait := look
	if w.changed {
		wait = time.Until(w.counted.Add(recount))
	}
	self := time.NewTimer(wait)
	defer self.Stop()
	select {
	case <-ctx.Done():
		return Look{}, context.Cause(ctx)
	case what := <-r.notice: // it looks too: else notices that come often would keep it from that
		l, err := w.look(ctx)
		l.Notice = what
		return l, err
	case <-self.C:
	case <-r.woken:
		select {
		case <-ctx.Done():
			return Look{}, context.Cause(ctx)
		case <-time.After(settle):
		}
	}
	return w.look(ctx)
}

// look reads what is new, about a page of it.
func (w *way) look(ctx context.Context) (l Look, err error) {
	from := w.at - w.hub.late // what was given a number before may have been stored behind it
	for w.behind = true; w.behind && len(l.Changes) < page; {
		list, err := w.changes(ctx, from, page)
		if err != nil {
			return l, err
		}
		for _, c := range list {
			from = c.Number
			if w.shown[c.Thread] < c.Number {
				l.Changes = append(l.Changes, c)
				w.note(c)
			}
		}
		w.behind = len(list) == page
	}
	w.forget()
	w.changed = w.changed || len(l.Changes) > 0 || w.counts == nil
	if w.changed && time.Since(w.counted) >= recount {
		err = w.count(ctx, &l)
	}
	return l, err
}

func (w *way) count(ctx context.Context, l *Look) error {
	counts, err := w.Counts(ctx)
	if err != nil {
		return err
	}
	if w.counts == nil || *w.counts != counts {
		w.counts, l.Counts = &counts, &counts
	}
	w.counted, w.changed = time.Now(), false
	return nil
}

// note remembers what is shown as long as it may be read again.
func (w *way) note(c Change) {
	w.at = max(w.at, c.Number)
	if w.hub.late > 0 {
		w.shown[c.Thread] = c.Number
	}
}

func (w *way) forget() {
	for thread, number := range w.shown {
		if number <= w.at-w.hub.late {
			delete(w.shown, thread)
		}
	}
}

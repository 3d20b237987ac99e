package follow

import (
	"context"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

// reader is one who follows a run: a position.
type reader struct {
	pos   event.ID
	yield func([]event.Event) error
	// through is up to where the reader has read the log. Behind pos there may be events that were shown and are gone.
	through event.ID
	// look is the look of the topic after which the log was read last while nothing is in memory; read says that
	// something was there.
	look int
	read bool

	wake chan struct{} // has room for one
	turn int           // see topic.turn; the topic's lock guards it
}

// task is what a reader does next: yield events, read the log, or end. The zero task is to wait.
type task struct {
	events  []event.Event
	log     bool
	through event.ID
	done    bool
	run     store.Run
	err     error
}

// serve does one task of a reader. done says that the run is at its end.
func (t *topic) serve(ctx context.Context, r *reader) (run store.Run, done bool, err error) {
	if ctx.Err() != nil {
		return store.Run{}, true, context.Cause(ctx)
	}
	switch do := t.next(r); {
	case do.err != nil || do.done:
		return do.run, do.done, do.err
	case len(do.events) > 0:
		return store.Run{}, false, r.pass(do.events)
	case do.log:
		if err := r.readLog(ctx, t.log(), t.runID, do.through); err != nil {
			return store.Run{}, true, err
		}
		t.seed(r)
		return store.Run{}, false, nil
	}
	select {
	case <-r.wake:
		return store.Run{}, false, nil
	case <-ctx.Done():
		return store.Run{}, true, context.Cause(ctx)
	case <-t.hub.ctx.Done():
		return store.Run{}, true, ErrClosed
	}
}

// pass yields events.
func (r *reader) pass(evs []event.Event) error {
	if err := r.yield(evs); err != nil {
		return err
	}
	r.pos = evs[len(evs)-1].ID
	return nil
}

// readLog yields what the log has behind the position and is complete. At its end everything up to through is.
func (r *reader) readLog(ctx context.Context, log store.UserData, runID string, through event.ID) error {
	for p := (&pages{log: log, runID: runID, pos: r.pos, after: r.pos}); !p.done; {
		evs, err := p.next(ctx, through)
		if err != nil {
			return err
		}
		for len(evs) > 0 {
			n := min(len(evs), batchSize)
			if err := r.pass(evs[:n:n]); err != nil {
				return err
			}
			evs, r.read = evs[n:], true
		}
	}
	r.through = through
	if through != theEnd && through.Compare(r.pos) > 0 {
		r.pos = through
	}
	return nil
}

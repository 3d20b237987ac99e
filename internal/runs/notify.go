package runs

import (
	"context"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/store"
)

const (
	// notifyTries is how often a webhook is called before it is given up, notifyWait the wait before the second time,
	// which doubles.
	notifyTries = 5
	notifyWait  = 2 * time.Second
	// notifyLimit bounds one call, and notifyOrphans is how long after a run's end another process than its owner calls.
	notifyLimit   = 15 * time.Second
	notifyOrphans = time.Minute
	// notifyAtOnce bounds the webhooks that are called side by side.
	notifyAtOnce = 8
)

// notify calls the webhooks of runs that have ended, until ctx ends.
func (m *Manager) notify(ctx context.Context) {
	if m.cfg.Notify == nil {
		return
	}
	n := &notifier{m: m, tries: make(map[string]*tries), slots: make(chan struct{}, notifyAtOnce)}
	defer n.begun.Wait()
	tick := time.NewTicker(store.Beat)
	defer tick.Stop()
	for {
		n.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

type notifier struct {
	m     *Manager
	slots chan struct{}
	begun sync.WaitGroup

	mu    sync.Mutex
	tries map[string]*tries // by run
}

// tries is what became of the calls for one run so far.
type tries struct {
	n     int
	next  time.Time
	under bool // way
}

func (n *notifier) look(ctx context.Context) {
	list, err := n.m.cfg.Store.Unnotified(ctx, 100)
	if err != nil {
		if ctx.Err() == nil {
			n.m.cfg.Log.Warn("cannot look for webhooks to call", "error", err)
		}
		return
	}
	for _, run := range list {
		if run.Owner != n.m.cfg.Owner && n.m.cfg.Now().Sub(run.UpdatedAt) < notifyOrphans || !n.begin(run.ID) {
			continue
		}
		select {
		case n.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		n.begun.Go(func() {
			defer func() { <-n.slots }()
			n.call(ctx, run)
		})
	}
}

// begin reports whether it is time to call for a run, and notes that it is done.
func (n *notifier) begin(runID string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.tries[runID]
	if t == nil {
		t = &tries{}
		n.tries[runID] = t
	}
	if t.under || n.m.cfg.Now().Before(t.next) {
		return false
	}
	t.under = true
	return true
}

func (n *notifier) call(ctx context.Context, run store.Run) {
	callCtx, cancel := context.WithTimeout(ctx, notifyLimit)
	err := n.m.cfg.Notify(callCtx, run)
	cancel()
	if ctx.Err() != nil {
		return // the next process calls
	}
	log := n.m.cfg.Log.With("run", run.ID)
	n.mu.Lock()
	t := n.tries[run.ID]
	t.under = false
	t.n++
	t.next = n.m.cfg.Now().Add(notifyWait << t.n)
	last := t.n >= notifyTries
	if err == nil || last {
		delete(n.tries, run.ID)
	}
	n.mu.Unlock()
	switch {
	case err != nil && !last:
		log.Warn("the webhook failed and is called again", "error", err)
		return
	case err != nil:
		log.Error("the webhook failed and is given up", "error", err)
	}
	if err := n.m.cfg.Store.Notified(ctx, run.ID); err != nil {
		log.Warn("cannot note that the webhook was called", "error", err)
	}
}

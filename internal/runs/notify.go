package runs

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
)

const (
	// notifyTries is how often a webhook is called before it is given up, notifyWait the wait before the second time,
	// which doubles.
	notifyTries = 5
	notifyWait  = 2 * time.Second
	// notifyLimit bounds one call, and notifyOrphans is how long after a run's end another process than its owner
	// calls.
	notifyLimit   = 15 * time.Second
	notifyOrphans = time.Minute
	// notifyAtOnce bounds the webhooks that are called side by side.
	notifyAtOnce = 8
	// deleteAfter is how long a thread that goes with its run's end stays for those who still read it.
	deleteAfter = 5 * time.Second
)

// notify calls the webhooks of runs that have ended, and removes the threads that go with them, until ctx ends.
func (m *Manager) notify(ctx context.Context) {
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
	list, err := n.m.system().Unnotified(ctx, 500)
	if err != nil {
		if ctx.Err() == nil {
			n.m.cfg.Log.Warn("cannot look for webhooks to call", "error", err)
		}
		return
	}
	for _, run := range list {
		var req Request
		_ = json.Unmarshal(run.Request, &req) // it was read to execute the run
		if wait := n.wait(run, req); wait > 0 && n.m.cfg.Now().Sub(run.UpdatedAt) < wait || !n.begin(run.ID) {
			continue
		}
		select {
		case n.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		n.begun.Go(func() {
			defer func() { <-n.slots }()
			n.call(ctx, run, req)
		})
	}
}

// wait is how long after its end a run is left alone.
func (n *notifier) wait(run store.Run, req Request) time.Duration {
	switch {
	case run.Owner != n.m.cfg.Owner:
		return notifyOrphans
	case req.OnCompletion == DeleteThread:
		return deleteAfter
	}
	return 0
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

// call does what is to be done for a run, and notes it when nothing is left.
func (n *notifier) call(ctx context.Context, run store.Run, req Request) {
	log := n.m.cfg.Log.With("run", run.ID)
	if req.WebhookDropped {
		log.Warn("the webhook of a run from a backup is not called: backups leave webhooks out")
	}
	err := n.tell(ctx, run, req)
	switch {
	case ctx.Err() != nil:
		return // the next process calls
	case err != nil && n.again(run.ID):
		log.Warn("the webhook failed and is called again", "error", err)
		return
	case err != nil:
		log.Error("the webhook failed and is given up", "error", err)
	}
	if req.OnCompletion == DeleteThread && n.m.cfg.Delete != nil {
		if err := n.m.cfg.Delete(ctx, access.FromRow(run.UserID), run.ThreadID); err != nil && !errors.Is(err, store.ErrNotFound) {
			log.Warn("the thread of a finished run was not deleted", "thread", run.ThreadID, "error", err)
		}
	}
	if err := n.m.system().Notified(ctx, run.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
		log.Warn("cannot note that the webhook was called", "error", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.tries, run.ID) // not before the store knows: a look in between would begin anew
}

// tell calls the webhook, if there is one.
func (n *notifier) tell(ctx context.Context, run store.Run, req Request) error {
	if req.Webhook == "" || n.m.cfg.Notify == nil {
		return nil
	}
	if _, err := n.m.Webhook(run, req); err != nil { // which no later try changes
		n.m.cfg.Log.Error("the webhook of a run is dropped", "run", run.ID, "error", err)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, notifyLimit)
	defer cancel()
	return n.m.cfg.Notify(ctx, run)
}

// Webhook is the URL that is told of the end of a run with this request; empty if there is none.
func (m *Manager) Webhook(run store.Run, req Request) (string, error) {
	if req.Webhook == "" || m.cfg.Unseal == nil {
		return req.Webhook, nil
	}
	return m.cfg.Unseal(access.FromRow(run.UserID), req.Webhook)
}

// again has a run wait for its next call; false means that there were enough.
func (n *notifier) again(runID string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.tries[runID]
	if t.n++; t.n >= notifyTries {
		return false
	}
	t.under, t.next = false, n.m.cfg.Now().Add(notifyWait<<(t.n-1))
	return true
}

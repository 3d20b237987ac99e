package runs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/bus"
	"github.com/pudu-ai/pudu/internal/store"
)

// ErrStopped is the cause with which a run ends here because its process stops: the run itself is unfinished, and the
// next process goes on with it.
var ErrStopped = errors.New("the server stops")

// live is a run that is executed here.
type live struct {
	rec    *recorder
	cancel context.CancelCauseFunc
	base   *store.Checkpoint // what the run began on, once that is known and if it began here
}

// enter makes the run one of the active ones; leave ends that.
func (m *Manager) enter(ctx context.Context, run store.Run, rec *recorder) (_ context.Context, leave func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	l := &live{rec: rec, cancel: cancel}
	m.mu.Lock()
	defer m.mu.Unlock()
	runID := run.ID
	m.active[runID] = l
	if m.stopped {
		rec.detach(ErrStopped)
		cancel(ErrStopped)
	}
	return ctx, func() {
		cancel(nil)
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.active[runID] == l {
			delete(m.active, runID)
		}
	}
}

// Active reports whether the run is executed here.
func (m *Manager) Active(runID string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.active[runID] != nil
}

// Stop leaves every run that is executed here unfinished, for another process to go on with, and lets none begin.
// Their Execute returns [ErrStopped].
func (m *Manager) Stop() {
	if left := m.detach(ErrStopped, nil); left > 0 {
		m.cfg.Log.Info("stopping: the runs under way are left for another process or the next start, and what they "+
			"are running is stopped", "runs", left)
	}
}

// detach stops runs without ending them, and says how many: first nothing more is written of any of them, or one would
// record what it sees of another that stops, then their tools are stopped. pick chooses among the active ones; nil
// means all. Behind ErrStopped none begins any more.
func (m *Manager) detach(why error, pick func(*live) bool) int {
	m.mu.Lock()
	m.stopped = m.stopped || errors.Is(why, ErrStopped)
	var picked []*live
	for _, l := range m.active {
		if pick == nil || pick(l) {
			l.rec.detach(why)
			picked = append(picked, l)
		}
	}
	m.mu.Unlock()
	for _, l := range picked {
		l.cancel(why)
	}
	return len(picked)
}

// KeepLease takes this process's lease and renews it until release is called, which gives it up. Runs that it turns out
// to have lost to others are stopped here; so are all, if the lease could not be renewed for its whole length. Who
// executes runs on a store that processes share does so under a lease.
func (m *Manager) KeepLease(ctx context.Context) (release func(), err error) {
	if err := m.renew(ctx); err != nil {
		return nil, fmt.Errorf("take lease: %w", err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var kept sync.WaitGroup
	kept.Go(func() { m.keepLease(ctx) })
	return func() {
		stop()
		kept.Wait()
	}, nil
}

func (m *Manager) keepLease(ctx context.Context) {
	tick := time.NewTicker(store.Beat)
	defer tick.Stop()
	for renewed := time.Now(); ; {
		select {
		case <-ctx.Done():
			m.releaseLease(ctx)
			return
		case <-tick.C:
		}
		asked := time.Now() // the lease is at least as long from here
		if err := m.renew(ctx); err == nil {
			renewed = asked
			m.stopMine(ctx)
		} else if time.Since(renewed) > store.Lease-store.Beat/2 {
			m.cfg.Log.Error("the lease could not be renewed: the runs are left to others", "error", err)
			why := fmt.Errorf("%w: the lease could not be renewed: %w", store.ErrFenced, err)
			m.detach(why, nil)
			m.cfg.LeaseLost(why)
		}
	}
}

func (m *Manager) releaseLease(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), store.Beat)
	defer cancel()
	if err := m.system().Release(ctx, m.cfg.Owner); err != nil {
		m.cfg.Log.Warn("the lease was not given up; it runs out by itself", "error", err)
	}
}

// renew renews the lease. If it had lapsed, the runs that others have claimed since are stopped.
func (m *Manager) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*store.Beat)
	defer cancel()
	lapsed, err := m.system().Renew(ctx, m.cfg.Owner)
	if err != nil || !lapsed {
		return err
	}
	m.cfg.Log.Warn("the lease had lapsed: this process was held up")
	m.cfg.LeaseLost(store.ErrFenced)
	claimed := m.claimed(ctx)
	m.detach(store.ErrFenced, func(l *live) bool { return slices.Contains(claimed, l) })
	return nil
}

// claimed lists the active runs that others have claimed, also those of which that cannot be known.
func (m *Manager) claimed(ctx context.Context) (list []*live) {
	m.mu.Lock()
	active := slices.Collect(maps.Values(m.active))
	m.mu.Unlock()
	for _, l := range active {
		run, err := m.system().Run(ctx, l.rec.fence.RunID)
		if err != nil || run.Attempt != l.rec.fence.Attempt {
			list = append(list, l)
		}
	}
	return list
}

// Unfinished lists runs that nobody executes: those whose owner is gone, the oldest first, at most 1000.
func (m *Manager) Unfinished(ctx context.Context) ([]store.Run, error) {
	return m.system().Abandoned(ctx, m.cfg.Owner, 1000)
}

// Subjects on which the processes that share a store wake each other.
const (
	subjectQueue = "queue" // a run waits
	subjectStop  = "stop"  // a run is asked to stop
	subjectWords = "words" // somebody speaks to the run on the thread that the message names
)

// look is what Serve is to look for.
type look uint32

const (
	lookStops look = 1 << iota // runs that are asked to stop
	lookQueue                  // runs that wait
	lookLeft                   // runs that nobody executes

	lookAll = lookStops | lookQueue | lookLeft
)

// Wake has [Manager.Serve] look for work at once.
func (m *Manager) Wake() { m.wakeFor(lookAll) }

func (m *Manager) wakeFor(what look) {
	m.looks.Or(uint32(what))
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// heard has Serve look for what a subject is about.
func (m *Manager) heard(subject string) {
	if subject == subjectStop {
		m.wakeFor(lookStops)
		return
	}
	m.queued.Add(1)
	m.wakeFor(lookQueue)
}

// tell wakes this process and the others.
func (m *Manager) tell(subject string) {
	m.heard(subject)
	if m.cfg.Bus != nil {
		m.cfg.Bus.Publish(subject, nil)
	}
}

// roomForNext wakes Serve for the run that may be next, now that one has ended. Mostly none waits, which is known.
func (m *Manager) roomForNext() {
	if m.queued.Load() != m.queueEmpty.Load() {
		m.wakeFor(lookQueue)
	}
}

// Serve executes the runs that wait and resumes those that nobody executes, now and whenever a process is found dead;
// it stops runs that are asked to stop here. When ctx ends it stops all runs and waits for
// those that were begun. It needs the lease ([Manager.KeepLease]). show says who hears of a run beside its feed; nil is
// nobody.
func (m *Manager) Serve(ctx context.Context, show func(store.Run) func(event.Event)) {
	defer m.background.Wait()
	defer m.Stop()
	defer m.listen()()
	if show == nil {
		show = func(store.Run) func(event.Event) { return nil }
	}
	tick := time.NewTicker(store.Beat)
	defer tick.Stop()
	for what := lookAll; ; {
		if err := m.serve(ctx, what, show); err != nil && ctx.Err() == nil {
			m.cfg.Log.Warn("cannot look for runs", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			what = lookAll
		case <-m.wake:
			what = look(m.looks.Swap(0))
		}
	}
}

// serve does what Serve finds to do.
func (m *Manager) serve(ctx context.Context, what look, show func(store.Run) func(event.Event)) error {
	var errs []error
	if what&lookStops != 0 {
		errs = append(errs, m.stopAsked(ctx))
	}
	if what&lookLeft != 0 {
		errs = append(errs, m.resumeLeft(ctx, show), m.lookAtQueue(ctx))
	}
	if what&lookQueue != 0 && m.queued.Load() != m.queueEmpty.Load() {
		errs = append(errs, m.startWaiting(ctx, show))
	}
	return errors.Join(errs...)
}

// lookAtQueue finds out whether any run waits, also one whose turn has not come.
func (m *Manager) lookAtQueue(ctx context.Context) error {
	known, most := m.queued.Load(), 1 // a run that begins to wait from here on makes it more
	if m.hearing() {
		most = 1000
	}
	list, err := m.system().ListRuns(ctx, store.RunFilter{Statuses: []string{event.StatusPending}, Steers: true,
		Limit: most})
	for _, run := range list {
		if run.IsSteer() { // what the bus has lost
			m.spoken(run.ThreadID)
		}
	}
	switch {
	case err != nil:
		return err
	case len(list) > 0:
		m.queued.Add(1)
	default:
		m.queueEmpty.Store(known)
	}
	return nil
}

// listen wakes Serve when another process says so.
func (m *Manager) listen() (stop func()) {
	if m.cfg.Bus == nil {
		return func() {}
	}
	var subs []bus.Subscription
	for _, subject := range []string{subjectQueue, subjectStop, subjectWords} {
		s, err := m.cfg.Bus.Subscribe(subject, func(data []byte) {
			if subject == subjectWords {
				m.spoken(string(data))
				return
			}
			m.heard(subject)
		})
		if err != nil {
			m.cfg.Log.Warn("cannot listen on the bus; work is looked for once a second", "error", err)
			continue
		}
		subs = append(subs, s)
	}
	return func() {
		for _, s := range subs {
			s.Close()
		}
	}
}

// resumeLeft resumes what others have left, as far as there is place.
func (m *Manager) resumeLeft(ctx context.Context, show func(store.Run) func(event.Event)) error {
	list, err := m.unfinished(ctx)
	for _, run := range list {
		if m.Active(run.ID) || !m.take() {
			continue
		}
		m.background.Go(func() {
			p := &place{m: m, held: true}
			defer p.drop()
			m.goOn(context.WithoutCancel(ctx), run, show(run), p)
		})
	}
	return err
}

// startWaiting executes the runs that wait, as far as there is place.
func (m *Manager) startWaiting(ctx context.Context, show func(store.Run) func(event.Event)) error {
	for m.take() {
		list, err := m.system().Waiting(ctx, m.cfg.Now(), 1)
		if err != nil || len(list) == 0 {
			m.giveBack()
			return err
		}
		run, err := m.claim(ctx, list[0])
		if err != nil {
			m.giveBack()
			if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
				continue // another process was faster
			}
			return err
		}
		m.background.Go(func() { m.perform(run, m.audience(run, show(run))) })
	}
	return nil
}

// unfinished lists what Serve resumes: the runs that others have left, and those that this process has lost.
func (m *Manager) unfinished(ctx context.Context) ([]store.Run, error) {
	list, err := m.Unfinished(ctx)
	for _, id := range m.due() {
		run, errRun := m.system().Run(ctx, id)
		switch {
		case errRun == nil && run.Active() && run.Owner == m.cfg.Owner:
			list = append(list, run)
		case errRun == nil, errors.Is(errRun, store.ErrNotFound):
			m.found(id)
		default:
			return list, errors.Join(err, errRun)
		}
	}
	return list, err
}

// loss is a run that this process has lost: a write failed, as on a full disk. It is taken up again after a while that
// doubles, since each time the model is asked anew.
type loss struct {
	next time.Time
	wait time.Duration
}

const longestWait = time.Minute

// lose remembers a run that is still this process's and no longer executed, for Serve to take up again.
func (m *Manager) lose(run store.Run, why error) {
	if errors.Is(why, ErrStopped) || run.Parent != "" { // who executes its parent goes on with a child
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.lost[run.ID]
	l.wait = min(max(2*l.wait, store.Beat), longestWait)
	l.next = time.Now().Add(l.wait)
	m.lost[run.ID] = l
}

// found forgets a loss: the run is at its end, or another's.
func (m *Manager) found(runID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.lost, runID)
}

// due lists the lost runs whose time has come.
func (m *Manager) due() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []string
	for id, l := range m.lost {
		if m.active[id] == nil && !time.Now().Before(l.next) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (m *Manager) goOn(ctx context.Context, run store.Run, show func(event.Event), p *place) {
	log := m.cfg.Log.With("run", run.ID, "thread", run.ThreadID)
	log.Info("going on with an unfinished run", "attempt", run.Attempt+1, "left by", run.Owner)
	_, err := m.resume(ctx, run, show, p)
	if err != nil && !errors.Is(err, store.ErrConflict) { // a conflict: it is another's, or at its end
		log.Warn("run is left unfinished", "reason", err)
	}
}

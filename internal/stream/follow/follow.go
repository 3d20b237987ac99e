// Package follow is how every reader of a run gets its events: first from the log, then live, in order of their ids,
// each once. It stands between the run's owner, which shows what happens, and the streams, waits and joins of clients.
//
//	recorder -> Feed.Show -> memory of the run -> Follow -> reader         the run is executed by this process
//	              `-> publisher -> bus -> mirror -> Follow -> reader       it is executed by another
//	                       store's log ----------> Follow -> reader        what is past, or was lost on the way
//
// The memory (memory.go) holds what the log does not have yet: the chunks of a model call under way; and a short tail
// of what it has. A reader is nothing but a position: one that falls behind the memory reads the log until it has
// caught up. The log gives back the very chunks that were shown, cut out of the finished message (log.go).
//
// The bus only saves time. A mirror that misses something asks the owner to say it again, and whatever is not heard
// within a poll is read from the log; what the log cannot give yet, such as half a message, waits until it can.
package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/bus"
	"github.com/pudu-ai/pudu/internal/store"
)

// ErrClosed ends the readers of a hub that was closed.
var ErrClosed = errors.New("following runs has ended: this process stops")

// Store is where a hub reads what a user has. It is a store.Store.
type Store interface {
	For(u access.User) store.UserData
}

// Config is what a hub needs. Store is required.
type Config struct {
	Store Store
	// Bus joins the processes that share the store. Without one, what others execute is seen when the log is polled.
	Bus bus.Bus
	// Owner is the name of this process in the run rows. Required with a Bus.
	Owner string
	// Poll is how often a run that is followed is looked at in the store when nothing is heard of it; 0 means 1 s. With
	// many such runs it is less often: there are at most 200 looks a second.
	Poll time.Duration
	// Interest is how long the owner of a run keeps publishing after somebody has asked; 0 means 10 s.
	Interest time.Duration
	// MaxEvents and MaxBytes bound what is in memory of one run; 0 means 256 Ki events and 32 MiB. Readers who need
	// what was dropped wait until it is in the log.
	MaxEvents, MaxBytes int
	// TailEvents and TailBytes bound the part of it that is in the log, too; 0 means 1024 events and 256 KiB. The last
	// few events stay in any case.
	TailEvents, TailBytes int
}

func (c Config) withDefaults() Config {
	c.Poll = cmp.Or(c.Poll, time.Second)
	c.Interest = cmp.Or(c.Interest, 10*time.Second)
	c.MaxEvents = cmp.Or(c.MaxEvents, 256<<10)
	c.MaxBytes = cmp.Or(c.MaxBytes, 32<<20)
	c.TailEvents = cmp.Or(c.TailEvents, 1024)
	c.TailBytes = cmp.Or(c.TailBytes, 256<<10)
	return c
}

// Hub connects the runs of one process and their readers. Its methods may be called from any goroutine.
type Hub struct {
	cfg     Config
	ctx     context.Context // ends with Close
	stop    context.CancelFunc
	working sync.WaitGroup
	watched atomic.Int64 // the runs that have a watcher

	mu     sync.Mutex        // taken before that of a topic
	topics map[string]*topic // the runs that are executed or followed here, by id
	asks   bus.Subscription
}

// New makes a hub. Close it after everything that shows or follows has ended.
func New(cfg Config) *Hub {
	h := &Hub{cfg: cfg.withDefaults(), topics: make(map[string]*topic)}
	h.ctx, h.stop = context.WithCancel(context.Background())
	return h
}

// Close ends all following, with [ErrClosed], and what works for it. A second call does nothing.
func (h *Hub) Close() {
	h.mu.Lock()
	h.stop()
	asks := h.asks
	h.asks = nil
	h.mu.Unlock()
	if asks != nil {
		asks.Close()
	}
	h.working.Wait()
}

// Follow yields the events of a user's run after an id, durable and live ones, in order of their ids and each once,
// until the run is at its end; then it returns the run. The zero id is before all events. A run that waits is waited
// for.
//
// Live events of the past are gone, except the chunks of messages that are finished and were not withdrawn: these come
// as they came live, at the time of the message. Where their boundaries were dropped, [Gap] tells from the message.
//
// It ends early with the error of yield, with the cause of ctx, with [store.ErrNotFound] if there is no such run or it
// was deleted, or when the log cannot be read. The events must not be changed.
func (h *Hub) Follow(ctx context.Context, u access.User, runID string, after event.ID,
	yield func([]event.Event) error) (store.Run, error) {
	r := &reader{pos: after, wake: make(chan struct{}, 1), yield: yield}
	t, run, err := h.enter(ctx, u, runID)
	if err != nil {
		return store.Run{}, err
	}
	ctx = store.WithPatience(ctx, 0) // who follows already need not hear of a database that was away for a moment
	if t == nil {                    // the run is at its end
		if err := r.readLog(ctx, h.cfg.Store.For(u), runID, theEnd); err != nil {
			return store.Run{}, err
		}
		return run, nil
	}
	defer h.leave(t, r)
	for {
		run, done, err := t.serve(ctx, r)
		if done || err != nil {
			return run, err
		}
	}
}

// enter finds or makes the topic of a run and counts a reader in; nil if the run is at its end.
func (h *Hub) enter(ctx context.Context, u access.User, runID string) (*topic, store.Run, error) {
	if t, err := h.join(u, runID, nil); t != nil || err != nil { //nolint:contextcheck // what it starts serves later readers, too
		return t, store.Run{}, err
	}
	run, err := h.cfg.Store.For(u).Run(ctx, runID)
	if err != nil || !run.Active() {
		return nil, run, err
	}
	t, err := h.join(u, runID, &run) //nolint:contextcheck // as above
	return t, run, err
}

// join counts a reader in. Without a row it makes no topic.
func (h *Hub) join(u access.User, runID string, row *store.Run) (*topic, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return nil, ErrClosed
	}
	t := h.topics[runID]
	if t == nil {
		if row == nil {
			return nil, nil
		}
		t = newTopic(h, u, runID)
		t.row, t.ownerName, t.known = *row, row.Owner, row.Attempt == 0
		h.topics[runID] = t
	}
	if t.user != u {
		return nil, fmt.Errorf("follow run %q: %w", runID, store.ErrNotFound)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.readers++
	if t.readers == 1 {
		t.startWatcher()
	}
	return t, nil
}

// leave counts a reader out.
func (h *Hub) leave(t *topic, r *reader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(r)
	t.readers--
	if t.readers == 0 {
		t.stopWatcher()
	}
	h.drop(t)
}

// drop forgets a topic that nobody needs. Both locks are held.
func (h *Hub) drop(t *topic) {
	if t.readers == 0 && t.feed == nil && h.topics[t.runID] == t {
		delete(h.topics, t.runID)
	}
}

// Gap reports whether chunks before the event were not yielded because the log has their boundaries no more. The
// message itself is in the state's update.
func Gap(ev event.Event) bool {
	m, ok := ev.Data.(event.Message)
	return ok && m.First > 0 && len(m.Chunks) == 0
}

package news

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/bus"
	"github.com/pudu-ai/pudu/internal/database"
)

const (
	// subject is what the bus carries the ids of users with news by.
	subject = "news"
	// MaxReaders is how many streams of news a user may have at once: a browser needs one for all its tabs.
	MaxReaders = 64
	// settle is how long a reader waits after it was woken, so that what comes together is read together.
	settle = 50 * time.Millisecond
	// late is how long after its number was given a change may be stored, where several processes write: a statement
	// may take 30 seconds there, and their clocks differ.
	late = time.Minute
	// look is how often a reader looks by itself for what nobody told it of.
	look = 30 * time.Second
)

// ErrReaders refuses one more stream of a user who has as many as may be.
var ErrReaders = errors.New("too many streams of news are open; close some, or let the tabs of a browser share one")

// Config is what a hub works with. Only Store is required.
type Config struct {
	Store database.Store
	// Bus wakes the readers of other processes that share the store; nil means that there are no others.
	Bus bus.Bus
	// Shared says that other processes write too.
	Shared bool
	Log    *slog.Logger     // nil means none
	Now    func() time.Time // nil means time.Now
}

// Hub wakes who follows the news. Make one with [NewHub].
type Hub struct {
	cfg  Config
	late int64 // microseconds
	open atomic.Int64

	mu      sync.Mutex
	readers map[access.User]map[*reader]struct{}
}

// reader is one stream of a user.
type reader struct {
	woken  chan struct{} // has room for one
	notice chan string
}

// NewHub makes a hub. [Hub.Work] has to run for its readers to hear of changes at once.
func NewHub(c Config) *Hub {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hub{cfg: c, readers: make(map[access.User]map[*reader]struct{})}
	if c.Shared {
		h.late = late.Microseconds()
	}
	return h
}

// For are the news of a user.
func (h *Hub) For(u access.User) *Mine {
	return &Mine{hub: h, user: u, db: h.cfg.Store.Feature(Feature().Name).For(u)}
}

// Open is how many streams there are.
func (h *Hub) Open() int64 { return h.open.Load() }

// Work tells the readers of what this process changes, and of what others do, until ctx ends.
func (h *Hub) Work(ctx context.Context) {
	if h.cfg.Bus != nil {
		s, err := h.cfg.Bus.Subscribe(subject, func(user []byte) { h.wake(access.FromRow(string(user))) })
		if err != nil {
			h.cfg.Log.Warn("news of other processes come late: nothing is heard from the bus", "error", err)
		} else {
			defer s.Close()
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case u := <-h.cfg.Store.Changed():
			h.tell(u)
		}
	}
}

// tell wakes the readers of a user, here and in other processes.
func (h *Hub) tell(u access.User) {
	h.wake(u)
	if h.cfg.Bus != nil {
		h.cfg.Bus.Publish(subject, []byte(u.ID()))
	}
}

func (h *Hub) wake(u access.User) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for r := range h.readers[u] {
		signal(r.woken, struct{}{})
	}
}

// Notice shows everybody a notice, such as "models": it is not kept.
func (h *Hub) Notice(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, of := range h.readers {
		for r := range of {
			signal(r.notice, what)
		}
	}
}

func signal[T any](c chan T, v T) {
	select {
	case c <- v:
	default:
	}
}

func (h *Hub) enter(u access.User) (*reader, error) {
	r := &reader{woken: make(chan struct{}, 1), notice: make(chan string, 4)}
	h.mu.Lock()
	defer h.mu.Unlock()
	of := h.readers[u]
	if len(of) >= MaxReaders {
		return nil, ErrReaders
	}
	if of == nil {
		of = make(map[*reader]struct{})
		h.readers[u] = of
	}
	of[r] = struct{}{}
	h.open.Add(1)
	return r, nil
}

func (h *Hub) leave(u access.User, r *reader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if delete(h.readers[u], r); len(h.readers[u]) == 0 {
		delete(h.readers, u)
	}
	h.open.Add(-1)
}

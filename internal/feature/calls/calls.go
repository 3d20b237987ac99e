// Package calls keeps what each call of a model was sent, and tells it again, byte for byte.
//
// A request is a system prompt, tools and messages. Nearly all messages are in the thread's state, which the log keeps
// already, so what is kept of a call is how its request differs from them. It stands in the log, in the step of the
// answer: a call whose step was never committed has left nothing. System prompts and tools are kept once for a user, by
// their digests.
//
//	agent -> Notes.Note -> event.Call in the step's commit          keep.go: the parts, before the first step that names them
//	Calls.For(user) -> Timeline, Call <- scan.go: a run's log <- rebuild.go: the state before the step, and the difference
package calls

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Config is what calls are read and kept with.
type Config struct {
	// Schema is every channel that a state can have, and Messages reads the conversation out of one.
	Schema   state.Schema
	Messages func(state.State) []message.Message
	// Price is what a model's answer cost, by its configured name; nil knows no prices.
	Price func(model string, u message.Usage) (cost float64, currency string, ok bool)
	// Window is the size of a model's window in tokens, by its configured name, 0 if that is not known; nil knows none.
	Window func(model string) int
	// Log hears what keeps a part from being kept; nil discards.
	Log *slog.Logger
	Now func() time.Time
}

// Calls are everybody's.
type Calls struct {
	cfg   Config
	db    database.DB
	store store.Store

	mu    sync.Mutex
	known map[partKey]known
	sums  map[sumKey]sum // of runs that are at their end

}

// New makes the calls of a store.
func New(st database.Store, c Config) *Calls {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Price == nil {
		c.Price = func(string, message.Usage) (float64, string, bool) { return 0, "", false }
	}
	if c.Window == nil {
		c.Window = func(string) int { return 0 }
	}
	return &Calls{cfg: c, db: st.Feature(Feature().Name), store: st, sums: make(map[sumKey]sum)}
}

// For is what one user has.
func (c *Calls) For(u access.User) *Mine {
	return &Mine{all: c, user: u, db: c.db.For(u), data: c.store.For(u)}
}

// Mine are one user's calls.
type Mine struct {
	all  *Calls
	user access.User
	db   database.Bound
	data store.UserData
}

// Notes begins to note the calls of one attempt of a run.
func (m *Mine) Notes() *Notes {
	return &Notes{keep: m.keep, inlined: make(map[string]bool)}
}

// keep keeps what a call has in common with others and returns its name. What cannot be kept is missing when somebody
// looks; the run goes on.
func (m *Mine) keep(ctx context.Context, f frame) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTimeout)
	defer cancel()
	name, err := m.all.keep(ctx, m, f)
	if err != nil {
		m.all.cfg.Log.WarnContext(ctx, "what a call of a model was sent cannot be kept", "error", err)
	}
	return name
}

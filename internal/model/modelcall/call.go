package modelcall

import (
	"cmp"
	"context"
	"time"

	"github.com/pudu-ai/pudu/message"
)

// Call is what came of one try of a call, for those who count.
type Call struct {
	// Model is the configured name, or the model's own where there is none.
	Model string
	// Took is the time from the request to the last chunk, without the wait for a turn; First is that to the first
	// chunk, 0 if none came.
	Took, First time.Duration
	// Usage is what the vendor told, or else our estimate.
	Usage message.Usage
	// Err is why there is no whole answer. It is nil where the caller has stopped reading.
	Err error
}

// Observer is told of each call. The context is the call's.
type Observer func(ctx context.Context, c Call)

// watched is a call under way.
type watched struct {
	Call

	begun time.Time
	usage message.Builder // knows how the counts of several chunks come together
}

func (m *Model) watch() *watched {
	return &watched{Call: Call{Model: cmp.Or(m.Entry.Name, m.Name())}, begun: time.Now()}
}

// see looks at a piece of the answer.
func (w *watched) see(c *message.Chunk, err error) {
	if err != nil {
		w.Err = err
		return
	}
	if w.First == 0 {
		w.First = time.Since(w.begun)
	}
	if c.Usage != nil {
		w.usage.Add(message.Chunk{Usage: c.Usage})
	}
}

// tell hands the call to the observer, if there is one.
func (w *watched) tell(ctx context.Context, o Observer) {
	if o == nil {
		return
	}
	w.Took = time.Since(w.begun)
	if m := w.usage.Message(); m.Usage != nil {
		w.Usage = *m.Usage
	}
	o(ctx, w.Call)
}

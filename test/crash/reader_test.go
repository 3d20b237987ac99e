package crash

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// reader is a client that follows the run: it puts the state together from the events that it is shown, and prints
// every event and every message that it has seen as committed.
type reader struct {
	schema state.Schema
	state  state.State
	known  map[string]string // the sums of the state
}

func newReader(ctx context.Context, st store.UserData, schema state.Schema) (*reader, error) {
	cp := store.Checkpoint{}
	if _, err := st.Thread(ctx, threadID); err == nil {
		if cp, err = st.Checkpoint(ctx, schema, threadID, ""); err != nil {
			return nil, err
		}
	}
	return &reader{schema: schema, state: cp.State, known: sums(cp.State)}, nil
}

// show takes an event.
func (r *reader) show(ev event.Event) {
	if ev.Data.Kind().Live() {
		return
	}
	say(markEvent, ev.ID.String(), string(ev.Data.Kind()), sumEvent(ev))
	var err error
	switch d := ev.Data.(type) {
	case event.State:
		r.state, r.known, err = r.see(d.Writes)
	case event.ToolEnd: // the state follows
		_, _, err = r.see(d.Writes)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reader:", ev.ID, err)
	}
}

// see prints the messages that an update adds or changes and returns the state after it, and its sums.
func (r *reader) see(writes json.RawMessage) (next state.State, known map[string]string, err error) {
	if len(writes) == 0 {
		return r.state, r.known, nil
	}
	u, err := r.schema.DecodeUpdate(writes)
	if err != nil {
		return r.state, r.known, err
	}
	next, changed, err := r.state.Apply(u)
	if err != nil || !slices.Contains(changed, agent.Messages.Name()) {
		return next, r.known, err
	}
	known = sums(next)
	for _, m := range agent.Messages.Get(next) {
		if r.known[m.ID] != known[m.ID] {
			say(markMessage, m.ID, known[m.ID])
		}
	}
	return next, known, nil
}

// sums are those of the messages of a state, by their ids.
func sums(s state.State) map[string]string {
	all := make(map[string]string)
	for _, m := range agent.Messages.Get(s) {
		all[m.ID] = sumMessage(m)
	}
	return all
}

// sumEvent is a short sum of an event as readers see it, but for its time, which a store may round.
func sumEvent(ev event.Event) string {
	ev.Time = time.Time{}
	raw, err := json.Marshal(ev)
	if err != nil {
		return "error"
	}
	return sum(raw)
}

// sumMessage is a short sum of what a message says. Its additional_kwargs do not count: a middleware adds to those of
// the user's message within the step that brings it.
func sumMessage(m message.Message) string {
	m.Kwargs, m.Name = nil, ""
	raw, err := m.AppendJSON(nil)
	if err != nil {
		return "error"
	}
	return sum(raw)
}

func sum(raw []byte) string {
	h := sha256.Sum256(raw)
	return hex.EncodeToString(h[:6])
}

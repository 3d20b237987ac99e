package frames

import (
	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// update is a change of the state: as this process made it, but for what clients cannot see, or as it is stored. What
// is shown of it is the same.
type update struct {
	made   state.Update // shared with other readers; nil: it is to be decoded
	stored []byte
}

// updateOf is the update of an event. One that was made with other channels than the schema's might be read in another
// way, as whoever reads the log will.
func updateOf(schema state.Schema, d *event.State) update {
	if u, ok := d.Update.(state.Update); ok {
		if made, ok := schema.Visible(u); ok {
			return update{made: made}
		}
	}
	return update{stored: d.Writes}
}

// writes are those of the update that clients can see, and maybe others.
func (u update) writes(schema state.Schema) ([]state.Write, error) {
	if u.made != nil {
		return u.made.Writes()
	}
	return schema.Writes(u.stored)
}

// apply returns the state after updates. Stored ones that follow each other are replayed at once, which decodes less.
func apply(now state.State, updates ...update) (state.State, error) {
	var stored [][]byte
	for _, u := range updates {
		if u.made == nil {
			stored = append(stored, u.stored)
			continue
		}
		next, err := now.Replay(stored...)
		if err == nil {
			next, _, err = next.Apply(u.made)
		}
		if err != nil {
			return now, err
		}
		now, stored = next, nil
	}
	return now.Replay(stored...)
}

// arrival is a message that is new in a state.
type arrival struct {
	*message.Message             // shared: nobody may change it
	in               state.State // where it is
	at               int
}

// line is the message as it is sent.
func (a arrival) line() ([]byte, error) {
	raw, err := agent.Messages.Encoded(a.in, a.at)
	if err != nil {
		return nil, err
	}
	return oneLine(raw)
}

// arrivals are the messages of a state from a place on whose ids are not among those that were there.
func arrivals(now state.State, from int, had map[string]bool) []arrival {
	var out []arrival
	list := agent.Messages.Get(now)
	for i := min(from, len(list)); i < len(list); i++ {
		if !had[list[i].ID] {
			out = append(out, arrival{Message: &list[i], in: now, at: i})
		}
	}
	return out
}

// brought are the messages that an update adds, as far as they can be told without the state. Its step is to bring the
// rest.
func brought(schema state.Schema, u update, had map[string]bool) []arrival {
	s, err := schema.Load(nil)
	if err == nil {
		s, err = apply(s, u)
	}
	if err != nil {
		return nil
	}
	return arrivals(s, 0, had)
}

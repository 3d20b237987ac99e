package sqlstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
)

// body is a step as the columns of its row keep it. The columns are nil when there is nothing in them.
//
//	updates: [{"n": node, "w": update}, ...]   what state.Update.AppendJSON wrote
//	events:  [event, ...]                      an event.State without what updates holds already
type body struct {
	updates, events []byte
	first, last     int64 // the numbers of the first and the last event; 0 without events
}

// encodeStep checks a step and encodes it.
func encodeStep(f store.Fence, step store.Step) (body, error) {
	var b body
	if err := checkStep(f, step); err != nil {
		return b, err
	}
	var err error
	if b.updates, err = encodeUpdates(step.Updates); err != nil {
		return b, err
	}
	if b.events, err = encodeEvents(step.Events); err != nil {
		return b, err
	}
	if n := len(b.updates) + len(b.events); n > maxStepBytes {
		return b, fmt.Errorf("step has %d bytes, more than %d; put large content in a file", n, maxStepBytes)
	}
	if n := len(step.Events); n > 0 {
		b.first, b.last = step.Events[0].ID.N, step.Events[n-1].ID.N
	}
	return b, nil
}

func checkStep(f store.Fence, step store.Step) error {
	var last int64
	states := 0
	for _, e := range step.Events {
		switch {
		case e.Data == nil:
			return fmt.Errorf("event %s has no data", e.ID)
		case e.Data.Kind().Live():
			return fmt.Errorf("event %s is a %s, which is live and never stored", e.ID, e.Data.Kind())
		case e.ID.Attempt != f.Attempt:
			return fmt.Errorf("event %s is not of attempt %d", e.ID, f.Attempt)
		case e.ID.N <= last:
			return fmt.Errorf("event %s comes after %d-%d: ids must grow", e.ID, f.Attempt, last)
		}
		last = e.ID.N
		if e.Data.Kind() == event.KindState {
			states++
		}
	}
	if states > len(step.Updates) {
		return fmt.Errorf("step has %d state events for %d updates", states, len(step.Updates))
	}
	if r := step.Run; r != nil {
		if !knownStatus(r.Status) {
			return fmt.Errorf("run status %q is unknown", r.Status)
		}
		return checkJSON("usage", r.Usage)
	}
	return nil
}

func encodeUpdates(us []store.NodeUpdate) ([]byte, error) {
	if len(us) == 0 {
		return nil, nil
	}
	var b []byte
	sep := byte('[')
	for _, u := range us {
		raw, err := u.Raw, error(nil)
		if raw == nil {
			raw, err = u.Update.AppendJSON(nil)
		}
		if err != nil {
			return nil, fmt.Errorf("encode update of %s: %w", u.Node, err)
		}
		b = slices.Grow(b, len(raw)+len(u.Node)+len(`,{"n":"","w":}]`))
		b = append(rawjson.AppendString(append(append(b, sep), `{"n":`...), u.Node), `,"w":`...)
		b = append(append(b, raw...), '}')
		sep = ','
	}
	return append(b, ']'), nil
}

// storedUpdate is one entry of the column updates.
type storedUpdate struct {
	Node   string          `json:"n"`
	Writes json.RawMessage `json:"w"`
}

// decodeUpdates takes the column apart without looking into the updates.
func decodeUpdates(raw []byte) ([]storedUpdate, error) {
	var us []storedUpdate
	if len(raw) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &us); err != nil {
		return nil, fmt.Errorf("decode stored updates: %w", err)
	}
	return us, nil
}

// eventBytes is the room made for an event. Most need less.
const eventBytes = 192

func encodeEvents(evs []event.Event) ([]byte, error) {
	if len(evs) == 0 {
		return nil, nil
	}
	b := append(make([]byte, 0, eventBytes*len(evs)), '[')
	for i, e := range evs {
		if i > 0 {
			b = append(b, ',')
		}
		if e.Data.Kind() == event.KindState {
			e.Data = event.State{}
		}
		var err error
		if b, err = e.AppendJSON(b); err != nil {
			return nil, fmt.Errorf("encode event %s: %w", e.ID, err)
		}
	}
	return append(b, ']'), nil
}

// decodeEvents reads a row's events and gives its state events back what the updates and the row hold.
func decodeEvents(rawEvents, rawUpdates []byte, checkpoint, next string) ([]event.Event, error) {
	var evs []event.Event
	if err := json.Unmarshal(rawEvents, &evs); err != nil {
		return nil, fmt.Errorf("decode stored events: %w", err)
	}
	us, err := decodeUpdates(rawUpdates)
	if err != nil {
		return nil, err
	}
	n := 0
	for i, e := range evs {
		if e.Data == nil || e.Data.Kind() != event.KindState {
			continue
		}
		if n >= len(us) {
			return nil, errors.New("decode stored events: more state events than updates")
		}
		evs[i].Data = event.State{Writes: us[n].Writes, Checkpoint: checkpoint, Next: next, Last: n == len(us)-1}
		n++
	}
	return evs, nil
}

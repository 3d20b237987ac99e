package calls

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

// Bounds of reading a log: events at once, and of one run.
const (
	eventsAtOnce = 500
	maxEvents    = 200_000
)

// nodeModel is the node of the loop that asks the model.
const nodeModel = "model"

// nodeTools is the one that calls tools.
const nodeTools = "tools"

// record is a call as the log has it.
type record struct {
	n  int // the calls of the run are counted from 1
	ev event.Event
	event.Call
	step
}

// step is one step of a run: the checkpoint that it made, the one before, and the updates in between.
type step struct {
	before, checkpoint string
	updates            []event.State
	nodes              []string
}

// scan goes through a run's events.
type scan struct {
	m     *Mine
	run   store.Run
	calls int
	step  step
	read  int
}

// each hands over the run's own events, in order, until do returns false. s.step is the one that an event belongs to,
// or comes behind.
func (s *scan) each(ctx context.Context, do func(ev *event.Event) (more bool, err error)) error {
	first, err := s.m.data.FirstCheckpoint(ctx, s.run.ID)
	if err != nil {
		return err
	}
	s.step.checkpoint = first.ParentID
	for after := (event.ID{}); ; {
		evs, err := s.m.data.Events(ctx, s.run.ID, after, eventsAtOnce)
		if err != nil {
			return err
		}
		for i := range evs {
			after = evs[i].ID
			if s.read++; s.read > maxEvents {
				return fmt.Errorf("%w: the run has more than %d events", store.ErrTooLarge, maxEvents)
			}
			if len(evs[i].Namespace) > 0 && evs[i].Data.Kind() != event.KindChild {
				continue
			}
			s.follow(&evs[i])
			if more, err := do(&evs[i]); err != nil || !more {
				return err
			}
		}
		if len(evs) < eventsAtOnce {
			return nil
		}
	}
}

// follow keeps the step.
func (s *scan) follow(ev *event.Event) {
	d, ok := ev.Data.(event.State)
	if !ok {
		return
	}
	if d.Checkpoint != s.step.checkpoint {
		s.step = step{before: s.step.checkpoint, checkpoint: d.Checkpoint}
	}
	s.step.updates, s.step.nodes = append(s.step.updates, d), append(s.step.nodes, ev.Node)
}

// call is the call that an event tells of; nil if it tells of none. A message from before calls were kept tells of one
// too.
func (s *scan) call(ev *event.Event) *record {
	r := record{ev: *ev, step: s.step}
	switch d := ev.Data.(type) {
	case event.Call:
		r.Call = d
	case event.Message:
		if d.Call != nil {
			r.Call = *d.Call
		}
		r.MessageID = d.MessageID
	default:
		return nil
	}
	s.calls++
	r.n = s.calls
	return &r
}

// written is what an update wrote.
type written struct {
	Channel string          `json:"c"`
	Value   json.RawMessage `json:"v"`
}

// writesOf takes an update apart, as state.Update.AppendJSON wrote it; nil if it is no such thing.
func writesOf(raw json.RawMessage) (list []written) {
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// channelMessages is the conversation.
const channelMessages = "messages"

// messagesOf are the messages that an update wrote, as they are kept.
func messagesOf(raw json.RawMessage) (out []json.RawMessage) {
	for _, w := range writesOf(raw) {
		var list []json.RawMessage
		if w.Channel == channelMessages && json.Unmarshal(w.Value, &list) == nil {
			out = append(out, list...)
		}
	}
	return out
}

// answer is the message that the step has as an answer to the call, as it is kept; nil if there is none.
func (r *record) answer() json.RawMessage {
	if r.MessageID == "" {
		return nil
	}
	var found json.RawMessage
	for _, u := range r.updates {
		for _, raw := range messagesOf(u.Writes) {
			var m struct {
				ID string `json:"id"`
			}
			if json.Unmarshal(raw, &m) == nil && m.ID == r.MessageID {
				found = raw // what a later hook made of it
			}
		}
	}
	return found
}

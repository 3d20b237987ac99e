package frames

import (
	"errors"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/state"
)

// needsUpdate are the modes that look into each update, needsState those that look at the state after it.
const (
	needsUpdate = needsState | inUpdates
	needsState  = inValues | inTuples | inMessages | inTasks | inDebug | inCheckpoints
)

// change is an update on its way into frames.
type change struct {
	node   string
	call   string // the tool call that it answers, where tasks are shown
	writes []state.Write
	fresh  []arrival // messages that the state had not
}

// visible reports whether clients can see the change.
func (c *change) visible() bool {
	return slices.ContainsFunc(c.writes, func(w state.Write) bool { return !w.Private })
}

// state projects a node's update. In the order in which LangGraph sends them: messages, updates, the result of the
// task, values, the checkpoint.
func (p *Projector) state(s *scope, ev *event.Event, d *event.State) error {
	defer s.turn(d, ev.Node)
	u := updateOf(s.schema, d)
	if !p.wants(needsUpdate) {
		return s.later(u)
	}
	c := &change{node: ev.Node}
	if err := p.take(s, c, u); err != nil {
		return err
	}
	if err := p.messages(s, c); err != nil {
		return err
	}
	if ev.Node != agent.NodeInput {
		if err := p.result(s, ev, c); err != nil {
			return err
		}
	}
	if (s.owed || c.visible()) && !late(d, ev.Node) {
		if err := p.values(s); err != nil {
			return err
		}
	}
	err := p.checkpoint(s, ev, d)
	if p.want&(inTasks|inDebug) == 0 {
		s.whole = nil // nobody asks for it before it changes
	}
	return err
}

// take makes the update on the state. The node's beginning is shown before, with the state that it began on.
func (p *Projector) take(s *scope, c *change, u update) (err error) {
	if c.writes, err = u.writes(s.schema); err != nil || !p.wants(needsState) {
		return errors.Join(err, s.later(u))
	}
	if err := s.settle(); err != nil {
		return err
	}
	if err := p.beginLate(s, c, u); err != nil {
		return err
	}
	if p.want&(inTuples|inMessages) != 0 {
		return s.takeFresh(c, u)
	}
	if err := s.later(u); err != nil {
		return err
	}
	return s.settle()
}

// takeFresh makes an update and finds the messages that it adds.
func (s *scope) takeFresh(c *change, u update) error {
	had, only := s.messageIDs(), appends(c.writes)
	from := 0 // places may change
	if only {
		from = len(agent.Messages.Get(s.now))
	}
	if err := errors.Join(s.later(u), s.settle()); err != nil {
		return err
	}
	list := agent.Messages.Get(s.now)
	if len(list) == 0 || len(list) < from { // or they cannot be read
		if err := s.now.Check(); err != nil {
			return err
		}
	}
	c.fresh = arrivals(s.now, from, had)
	if only {
		s.ids = had
		for _, m := range c.fresh {
			had[m.ID] = true
		}
	}
	return nil
}

// appends reports whether messages are at most added or changed in their places.
func appends(writes []state.Write) bool {
	return !slices.ContainsFunc(writes, func(w state.Write) bool {
		return w.Channel == agent.Messages.Name() && (w.Op == state.OpRemove || w.Op == state.OpReset)
	})
}

// values shows the state.
func (p *Projector) values(s *scope) error {
	if !p.wants(inValues) {
		return nil
	}
	if err := s.settle(); err != nil {
		return err
	}
	data, err := s.values()
	p.emit(s, string(Values), data)
	return err
}

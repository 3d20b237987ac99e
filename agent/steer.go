package agent

import (
	"context"
	"errors"

	"github.com/pudu-ai/pudu/message"
)

// mostTakes bounds how often the run looks again because what it was to take was taken back at that moment.
const mostTakes = 8

// hear takes what people have said to the run since its last call of the model, behind the results of all tools, and
// has the before_agent hooks look at it. A run that is about to give its last answer leaves it to the next one. It
// reports whether there was anything.
func (r *run) hear(ctx context.Context) (bool, error) {
	if r.rt.Steers == nil || StopState(r.state, r.rt.RunID).pending() || r.stepsDone() >= r.rt.Config.MaxSteps {
		return false, nil
	}
	for range mostTakes {
		list := r.rt.Steers(ctx)
		if len(list) == 0 {
			return false, nil
		}
		if err := r.commit(ctx, r.next); err != nil { // what came before is no part of it
			return false, err
		}
		err := r.takeSteers(ctx, list)
		if err == nil || !errors.Is(err, ErrTakenBack) {
			return err == nil, err
		}
	}
	return false, nil
}

// takeSteers commits the messages as one step.
func (r *run) takeSteers(ctx context.Context, list []Steer) error {
	known := make(map[string]bool)
	for _, m := range Messages.Get(r.state) {
		known[m.ID] = true
	}
	var msgs []message.Message
	var takes []string
	for _, s := range list {
		takes = append(takes, s.ID)
		for _, m := range fromClient(s.Messages, nil) {
			if m.ID == "" || known[m.ID] { // it changes nothing that was said before
				m.ID = r.rt.NewID()
			}
			known[m.ID] = true
			msgs = append(msgs, m)
		}
	}
	update := Messages.Append(msgs...)
	next, _, err := r.state.Apply(update)
	if err != nil {
		return err
	}
	more := Spent{Said: said(update)}
	err = r.write(ctx, Step{
		Updates: []NodeUpdate{{Node: NodeSteer, Update: update}}, Next: NodeBeforeAgent, State: next, Takes: takes,
		Spent: r.spent.sum().Add(more),
	})
	if err != nil {
		return err
	}
	r.state, r.next, r.saved, r.ran = next, NodeBeforeAgent, NodeBeforeAgent, NodeSteer
	r.spent.add(more)
	return nil
}

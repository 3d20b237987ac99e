package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// Await waits until done is closed; the run holds no place among those that are executed side by side meanwhile. It
// returns [subagents.ErrSpoken] as soon as somebody has said something to the run that it has not taken yet, and the
// cause of ctx when that ends.
func (c *Children) Await(ctx context.Context, done <-chan struct{}) error {
	c.place.lend()
	defer c.place.regain(ctx)
	words, leave := c.m.listenTo(c.parent.ThreadID)
	defer leave()
	said := c.m.of(c.parent).steers(c.parent)
	for {
		select {
		case <-done:
			return nil
		default:
		}
		if len(said(ctx)) > 0 {
			return subagents.ErrSpoken
		}
		select {
		case <-done:
			return nil
		case <-words:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Go has something done beside the run, which does not end before that is done. ctx ends with the run's work. It
// reports false when the run is at its end.
func (c *Children) Go(do func(ctx context.Context)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.working.Go(func() { do(c.ctx) })
	}
	return !c.closed
}

// Emit shows the run's clients a custom event.
func (c *Children) Emit(v any) {
	if raw, err := json.Marshal(v); err == nil {
		c.emit(agent.NodeTools, event.Custom{Value: raw})
	}
}

// rest waits for the children of a run that has come to its end with a question: who answers begins another run, which
// is told what came of them. The run holds no place meanwhile.
func (c *Children) rest(ctx context.Context) {
	done := make(chan struct{})
	go func() { // until end has returned at the latest
		defer close(done)
		c.working.Wait()
	}()
	c.place.lend()
	defer c.place.regain(ctx)
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// Left are the children that an owner before has begun and that are still at work.
func (c *Children) Left(ctx context.Context) (left []*Child, err error) {
	if c.parent.Attempt < 2 {
		return nil, nil
	}
	list, err := c.m.activeBelow(ctx, c.parent)
	for _, run := range list {
		ch, errBegin := c.begin(run)
		err = errors.Join(err, errBegin)
		if errBegin == nil {
			left = append(left, ch)
		}
	}
	return left, err
}

// Find is the child of an id, below this run or below an earlier one of the thread; of the latter, the one that has
// gone on with its work since. store.ErrNotFound if there is none.
func (c *Children) Find(ctx context.Context, id string) (*Child, error) {
	data := c.m.of(c.parent).data
	run, err := data.Run(ctx, id)
	if err == nil && run.Parent != c.parent.ID {
		err = c.ofThread(ctx, run)
	}
	if err != nil {
		return nil, fmt.Errorf("find the run %.60q below run %s: %w", id, c.parent.ID, err)
	}
	list, err := data.ListRuns(ctx, store.RunFilter{Parent: c.parent.ID, Limit: store.MaxChildren})
	if err != nil {
		return nil, fmt.Errorf("list the runs below run %s: %w", c.parent.ID, err)
	}
	if i := slices.IndexFunc(list, func(r store.Run) bool { return r.Key == run.Key }); i >= 0 {
		return c.begin(list[i])
	}
	ch, err := c.ofEarlier(ctx, run.Key)
	if err == nil && ch == nil {
		err = fmt.Errorf("find the run %.60q: %w", id, store.ErrNotFound)
	}
	return ch, err
}

// ofThread makes sure that a run is below one of the thread.
func (c *Children) ofThread(ctx context.Context, run store.Run) error {
	if run.Parent == "" {
		return store.ErrNotFound
	}
	above, err := c.m.of(c.parent).data.Run(ctx, run.Parent)
	if err == nil && above.ThreadID != c.parent.ThreadID {
		err = store.ErrNotFound
	}
	return err
}

// Mine reports whether the child is below the present run, and not below an earlier one of the thread.
func (ch *Child) Mine() bool { return ch.Run.Parent == ch.of.parent.ID }

// Say says something to the child while it works, once for a key. store.ErrConflict means that it is at its end.
func (ch *Child) Say(ctx context.Context, key string, msgs ...message.Message) error {
	req := ch.of.req
	_, err := ch.of.m.of(ch.Run).Say(ctx, Request{
		ThreadID: ch.Run.ThreadID, MustExist: true, Input: msgs, Key: key, Role: req.Role, Scopes: req.Scopes,
		Via: req.Via,
	})
	return err
}

// tellOf wakes who may be waiting for a run that was admitted.
func (m *Manager) tellOf(run store.Run) {
	m.tell(subjectQueue)
	if !run.IsSteer() {
		return
	}
	m.spoken(run.ThreadID)
	if m.cfg.Bus != nil {
		m.cfg.Bus.Publish(subjectWords, []byte(run.ThreadID))
	}
}

// listenTo hears, until leave is called, when somebody may have said something to the run on a thread.
func (m *Manager) listenTo(thread string) (words <-chan struct{}, leave func()) {
	ch := make(chan struct{}, 1)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.words[thread] = append(m.words[thread], ch)
	return ch, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.words[thread] = slices.DeleteFunc(m.words[thread], func(c chan struct{}) bool { return c == ch })
		if len(m.words[thread]) == 0 {
			delete(m.words, thread)
		}
	}
}

// hearing reports whether anybody listens.
func (m *Manager) hearing() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.words) > 0
}

// spoken wakes who waits on a thread.
func (m *Manager) spoken(thread string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, ch := range m.words[thread] {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

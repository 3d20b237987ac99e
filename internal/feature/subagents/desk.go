package subagents

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// stopGrace is how long a task that was stopped is waited for: it then tells what it took. A run that is cancelled
// gives its tools less than a second.
const stopGrace = 500 * time.Millisecond

var (
	// ErrSpoken says that somebody has said something to a run that waits for a task.
	ErrSpoken = errors.New("somebody has said something to the run")
	// ErrEnded says that a task is at its end.
	ErrEnded = errors.New("the task is at its end")

	errTimeout = errors.New("the task's time is up")
	errOver    = errors.New("the run that gives the task is at its end")
)

// Desk has the tasks of one run. Each is watched from its beginning to its end, whether or not anybody waits for it:
// clients are told of its messages, and it is stopped when its time is up.
type Desk struct {
	// Kinds are the sub-agents that there are.
	Kinds []Kind

	delegate Delegate
	host     Host

	mu    sync.Mutex
	given map[string]*Given // by run
}

// Given is a task that is watched.
type Given struct {
	Task

	messages atomic.Int64
	done     chan struct{} // closed at its end; then the others are set
	end      End
	err      error
}

// NewDesk makes the desk of a run that may give tasks to sub-agents of those kinds.
func NewDesk(d Delegate, h Host, kinds []Kind) *Desk {
	return &Desk{Kinds: kinds, delegate: d, host: h, given: make(map[string]*Given)}
}

// Resume watches the tasks that were at work when an earlier owner of the run was cut off.
func (d *Desk) Resume(ctx context.Context) error {
	left, err := d.delegate.Unfinished(ctx)
	for _, t := range left {
		d.watch(t)
	}
	return err
}

// Start gives a task, see [Delegate].
func (d *Desk) Start(ctx context.Context, o Order) (*Given, error) {
	t, err := d.delegate.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	return d.watch(t), nil
}

// Find is the task of an id, see [Delegate].
func (d *Desk) Find(ctx context.Context, id string, call *tool.Call) (*Given, error) {
	t, err := d.delegate.Find(ctx, id, call)
	if err != nil {
		return nil, err
	}
	return d.watch(t), nil
}

// watch follows a task, once.
func (d *Desk) watch(t Task) *Given {
	run, _ := t.Where()
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.given[run]; g != nil {
		return g
	}
	g := &Given{Task: t, done: make(chan struct{})}
	d.given[run] = g
	if !d.host.Go(func(ctx context.Context) {
		defer close(g.done)
		g.end, g.err = g.follow(ctx, d.host.Emit)
	}) {
		g.err = errOver
		close(g.done)
	}
	return g
}

// follow tells clients of the task until its end.
func (g *Given) follow(ctx context.Context, emit func(any)) (End, error) {
	about := g.About()
	if about.Told {
		emit = func(any) {}
	}
	run, thread := g.Where()
	teller := Teller{TaskID: about.Call, Model: g.Model(), Emit: emit, Index: g.Before()}
	teller.Started(about.Description, about.Kind, run, thread)
	end, err := g.within(ctx, func(m message.Message) {
		teller.Said(m)
		g.messages.Store(int64(teller.Index))
	})
	if err == nil && len(end.Questions) == 0 {
		teller.Ended(&end.Outcome)
	}
	return end, err
}

// within waits for the end of a task, within its time.
func (g *Given) within(ctx context.Context, said func(message.Message)) (End, error) {
	within, cancel := context.WithTimeoutCause(ctx, g.Left(), errTimeout)
	defer cancel()
	end, err := g.Watch(within, said)
	if err == nil || within.Err() == nil { // it is at its end, or this process's no more
		return end, err
	}
	g.Stop()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	if after, err := g.Watch(grace, func(message.Message) {}); err == nil { // what it took, and what it was told
		end = after
	}
	end.Questions = nil
	end.Outcome = Outcome{Status: threadstate.DelegationCancelled,
		Error: "The task was stopped with the run that gave it.",
		Model: g.Model(), Usage: end.Usage}
	if ctx.Err() == nil {
		end.Status, end.Error = threadstate.DelegationTimedOut, fmt.Sprintf("It did not end within %s and was stopped.",
			g.About().Timeout)
	}
	return end, nil
}

// Wait returns what came of a task when it is at its end; ErrSpoken as soon as somebody speaks to the run before.
func (d *Desk) Wait(ctx context.Context, g *Given) (End, error) {
	err := d.host.Await(ctx, g.done)
	if ctx.Err() != nil { // the run is stopped, and with it the task, which has a moment to tell how it went
		select {
		case <-g.done:
			err = nil
		case <-time.After(stopGrace + stopGrace/5):
		}
	}
	if err != nil {
		return End{}, err
	}
	return g.end, g.err
}

// End stops a task and returns what came of it.
func (d *Desk) End(ctx context.Context, g *Given) (End, error) {
	g.Stop()
	select {
	case <-g.done:
		return g.end, g.err
	case <-ctx.Done():
		return End{}, context.Cause(ctx)
	}
}

// Progress says, for a model, how far a task is that is still at work.
func (g *Given) Progress() string {
	took := g.About().Timeout - g.Left()
	return fmt.Sprintf("at work for %s, %d messages so far", took.Round(time.Second), g.messages.Load())
}

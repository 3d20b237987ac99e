package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/frames"
	"github.com/pudu-ai/pudu/message"
)

// Children starts runs below a run that is executed here, and waits for them. A [Job] has it for the tools of its run.
type Children struct {
	m      *Manager
	parent store.Run
	req    Request
	place  *place
	root   *recorder // of the run at the top of the tree
	emit   func(node string, data event.Data)
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	list    map[string]*Child // by run
	closed  bool              // none begins any more
	working sync.WaitGroup
}

// Child is a run below another one.
type Child struct {
	// Run is the child's row as it was when this process began to execute it.
	Run store.Run

	of   *Children
	stop context.CancelCauseFunc
	done chan struct{} // closed at its end, or when this process does not go on with it
	err  error         // why it does not

	mu   sync.Mutex
	news chan struct{} // closed, and another one made, with each event that is in its log
}

// children are those of a run which is executed with the context.
func (m *Manager) children(ctx context.Context, job Job, at seat, rec *recorder) *Children {
	c := &Children{m: m, parent: job.Run, req: job.Request, place: at.place, root: at.root, emit: rec.emit,
		list: make(map[string]*Child)}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	return c
}

// Now is the time by the clock that runs have.
func (c *Children) Now() time.Time { return c.m.cfg.Now() }

// Start begins a run below the present one, on a hidden thread of its own, and returns at once. key names it among the
// children: asked for again, by the next owner of the run too, it is the same run, however far it has come. Of the
// request Input, Values, Model, MaxSteps, AssistantID, Config and Context count; whose it is, and what else is empty,
// is the parent's. store.ErrConflict means that there can be no child any more, or none so deep; store.ErrFull too
// many.
func (c *Children) Start(ctx context.Context, key string, req Request) (*Child, error) {
	a, err := c.admission(key, req)
	if err != nil {
		return nil, err
	}
	fence := store.Fence{RunID: c.parent.ID, Attempt: c.parent.Attempt}
	run, err := c.m.system().AdmitChild(ctx, fence, a)
	if errors.Is(err, store.ErrUnknown) { // asked again, it tells
		run, err = c.m.system().AdmitChild(ctx, fence, a)
	}
	if err != nil {
		return nil, fmt.Errorf("start a run below another: %w", err)
	}
	return c.begin(run)
}

// admission asks for a child.
func (c *Children) admission(key string, asked Request) (store.Admission, error) {
	now := c.m.cfg.Now()
	req := c.req // whose it is, and how it came in
	req.ThreadID, req.Input, req.Values, req.MaxSteps = id.New(now), identified(asked.Input, now), asked.Values,
		asked.MaxSteps
	req.Model, req.AssistantID = cmp.Or(asked.Model, req.Model), cmp.Or(asked.AssistantID, req.AssistantID)
	if asked.Config != nil {
		req.Config = asked.Config
	}
	if asked.Context != nil {
		req.Context = asked.Context
	}
	req.Task, req.Metadata = asked.Task, nil // a child is not what its parent is to replace
	known := asked.ThreadID != ""
	if known {
		req.ThreadID = asked.ThreadID
	}
	req.Answers, req.Resume, req.Continue, req.Goto, req.Checkpoint = asked.Answers, nil, false, "", ""
	req.InterruptBefore, req.InterruptAfter, req.OnDisconnect, req.OnCompletion = nil, nil, "", ""
	req.Webhook, req.WebhookDropped, req.Strategy = "", false, ""
	req.Namespace = append(slices.Clip(req.Namespace), "tools:"+frames.TaskID(c.parent.ID, 0, "tools", key))
	raw, err := json.Marshal(req)
	if err != nil {
		return store.Admission{}, fmt.Errorf("encode request: %w", err)
	}
	return store.Admission{
		Run: store.Run{ID: id.New(now), ThreadID: req.ThreadID, Key: key, Request: raw, CreatedAt: now,
			UpdatedAt: now},
		Thread: store.Thread{Title: titleOf(req.Input), CreatedAt: now, UpdatedAt: now},
		Begin:  firstEvent(1, now), MustExist: known,
	}, nil
}

// Earlier finds the child of the key that an earlier run of the thread has begun, if the present run is there to answer
// what that one's thread was asked. It is at its end, and Wait tells how that was.
func (c *Children) Earlier(ctx context.Context, key string) (*Child, error) {
	if len(c.req.Answers) == 0 && c.req.Resume == nil {
		return nil, nil
	}
	return c.ofEarlier(ctx, key)
}

// ofEarlier finds the newest child of the key below an earlier run of the thread, if it is at its end.
func (c *Children) ofEarlier(ctx context.Context, key string) (*Child, error) {
	const most = 100
	data := c.m.of(c.parent).data
	before, err := data.ListRuns(ctx, store.RunFilter{ThreadID: c.parent.ThreadID, Limit: most}) // the newest first
	for _, run := range before {
		if err != nil {
			break
		}
		var list []store.Run
		if run.ID != c.parent.ID {
			list, err = data.ListRuns(ctx, store.RunFilter{Parent: run.ID, Limit: store.MaxChildren})
		}
		for _, child := range list {
			if child.Key == key && !child.Active() {
				return c.begin(child)
			}
		}
	}
	if err != nil {
		err = fmt.Errorf("look for the run %q below an earlier one: %w", key, err)
	}
	return nil, err
}

// begin executes a child that is this process's, unless that is done already or the child is at its end.
func (c *Children) begin(run store.Run) (*Child, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ch := c.list[run.ID]; ch != nil {
		return ch, nil
	}
	if c.closed {
		return nil, fmt.Errorf("start a run below run %s: %w: that one is at its end", c.parent.ID, store.ErrConflict)
	}
	ch := &Child{Run: run, of: c, done: make(chan struct{}), news: make(chan struct{})}
	ctx, stop := context.WithCancelCause(c.ctx)
	ch.stop = stop
	c.list[run.ID] = ch
	if !run.Active() {
		stop(nil)
		close(ch.done)
		return ch, nil
	}
	heard := c.m.audience(run, ch.hear) // there before anybody can follow the run
	c.working.Go(func() {
		defer close(ch.done)
		defer stop(nil)
		ch.err = c.perform(ctx, ch, heard)
	})
	return ch, nil
}

// hear wakes who reads the child's log.
func (ch *Child) hear(ev event.Event) {
	if ev.Data.Kind().Live() {
		return
	}
	ch.mu.Lock()
	defer ch.mu.Unlock()
	close(ch.news)
	ch.news = make(chan struct{})
}

// more is closed when there is more in the child's log than there was when it was asked for.
func (ch *Child) more() <-chan struct{} {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	return ch.news
}

// Stop ends the child, with all below it. It does not wait for that.
func (ch *Child) Stop() { ch.stop(ErrCancelled) }

// adopt goes on with the children that an owner before has begun.
func (c *Children) adopt(ctx context.Context) error {
	if c.parent.Attempt < 2 {
		return nil
	}
	list, err := c.m.activeBelow(ctx, c.parent)
	for _, run := range list {
		if _, errBegin := c.begin(run); errBegin != nil {
			err = errors.Join(err, errBegin)
		}
	}
	return err
}

// perform executes a child to its end, again when that could not be recorded: the process is still its owner.
func (c *Children) perform(ctx context.Context, ch *Child, heard audience) error {
	p, run := &place{m: c.m}, ch.Run
	p.take(ctx) // one that is to stop comes to its end without
	defer p.drop()
	for wait := store.Beat; ; wait = min(2*wait, longestWait) {
		var err error
		if run.Stalled > maxStalled {
			heard.leave()
			err = c.m.fail(ctx, run, stalledFor(run))
		} else {
			_, err = c.m.execute(ctx, run, heard, seat{p, c.root})
		}
		if err == nil || errors.Is(err, ErrStopped) || errors.Is(err, store.ErrFenced) {
			return err
		}
		c.m.cfg.Log.Warn("a run below another is left unfinished and taken up again", "run", run.ID, "reason", err)
		if run, err = c.again(ctx, run, wait); err != nil || !run.Active() {
			return err
		}
		heard = c.m.audience(run, ch.hear)
	}
}

// again takes a child up again after a while, as soon as the store can be reached. It returns the run as it is if that
// is at its end by now.
func (c *Children) again(ctx context.Context, run store.Run, wait time.Duration) (store.Run, error) {
	for {
		select {
		case <-ctx.Done():
			return run, context.Cause(ctx)
		case <-time.After(wait):
		}
		now, err := c.m.system().Run(ctx, run.ID)
		if err == nil && now.Active() {
			now, err = c.m.claim(ctx, now)
		}
		if err == nil || errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
			return now, err
		}
	}
}

// end stops the children that still work, and waits for them: a run does not end before they have.
func (c *Children) end() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel(ErrCancelled)
	c.working.Wait()
}

// Wait is [Child.Watch] for a run that has nothing else to do: it holds no place among those that are executed side by
// side meanwhile.
func (ch *Child) Wait(ctx context.Context, said func(message.Message)) (Outcome, error) {
	ch.of.place.lend()
	defer ch.of.place.regain(ctx)
	return ch.Watch(ctx, said)
}

// Watch gives said each message that the child has added to its conversation, the first one first, and returns the
// outcome of the child, with the usage of those below it, when it is at its end. said may be nil. An error means that
// ctx has ended, or that this process does not go on with the child.
func (ch *Child) Watch(ctx context.Context, said func(message.Message)) (Outcome, error) {
	if err := ch.follow(ctx, said); err != nil {
		return Outcome{Run: ch.Run}, err
	}
	if ch.err != nil {
		return Outcome{Run: ch.Run}, ch.err
	}
	data := ch.of.m.of(ch.Run).data
	run, err := data.Run(ctx, ch.Run.ID)
	if err != nil {
		return Outcome{Run: ch.Run}, fmt.Errorf("read run %s: %w", ch.Run.ID, err)
	}
	out, err := Ended(ctx, data, run)
	if err != nil {
		return out, err
	}
	below, err := ch.of.m.of(run).SpentBelow(ctx, run.ID)
	out.Usage = out.Usage.Add(below)
	if err == nil && run.Status == event.StatusInterrupted && run.StopReason == "" {
		var at Snapshot
		at, err = ch.of.m.of(run).Snapshot(ctx, run.ThreadID, "")
		out.Questions = at.Questions
	}
	return out, err
}

// Namespace is the path of the child, as readers of the run at the top see it.
func (ch *Child) Namespace() []string {
	req, _ := RequestOf(ch.Run) // it was written by this program
	return req.Namespace
}

// follow reads the child's log until the child is at its end.
func (ch *Child) follow(ctx context.Context, said func(message.Message)) error {
	mine, read := ch.of.m.of(ch.Run), event.ID{}
	tell := func(ev event.Event) bool {
		read = ev.ID
		if st, ok := ev.Data.(event.State); ok {
			u, _ := mine.schema().DecodeUpdate(st.Writes) // what cannot be read has no message to show
			for _, m := range agent.Messages.Appended(u) {
				said(m)
			}
		}
		return true
	}
	for {
		more, over := ch.more(), false
		select {
		case <-ch.done:
			over = true
		default:
		}
		if said != nil {
			if _, err := mine.events(ctx, ch.Run.ID, read, tell); err != nil && ctx.Err() == nil {
				return fmt.Errorf("read the log of run %s: %w", ch.Run.ID, err)
			}
		}
		if over {
			return nil
		}
		select {
		case <-more:
		case <-ch.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// activeBelow lists the children of a run that are not at their end.
func (m *Manager) activeBelow(ctx context.Context, run store.Run) ([]store.Run, error) {
	list, err := m.of(run).data.ListRuns(ctx, store.RunFilter{
		Parent: run.ID, Statuses: []string{event.StatusPending, event.StatusRunning}, Limit: store.MaxChildren,
	})
	if err != nil {
		err = fmt.Errorf("list the runs below run %s: %w", run.ID, err)
	}
	return list, err
}

// Between lists the events of a run behind an id, up to another. A run that is gone has none.
func (u *UserRuns) Between(ctx context.Context, runID string, after, upTo event.ID) (list []event.Event, err error) {
	_, err = u.events(ctx, runID, after, func(ev event.Event) bool {
		if ev.ID.Compare(upTo) > 0 {
			return false
		}
		list = append(list, ev)
		return true
	})
	return list, err
}

// endBelow ends what is below a run that is ended without being executed, the deepest first.
func (m *Manager) endBelow(ctx context.Context, run store.Run) error {
	if run.Attempt < 2 {
		return nil
	}
	list, err := m.activeBelow(ctx, run)
	for _, child := range list {
		if err == nil {
			err = m.endBelow(ctx, child)
		}
		if err == nil {
			rec := newRecorder(m.system(), child, m.cfg.Now, func(event.Event) {})
			err = rec.end(event.Run{Status: event.StatusInterrupted, StopReason: store.Cancelled}, nil)
		}
	}
	return err
}

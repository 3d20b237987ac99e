package runs

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

const (
	// writeTimeout bounds one commit.
	writeTimeout = 30 * time.Second
	// emitDelay is how long an event that nobody waits for is held back, so that it can share the commit of what
	// follows: a question to the model that of its quick tool's result. Nobody sees that what is shown comes so much
	// later: a model takes longer for its first word.
	emitDelay = 40 * time.Millisecond
	// usageEvery is how exact the usage of a run is that is cut off.
	usageEvery = time.Second
	// batchWrites bounds the writes that share a commit, and those that nobody waits for: a run that does nothing but
	// read does not get further ahead of the disk.
	batchWrites = 64
)

// recorder writes the events of one attempt of a run. It numbers them in the order in which they come and shows them in
// that order: a live event at once, unless a durable one before it is not committed yet.
//
//	emit, commit -> queue -> committer: one store.Commit for all that can go together -> shown, in order
//
// The committer is who waits for a commit, or a goroutine that lives while there is something to commit. emit waits for
// nobody, and its events wait a moment for others; commit waits until its write is durable.
type recorder struct {
	store store.System
	fence store.Fence
	now   func() time.Time
	show  func(event.Event)

	// root is the recorder of the run at the top of the tree, nil for that itself: it hears of what this run says, and
	// writes of what it commits, under the namespace.
	root      *recorder
	namespace []string

	mu         sync.Mutex
	n          int64          // number of the last event
	safe       int64          // durable events up to this number are committed
	unseen     []*event.Event // numbered and not yet shown, in order
	streams    streams
	queue      []*write
	last       agent.Step // leads to the run's end, and is written with it
	committing bool       // the committer lives
	delayed    bool       // commitDelayed is to come
	showing    bool       // somebody hands events to show
	shown      *sync.Cond
	lost       error       // a commit failed, or the run is no longer ours: nothing more is written or shown
	before     agent.Spent // by earlier attempts
	spent      agent.Spent
	kept       agent.Spent // what the run's row says, since keptAt; both are the committer's own
	keptAt     time.Time
	parent     string // of the first checkpoint, if that is not the head; the committer's own
	title      string // what the thread is called; the committer's own
	asks       bool   // the run ends with a question; set before its end
	unbegun    bool   // the run has failed before it could begin; set before its end
}

// write is what one caller wants committed: a step, the run's end with the step that led there, or events alone.
type write struct {
	step   agent.Step
	end    *event.Run
	undo   *store.Step    // goes before the end, in place of a step
	events []*event.Event // those of step.Updates first
	done   chan struct{}  // closed when it is committed, or lost
	// refused is why a step that takes what was said is not committed although nothing is lost.
	refused error
	below   *below   // what a run below commits with the events, and nothing else
	in      []string // the namespace of the events
}

// below is what a run below the recorder's commits, with what tells of it in the recorder's log.
type below struct {
	fence       store.Fence
	steps       []store.Step
	checkpoints []string
	err         error
}

func newRecorder(s store.System, run store.Run, now func() time.Time, show func(event.Event)) *recorder {
	r := &recorder{store: s, fence: store.Fence{RunID: run.ID, Attempt: run.Attempt}, now: now, show: show,
		streams: make(streams)}
	_ = json.Unmarshal(run.Usage, &r.before) // a first attempt has none
	r.kept, r.keptAt = r.before, now()
	r.shown = sync.NewCond(&r.mu)
	return r
}

// detach lets go of the run: what is not committed by now never will be.
func (r *recorder) detach(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost == nil {
		r.lost = why
	}
}

// emit takes an event that stands alone. It implements agent.Runtime.Emit.
func (r *recorder) emit(node string, data event.Data) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost != nil {
		return
	}
	if !data.Kind().Live() {
		r.enqueue(&write{}, []agent.Emitted{{Node: node, Data: data}})
		return
	}
	r.number(nil, node, data)
	r.showReady()
	if r.root != nil {
		r.root.relay(r.namespace, node, data)
	}
}

// relay shows what a run below says and nobody keeps.
func (r *recorder) relay(namespace []string, node string, data event.Data) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost == nil {
		r.number(namespace, node, data)
		r.showReady()
	}
}

// commit makes a step durable, the last one with the run's end. It implements agent.Runtime.Commit.
func (r *recorder) commit(ctx context.Context, step agent.Step) error {
	if step.Next == agent.Done {
		return r.hold(step)
	}
	if len(step.Takes) > 0 {
		w := &write{step: step}
		return errors.Join(r.wait(ctx, w, step.Events), w.refused)
	}
	if step.Lazy {
		if left, err := r.leave(step); left || err != nil {
			return err
		}
	}
	return r.wait(ctx, &write{step: step}, step.Events)
}

// hold keeps the step behind which nothing comes for the run's end: without that, who goes on with the run would take
// it for one that is done.
func (r *recorder) hold(step agent.Step) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = step
	return r.lost
}

// leave leaves a step to be committed with what follows, if not too much waits for that already.
func (r *recorder) leave(step agent.Step) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost != nil || len(r.queue) >= batchWrites {
		return false, r.lost
	}
	r.enqueue(&write{step: step}, step.Events)
	return true, nil
}

// begin shows that the run has started. A run that was admitted a moment ago has this in its log; for others it is
// written.
func (r *recorder) begin(run store.Run) {
	if !run.Begun {
		r.emit("", event.Run{Status: event.StatusRunning})
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n, r.safe = 1, 1
	r.unseen = append(r.unseen, firstEvent(run.Attempt, run.CreatedAt))
	r.showReady()
}

// standOn says which checkpoint the run's first one stands on, where empty means the head, and the title that the state
// of the head has. It comes before the first step.
func (r *recorder) standOn(parent, title string) { r.parent, r.title = parent, title }

// end records the run's end in one transaction with the step that led there, and with undo, if it is not nil. When it
// returns everything is committed and shown.
func (r *recorder) end(end event.Run, undo *store.Step) error {
	r.mu.Lock()
	last := r.last
	r.mu.Unlock()
	events := append(slices.Clip(last.Events), agent.Emitted{Data: end})
	if err := r.wait(context.Background(), &write{step: last, end: &end, undo: undo}, events); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.showing {
		r.shown.Wait()
	}
	return nil
}

// flush returns when everything so far is committed. The step that is held for the end becomes one that leads on: the
// run is to be undone, and who goes on with it before that finds it under way.
func (r *recorder) flush(ctx context.Context) error {
	r.mu.Lock()
	w := &write{step: r.last}
	r.last = agent.Step{}
	r.mu.Unlock()
	if len(w.step.Updates) > 0 {
		w.step.Next = agent.NodeBeforeModel
	}
	return r.wait(ctx, w, w.step.Events)
}

// used is what the run has used.
func (r *recorder) used() agent.Spent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.before.Add(r.spent)
}

// wait returns when the write is committed. Who finds no committer at work is it for as long as his own write takes: to
// wake another goroutine, and to be woken by it, would cost as much time as half a commit.
func (r *recorder) wait(ctx context.Context, w *write, events []agent.Emitted) error {
	w.done = make(chan struct{})
	r.mu.Lock()
	if r.lost != nil {
		defer r.mu.Unlock()
		return r.lost
	}
	r.enqueue(w, events)
	if !r.committing {
		r.committing = true
		r.commitUntil(w.done)
		r.committing = false
		if len(r.queue) > 0 {
			r.startCommitter()
		}
	}
	r.mu.Unlock()
	select {
	case <-w.done:
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.lost
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// number gives an event its id. r.mu is held.
func (r *recorder) number(namespace []string, node string, data event.Data) *event.Event {
	r.n++
	ev := &event.Event{ID: event.ID{Attempt: r.fence.Attempt, N: r.n}, Time: r.now(), Node: node,
		Namespace: namespace, Data: data}
	if len(namespace) == 0 || !data.Kind().Live() { // the log gives no chunks of runs below
		r.streams.note(ev)
	}
	r.unseen = append(r.unseen, ev)
	return ev
}

// enqueue numbers the write's events and sees to it that a write nobody waits for is committed soon. r.mu is held.
func (r *recorder) enqueue(w *write, events []agent.Emitted) {
	for _, u := range w.step.Updates {
		w.events = append(w.events, r.number(w.in, u.Node, event.State{}))
	}
	for _, e := range events {
		w.events = append(w.events, r.number(w.in, e.Node, e.Data))
	}
	if w.step.Spent != (agent.Spent{}) {
		r.spent = w.step.Spent
	}
	r.queue = append(r.queue, w)
	if w.done == nil && !r.delayed {
		r.delayed = true
		time.AfterFunc(emitDelay, r.commitDelayed)
	}
}

// startCommitter makes sure that the committer lives. r.mu is held.
func (r *recorder) startCommitter() {
	if !r.committing {
		r.committing = true
		go r.committer()
	}
}

// commitDelayed commits the events with which nothing else was committed by now.
func (r *recorder) commitDelayed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.delayed = false
	r.startCommitter()
}

// showReady shows the events that may be seen: up to the first durable one that is not committed. One goroutine shows
// at a time; others leave their events to it. r.mu is held, and released while events are shown.
func (r *recorder) showReady() {
	if r.showing {
		return
	}
	r.showing = true
	for len(r.unseen) > 0 {
		ev := r.unseen[0]
		if !ev.Data.Kind().Live() && ev.ID.N > r.safe {
			break
		}
		if r.unseen[0] = nil; len(r.unseen) > 1 {
			r.unseen = r.unseen[1:]
		} else { // as a rule; this keeps the room for the next
			r.unseen = r.unseen[:0]
		}
		r.mu.Unlock()
		r.show(*ev)
		r.mu.Lock()
	}
	r.showing = false
	r.shown.Broadcast()
}

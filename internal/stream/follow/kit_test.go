package follow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/bus"
	"github.com/pudu-ai/pudu/internal/buses/memory"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/stream/follow"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const longest = 20 * time.Second

// fataler is a test or a property check.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

func must(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openStore(t testing.TB) *counted {
	t.Helper()
	st, err := sqlstore.Open(context.Background(), sqlstore.Config{Dir: databases.Dir(t, nil)})
	must(t, err)
	t.Cleanup(func() { must(t, st.Close()) })
	return &counted{Store: st}
}

// counted counts what followers read of the store.
type counted struct {
	*sqlstore.Store
	mu         sync.Mutex
	runs, logs int
	hold       func(nth int) // comes before the nth read of a run, if it is set
}

// user is whose the runs of these tests are.
func user() access.User { return access.FromRow("u") }

func (c *counted) For(u access.User) store.UserData { return countedData{c.Store.For(u), c} }

type countedData struct {
	store.UserData
	c *counted
}

func (d countedData) Run(ctx context.Context, id string) (store.Run, error) {
	d.c.mu.Lock()
	d.c.runs++
	nth := d.c.runs
	d.c.mu.Unlock()
	if d.c.hold != nil {
		d.c.hold(nth)
	}
	return d.UserData.Run(ctx, id)
}

func (d countedData) Events(ctx context.Context, runID string, after event.ID, limit int) ([]event.Event, error) {
	d.c.mu.Lock()
	d.c.logs++
	d.c.mu.Unlock()
	return d.UserData.Events(ctx, runID, after, limit)
}

func (c *counted) reads() (runs, logs int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs, c.logs
}

func openBus(t testing.TB) *memory.Bus {
	b := memory.New()
	t.Cleanup(func() { must(t, b.Close()) })
	return b
}

// openMemory is a bus that ends with the play.
func openMemory(p *play) *memory.Bus {
	b := memory.New()
	p.stop = append(p.stop, func() { must(p.t, b.Close()) })
	return b
}

func openHub(t testing.TB, cfg follow.Config) *follow.Hub {
	h := follow.New(cfg)
	t.Cleanup(h.Close)
	return h
}

// lossy is a bus that loses what lose says.
type lossy struct {
	bus.Bus
	lose func(subject string, data []byte) bool
}

func (l *lossy) Publish(subject string, data []byte) {
	if !l.lose(subject, data) {
		l.Bus.Publish(subject, data)
	}
}

// owner is one attempt of a run: what the recorder does, step by step.
type owner struct {
	t     fataler
	st    store.System
	fence store.Fence
	feed  interface {
		Show(event.Event)
		Close()
	}
	n        int64
	open     map[string]*shownMessage
	state    state.State
	shown    []event.Event
	messages int
}

type shownMessage struct {
	pieces  []event.Chunk
	numbers []int64
	builder message.Builder
}

type unseen struct{}

func (unseen) Show(event.Event) {}
func (unseen) Close()           {}

// admit adds a run that waits.
func admit(t fataler, st store.Store, id string) {
	t.Helper()
	now := time.Now()
	_, err := st.For(user()).Admit(context.Background(), store.Admission{
		Run: store.Run{ID: id, ThreadID: "t-" + id, Status: event.StatusPending, Request: json.RawMessage(`{}`),
			CreatedAt: now, UpdatedAt: now},
		Thread: store.Thread{ID: "t-" + id, CreatedAt: now, UpdatedAt: now},
	})
	must(t, err)
}

// own claims a run for a process; hub may be nil.
func own(t fataler, st store.Store, hub *follow.Hub, id, process string, attempt int) *owner {
	t.Helper()
	fence, err := st.System().ClaimRun(context.Background(), id, process, attempt-1, time.Now())
	must(t, err)
	head, err := st.For(user()).Checkpoint(context.Background(), state.Schema{agent.Messages.Name(): agent.Messages},
		"t-"+id, "")
	must(t, err)
	o := &owner{t: t, st: st.System(), fence: fence, feed: unseen{}, open: make(map[string]*shownMessage),
		state: head.State}
	if hub != nil {
		o.feed = hub.Own(store.Run{ID: id, UserID: user().ID(), Attempt: fence.Attempt})
	}
	return o
}

func (o *owner) number(data event.Data) event.Event {
	o.n++
	ev := event.Event{ID: event.ID{Attempt: o.fence.Attempt, N: o.n}, Time: time.Now().UTC(), Node: agent.NodeModel,
		Data: data}
	if !data.Kind().Live() {
		for _, m := range o.open {
			if first := m.numbers[0]; ev.Open == 0 || first < ev.Open {
				ev.Open = first
			}
		}
	}
	return ev
}

func (o *owner) show(evs ...event.Event) {
	for _, ev := range evs {
		o.shown = append(o.shown, ev)
		o.feed.Show(ev)
	}
}

func (o *owner) live(d event.Data) { o.show(o.number(d)) }

// chunk streams a piece of a message.
func (o *owner) chunk(id string, c message.Chunk) {
	ev := event.Chunk{MessageID: id, Text: c.Text, Reasoning: c.Reasoning}
	for _, tc := range c.ToolCalls {
		ev.ToolCalls = append(ev.ToolCalls, event.ToolCallChunk{Index: tc.Index, ID: tc.ID, Name: tc.Name,
			Args: tc.Args})
	}
	m := o.open[id]
	if m == nil {
		m = &shownMessage{}
	}
	e := o.number(ev)
	m.pieces, m.numbers = append(m.pieces, ev), append(m.numbers, e.ID.N)
	m.builder.Add(c)
	o.open[id] = m
	o.show(e)
}

func (o *owner) text(id string, texts ...string) {
	for _, s := range texts {
		o.chunk(id, message.Chunk{Text: s})
	}
}

// durable commits events that stand alone.
func (o *owner) durable(data ...event.Data) {
	o.t.Helper()
	var evs []event.Event
	for _, d := range data {
		evs = append(evs, o.number(d))
	}
	o.commit(store.Step{}, evs)
}

func (o *owner) commit(s store.Step, evs []event.Event) {
	o.t.Helper()
	s.Now, s.Events = time.Now(), evs
	checkpoint, err := o.st.Commit(context.Background(), o.fence, s)
	must(o.t, err)
	n := 0
	for i := range evs {
		if _, ok := evs[i].Data.(event.State); ok {
			raw, err := s.Updates[n].Update.AppendJSON(nil)
			must(o.t, err)
			n++
			evs[i].Data = event.State{Writes: raw, Checkpoint: checkpoint, Next: s.Next, Last: n == len(s.Updates)}
		}
	}
	o.show(evs...)
}

func (o *owner) discard(id string) {
	delete(o.open, id)
	o.durable(event.Discard{MessageID: id})
}

// finish commits a streamed message. extra updates stand between it and its boundaries.
func (o *owner) finish(id string, extra int) {
	o.t.Helper()
	m := o.open[id]
	msg := m.builder.Message()
	msg.ID = id
	whole := event.Chunk{Text: msg.Text(), Reasoning: msg.Reasoning()}
	for _, tc := range msg.ToolCalls {
		whole.ToolCalls = append(whole.ToolCalls, event.ToolCallChunk{ID: tc.ID, Name: tc.Name, Args: string(tc.Args)})
	}
	done := event.Message{MessageID: id, First: m.numbers[0], Chunks: event.Cuts(whole, m.pieces)}
	for i := 1; i < len(m.numbers); i++ {
		done.Chunks[i].Skip = int(m.numbers[i] - m.numbers[i-1] - 1)
	}
	step := store.Step{Next: agent.NodeTools}
	evs := []event.Event{o.number(event.State{})}
	step.Updates = append(step.Updates, store.NodeUpdate{Node: agent.NodeModel, Update: agent.Messages.Append(msg)})
	for range extra { // such as a hook that changes the message
		changed := message.New(message.AI, "changed by a hook")
		changed.ID = id
		evs = append(evs, o.number(event.State{}))
		step.Updates = append(step.Updates,
			store.NodeUpdate{Node: "Hook.after_model", Update: agent.Messages.Replace(changed)})
	}
	for _, u := range step.Updates {
		var err error
		o.state, _, err = o.state.Apply(u.Update)
		must(o.t, err)
	}
	step.State = o.state
	delete(o.open, id)
	o.commit(step, append(evs, o.number(done)))
}

func (o *owner) end() {
	o.t.Helper()
	clear(o.open)
	ev := o.number(event.Run{Status: event.StatusSuccess})
	o.commit(store.Step{Run: &store.RunChange{Status: event.StatusSuccess}}, []event.Event{ev})
	o.feed.Close()
}

// sight is what two readers must see alike.
func sight(t fataler, evs []event.Event) []string {
	t.Helper()
	var out []string
	for _, ev := range evs {
		ev.Time, ev.Open = time.Time{}, 0
		b, err := ev.AppendJSON(nil)
		must(t, err)
		out = append(out, string(b))
	}
	return out
}

// settled are the events of several attempts that stay: without progress, without chunks of messages that were not
// finished, and after an attempt's last commit nothing, unless it is the last one.
func settled(attempts ...[]event.Event) (out []event.Event) {
	for _, evs := range attempts {
		done := make(map[string]bool)
		for _, ev := range evs {
			if m, ok := ev.Data.(event.Message); ok {
				done[m.MessageID] = true
			}
		}
		for _, ev := range evs {
			c, chunk := ev.Data.(event.Chunk)
			if ev.Data.Kind() != event.KindProgress && (!chunk || done[c.MessageID]) {
				out = append(out, ev)
			}
		}
	}
	return out
}

// behind are the events after an id.
func behind(evs []event.Event, id event.ID) []event.Event {
	i := slices.IndexFunc(evs, func(ev event.Event) bool { return ev.ID.Compare(id) > 0 })
	if i < 0 {
		return nil
	}
	return evs[i:]
}

// followed is what a reader in the background has seen.
type followed struct {
	cancel context.CancelFunc
	done   chan struct{}
	run    store.Run
	err    error

	mu  sync.Mutex
	evs []event.Event
}

// start follows in the background. slow is called before each batch; nil is not.
func start(h *follow.Hub, runID string, after event.ID, slow func()) *followed {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	f := &followed{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		defer cancel()
		f.run, f.err = h.Follow(ctx, user(), runID, after, func(evs []event.Event) error {
			if slow != nil {
				slow()
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			f.evs = append(f.evs, evs...)
			return nil
		})
	}()
	return f
}

// attached waits until a run has so many readers: they then see all that is live.
func attached(t fataler, h *follow.Hub, runID string, n int) {
	t.Helper()
	waitFor(t, fmt.Sprint(n, " readers"), func() bool { return h.Readers(runID) == n })
}

func (f *followed) seen() []event.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.evs)
}

func (f *followed) last() event.ID {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.evs) == 0 {
		return event.ID{}
	}
	return f.evs[len(f.evs)-1].ID
}

// until waits for an id to be seen.
func (f *followed) until(t fataler, id event.ID) {
	t.Helper()
	waitFor(t, "event "+id.String(), func() bool { return f.last().Compare(id) >= 0 })
}

// end waits for the run's end and returns what was seen.
func (f *followed) end(t fataler) []event.Event {
	t.Helper()
	<-f.done
	if f.err != nil {
		t.Fatalf("follow: %v after %s", f.err, f.last())
	}
	if f.run.Active() {
		t.Fatalf("following ended with a run that is %s", f.run.Status)
	}
	return f.seen()
}

// stop ends the reader early.
func (f *followed) stop(t fataler) {
	t.Helper()
	f.cancel()
	<-f.done
	if !errors.Is(f.err, context.Canceled) {
		t.Fatalf("a reader that left: %v", f.err)
	}
}

func waitFor(t fataler, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(longest); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s within %s", what, longest)
		}
	}
}

// read follows a run that is at its end.
func read(t fataler, h *follow.Hub, runID string, after event.ID) []event.Event {
	t.Helper()
	return start(h, runID, after, nil).end(t)
}

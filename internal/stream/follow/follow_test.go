package follow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/follow"
	"github.com/pudu-ai/pudu/message"
)

func same(t fataler, what string, want, got []event.Event) {
	t.Helper()
	if d := cmp.Diff(sight(t, want), sight(t, got)); d != "" {
		t.Fatalf("%s (-want +got)\n%s", what, d)
	}
}

func number(i int) event.Custom { return event.Custom{Value: json.RawMessage(fmt.Sprint(i))} }

// script is a run with all that can stand between chunks.
func script(o *owner) {
	o.durable(event.Run{Status: event.StatusRunning})
	o.text("a", "one ", "two ")
	o.durable(number(1))
	o.text("a", "three")
	o.live(event.Progress{CallID: "c", Text: "late words of an old tool"})
	o.chunk("a", message.Chunk{ToolCalls: []message.ToolCallChunk{{Index: 0, ID: "c1", Name: "ls"}}})
	o.chunk("a",
		message.Chunk{ToolCalls: []message.ToolCallChunk{{Index: 0, Args: `{}`}, {Index: 1, Name: "cat", Args: " "}}})
	o.finish("a", 1)
	o.durable(event.ToolStart{CallID: "c1"})
	o.live(event.Progress{CallID: "c1", Text: "working"})
	o.durable(event.ToolEnd{CallID: "c1"})
	o.text("b", "wrong")
	o.discard("b")
	o.text("c", "x", "y")
	o.text("d", "in between")
	o.durable(number(2))
	o.finish("d", 0)
	o.text("c", "z")
	o.finish("c", 0)
}

func TestEveryReaderSeesTheSame(t *testing.T) {
	st := openStore(t)
	h := openHub(t, follow.Config{Store: st})
	admit(t, st, "r")
	pending := start(h, "r", event.ID{}, nil)
	attached(t, h, "r", 1)
	o := own(t, st, h, "r", "p1", 1)
	live := start(h, "r", event.ID{}, nil)
	attached(t, h, "r", 2)
	script(o)
	o.end()
	same(t, "live", o.shown, live.end(t))
	same(t, "from before the start", o.shown, pending.end(t))
	want := settled(o.shown)
	same(t, "late", want, read(t, h, "r", event.ID{}))
	for _, ev := range o.shown {
		same(t, "after "+ev.ID.String(), behind(want, ev.ID), read(t, h, "r", ev.ID))
	}
}

// TestReadersComeAtAnyTime attaches a reader after each event, at each position.
func TestReadersComeAtAnyTime(t *testing.T) {
	st := openStore(t)
	h := openHub(t, follow.Config{Store: st, TailEvents: 3, TailBytes: 1})
	admit(t, st, "r")
	o := own(t, st, h, "r", "p1", 1)
	type attached struct {
		*followed
		at, pos int
	}
	var all []attached
	script(&owner{t: t, st: st, fence: o.fence, open: o.open, feed: showFunc(func(ev event.Event) {
		o.shown = append(o.shown, ev)
		o.feed.Show(ev)
		for i := range o.shown {
			all = append(all, attached{start(h, "r", o.shown[i].ID, nil), len(o.shown), i})
		}
	})})
	o.n = o.shown[len(o.shown)-1].ID.N
	o.end()
	want := settled(o.shown)
	for _, a := range all {
		after := o.shown[a.pos].ID
		same(t, fmt.Sprintf("after %s, attached behind %d events", after, a.at), behind(want, after), settled(a.end(t)))
	}
}

type showFunc func(event.Event)

func (f showFunc) Show(ev event.Event) { f(ev) }
func (showFunc) Close()                {}

func TestAnAttachedReaderLeavesTheStoreAlone(t *testing.T) {
	st := openStore(t)
	h := openHub(t, follow.Config{Store: st})
	admit(t, st, "r")
	o := own(t, st, h, "r", "p1", 1)
	readers := make([]*followed, 50)
	for i := range readers {
		readers[i] = start(h, "r", event.ID{}, nil)
	}
	attached(t, h, "r", len(readers))
	script(o)
	for _, r := range readers {
		r.until(t, o.shown[len(o.shown)-1].ID)
	}
	if runs, logs := st.reads(); runs+logs > 0 {
		t.Errorf("%d reads of the run, %d of the log", runs, logs)
	}
	o.end()
	for _, r := range readers {
		same(t, "live", o.shown, r.end(t))
	}
	if runs, logs := st.reads(); runs > 2 || logs > 2 {
		t.Errorf("at the end %d reads of the run, %d of the log", runs, logs)
	}
}

// The row of a run is read for those who want it: not for one who goes when the end was shown.
func TestWhoGoesAtTheEndLeavesTheStoreAlone(t *testing.T) {
	st := openStore(t)
	h := openHub(t, follow.Config{Store: st})
	admit(t, st, "r")
	o := own(t, st, h, "r", "p1", 1)
	errEnough := errors.New("enough")
	gone := make(chan error)
	go func() {
		_, err := h.Follow(context.Background(), user(), "r", event.ID{}, func(evs []event.Event) error {
			if d, ok := evs[len(evs)-1].Data.(event.Run); ok && d.Status == event.StatusSuccess {
				time.Sleep(20 * time.Millisecond) // for a look that nobody has asked for
				return errEnough
			}
			return nil
		})
		gone <- err
	}()
	attached(t, h, "r", 1)
	script(o)
	o.end()
	if err := <-gone; !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
	if runs, logs := st.reads(); runs+logs > 0 {
		t.Errorf("%d reads of the run, %d of the log", runs, logs)
	}
}

// TestTheEndIsInTheLogBeforeItIsShown looks at the store between the commit of a run's end and the moment at which the
// feed shows it, with what was streamed and withdrawn before it: the log has no such pieces.
func TestTheEndIsInTheLogBeforeItIsShown(t *testing.T) {
	st := openStore(t)
	h := openHub(t, follow.Config{Store: st, Poll: time.Millisecond})
	admit(t, st, "r")
	o := own(t, st, h, "r", "p1", 1)
	live := start(h, "r", event.ID{}, nil)
	o.durable(number(1))
	live.until(t, o.shown[0].ID)

	feed := o.feed
	o.feed = unseen{}
	o.text("a", "withdrawn")
	o.discard("a")
	o.end()
	looks, _ := st.reads()
	waitFor(t, "looks at the store", func() bool { runs, _ := st.reads(); return runs > looks+2 })
	for _, ev := range o.shown[1:] {
		feed.Show(ev)
	}
	feed.Close()
	same(t, "live", o.shown, live.end(t))
}

func TestAReaderMissesNothingOfALongMessage(t *testing.T) {
	st := openStore(t)
	h := openHub(t, follow.Config{Store: st})
	admit(t, st, "r")
	o := own(t, st, h, "r", "p1", 1)
	live := start(h, "r", event.ID{}, nil)
	for i := range 20_000 {
		o.text("m", fmt.Sprint(i, " "))
	}
	o.finish("m", 0)
	o.end()
	same(t, "live", o.shown, live.end(t))
	same(t, "late", o.shown, read(t, h, "r", event.ID{}))
	same(t, "from the middle", o.shown[9_999:], read(t, h, "r", o.shown[9_998].ID))
}

// TestASlowReaderGoesThroughTheLog: what it needs is dropped from memory, and it waits for what the log does not have
// yet.
func TestASlowReaderGoesThroughTheLog(t *testing.T) {
	st := openStore(t)
	h := openHub(t, follow.Config{Store: st, MaxEvents: 50, TailEvents: 10})
	admit(t, st, "r")
	o := own(t, st, h, "r", "p1", 1)
	held := make(chan struct{})
	stuck := start(h, "r", event.ID{}, func() { <-held })
	for m := range 5 {
		id := fmt.Sprint("m", m)
		for i := range 100 {
			o.text(id, fmt.Sprint(i, " "))
		}
		if m == 2 {
			close(held)
		}
		o.finish(id, 0)
	}
	for i := range 200 {
		o.text("last", fmt.Sprint(i, " "))
	}
	late := start(h, "r", event.ID{}, nil) // what it needs is in neither place
	late.until(t, o.shown[5*102-1].ID)
	o.finish("last", 0)
	stuck.until(t, o.shown[len(o.shown)-1].ID)
	late.until(t, o.shown[len(o.shown)-1].ID)
	o.text("more", "back in ", "memory")
	late.until(t, o.shown[len(o.shown)-1].ID)
	o.finish("more", 0)
	o.end()
	same(t, "stuck", o.shown, stuck.end(t))
	same(t, "late", o.shown, late.end(t))
}

func TestATakeoverVoidsWhatWasNotCommitted(t *testing.T) {
	st := openStore(t)
	h := openHub(t, follow.Config{Store: st, Poll: 10 * time.Millisecond})
	admit(t, st, "r")
	o1 := own(t, st, h, "r", "p1", 1)
	o1.text("a", "kept")
	o1.finish("a", 0)
	committed := len(o1.shown)
	live := start(h, "r", event.ID{}, nil)
	o1.text("b", "void ", "void")
	live.until(t, o1.shown[len(o1.shown)-1].ID)

	o2 := own(t, st, h, "r", "p2", 2) // o1 knows nothing of it yet
	young := start(h, "r", event.ID{}, nil)
	o1.text("b", "void, too")
	o2.text("c", "new")
	late := start(h, "r", event.ID{}, nil)
	middle := start(h, "r", o1.shown[committed].ID, nil) // it saw one void chunk
	o1.feed.Close()
	o2.finish("c", 0)
	o2.end()

	want := append(o1.shown[:committed:committed], o2.shown...)
	same(t, "new", want, young.end(t))
	same(t, "new after the first event", want, late.end(t))
	same(t, "cut off at a void event", o2.shown, middle.end(t))
	same(t, "who saw it all", append(o1.shown[:committed+2:committed+2], o2.shown...), live.end(t))
	same(t, "history", want, read(t, h, "r", event.ID{}))
}

// TestARunThatIsLost: the owner lets go without an end, and somebody takes over whom this process does not hear.
func TestARunThatIsLost(t *testing.T) {
	st := openStore(t)
	h := openHub(t, follow.Config{Store: st, Poll: 10 * time.Millisecond})
	admit(t, st, "r")
	o1 := own(t, st, h, "r", "p1", 1)
	o1.durable(number(1))
	o1.text("b", "void")
	live := start(h, "r", event.ID{}, nil)
	live.until(t, o1.shown[1].ID)
	o1.feed.Close()
	o1.feed.Close()
	late := start(h, "r", event.ID{}, nil)
	late.until(t, o1.shown[0].ID)
	o2 := own(t, st, nil, "r", "p2", 2)
	o2.text("c", "new ", "text")
	o2.finish("c", 0)
	o2.end()
	same(t, "live", append(o1.shown, o2.shown...), live.end(t))
	same(t, "late", append(o1.shown[:1:1], o2.shown...), late.end(t))
}

func TestAFencedFeedIsSilent(t *testing.T) {
	st := openStore(t)
	h := openHub(t, follow.Config{Store: st, Poll: time.Millisecond})
	admit(t, st, "r")
	o1 := own(t, st, h, "r", "p1", 1)
	live := start(h, "r", event.ID{}, nil)
	o1.text("a", "void")
	live.until(t, o1.shown[0].ID)
	o2 := own(t, st, nil, "r", "p2", 2) // elsewhere; the store alone tells
	o2.durable(number(2))
	live.until(t, o2.shown[0].ID)
	o1.text("a", "never seen")
	o2.end()
	same(t, "live", append(o1.shown[:1:1], o2.shown...), live.end(t))
	o1.feed.Close()
}

func TestEnds(t *testing.T) {
	st := openStore(t)
	h := openHub(t, follow.Config{Store: st, Poll: 5 * time.Millisecond})
	if f := start(h, "nobody", event.ID{}, nil); true {
		<-f.done
		if !errors.Is(f.err, store.ErrNotFound) {
			t.Errorf("a run that is not there: %v", f.err)
		}
	}
	admit(t, st, "cancelled")
	f := start(h, "cancelled", event.ID{}, nil)
	waitFor(t, "look", func() bool { runs, _ := st.reads(); return runs > 2 })
	_, err := st.For(user()).StopRun(t.Context(), "cancelled", store.StopInterrupt, time.Now())
	must(t, err)
	if evs := f.end(t); len(evs) > 0 || f.run.Status != event.StatusInterrupted {
		t.Errorf("a pending run that was cancelled: %v, %s", evs, f.run.Status)
	}
	must(t, st.For(user()).DeleteRun(t.Context(), "cancelled"))

	admit(t, st, "r")
	own(t, st, nil, "r", "p1", 1).durable(number(1))
	f = start(h, "r", event.ID{}, nil)
	f.until(t, event.ID{Attempt: 1, N: 1})
	f.stop(t)
	errYield := errors.New("the client is gone")
	if _, err := h.Follow(t.Context(), user(), "r", event.ID{},
		func([]event.Event) error { return errYield }); !errors.Is(err, errYield) {
		t.Errorf("an error of yield: %v", err)
	}
	f = start(h, "r", event.ID{}, nil)
	f.until(t, event.ID{Attempt: 1, N: 1})
	h.Close()
	if <-f.done; !errors.Is(f.err, follow.ErrClosed) {
		t.Errorf("a closed hub: %v", f.err)
	}
	if _, err := h.Follow(t.Context(), user(), "r", event.ID{}, nil); !errors.Is(err, follow.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	h.Close()
}

func TestARunIsDeletedWhileItIsFollowed(t *testing.T) {
	st := openStore(t)
	h := openHub(t, follow.Config{Store: st, Poll: time.Millisecond})
	admit(t, st, "r")
	o := own(t, st, h, "r", "p1", 1)
	o.durable(number(1))
	held := make(chan struct{})
	f := start(h, "r", event.ID{}, nil)
	f.until(t, event.ID{Attempt: 1, N: 1})
	slow := start(h, "r", event.ID{}, func() { <-held })
	o.end()
	f.end(t)
	must(t, st.For(user()).DeleteRun(t.Context(), "r"))
	close(held)
	<-slow.done // it had all of it in memory, or reads that the run is gone
	if slow.err != nil && !errors.Is(slow.err, store.ErrNotFound) {
		t.Error(slow.err)
	}
}

// TestPositionsThatAreMadeUp do no harm to others.
func TestPositionsThatAreMadeUp(t *testing.T) {
	st := openStore(t)
	h := openHub(t, follow.Config{Store: st, Poll: 5 * time.Millisecond})
	admit(t, st, "r")
	o := own(t, st, nil, "r", "p1", 1)
	o.durable(number(1))
	var odd []*followed
	for _, id := range []event.ID{{Attempt: 1, N: 1 << 60}, {Attempt: 7}, {Attempt: 1, N: 50}} {
		odd = append(odd, start(h, "r", id, nil))
	}
	waitFor(t, "look", func() bool { _, logs := st.reads(); return logs > 8 })
	odd = append(odd, start(h, "r", event.ID{Attempt: 0, N: 9}, nil))
	good := start(h, "r", event.ID{}, nil)
	script(o)
	o.end()
	same(t, "good", settled(o.shown), good.end(t))
	for i, want := range [][]event.Event{nil, nil, nil, settled(o.shown)} {
		same(t, fmt.Sprint("odd ", i), want, odd[i].end(t))
	}
}

func TestTrimmedBoundariesAreAGap(t *testing.T) {
	st := openStore(t)
	h := openHub(t, follow.Config{Store: st})
	admit(t, st, "r")
	o := own(t, st, nil, "r", "p1", 1)
	o.text("a", "one ", "two")
	o.finish("a", 0)
	o.end()
	_, err := st.Collect(t.Context(), store.Retention{Chunks: time.Now().Add(time.Hour)})
	must(t, err)
	for after, want := range map[int64]bool{0: true, 1: true, 2: true, 3: false} { // 3 is the update
		gap := false
		for _, ev := range read(t, h, "r", event.ID{Attempt: 1, N: after}) {
			gap = gap || follow.Gap(ev)
			if ev.Data.Kind() == event.KindChunk {
				t.Errorf("after %d: a chunk out of nothing", after)
			}
		}
		if gap != want {
			t.Errorf("after %d: gap %t, want %t", after, gap, want)
		}
	}
	for _, ev := range o.shown {
		if follow.Gap(ev) {
			t.Errorf("%s is a gap", ev.ID)
		}
	}
}

func TestManyFollowersOfQuietRunsAskLittle(t *testing.T) {
	st := openStore(t)
	h := openHub(t, follow.Config{Store: st, Poll: 20 * time.Millisecond})
	admit(t, st, "r")
	var all []*followed
	for range 300 {
		all = append(all, start(h, "r", event.ID{}, nil))
	}
	for id := range 60 {
		admit(t, st, fmt.Sprint("r", id))
		all = append(all, start(h, fmt.Sprint("r", id), event.ID{}, nil))
	}
	waitFor(t, "look", func() bool { runs, _ := st.reads(); return runs >= 360+61 })
	before, _ := st.reads()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	<-ctx.Done()
	after, logs := st.reads()
	if n := after - before; n > 150 || logs > 0 { // each run at most once in 61*5ms
		t.Errorf("%d reads of runs in half a second, %d of logs", n, logs)
	}
	for _, f := range all {
		f.stop(t)
	}
}

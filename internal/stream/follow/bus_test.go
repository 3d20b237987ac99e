package follow_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/bus"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/follow"
	"github.com/pudu-ai/pudu/message"
)

// never is a poll that does not happen within a test: what is seen came over the bus.
const never = time.Hour

func TestAFollowerElsewhereSeesTheSame(t *testing.T) {
	st, b := openStore(t), openBus(t)
	here := openHub(t, follow.Config{Store: st, Bus: b, Owner: "p1"})
	there := openHub(t, follow.Config{Store: st, Bus: b, Owner: "p2", Poll: never})
	admit(t, st, "r")
	pending := start(there, "r", event.ID{}, nil)
	waitFor(t, "look", func() bool { runs, _ := st.reads(); return runs == 2 })
	waitFor(t, "subscription", func() bool { return b.Stats().Subscriptions == 1 })
	o := own(t, st, here, "r", "p1", 1)
	o.durable(number(1))
	o.text("m", "one ", "two ")
	pending.until(t, o.shown[2].ID)
	middle := start(there, "r", o.shown[1].ID, nil)
	late := start(openHub(t, follow.Config{Store: st, Bus: b, Owner: "p3", Poll: never}), "r", event.ID{}, nil)
	late.until(t, o.shown[2].ID) // half a message, which is nowhere but in the owner's memory
	o.text("m", "three")
	late.until(t, o.shown[3].ID)
	o.finish("m", 0)
	o.chunk("n", message.Chunk{Text: strings.Repeat("x", 700<<10)}) // too large to publish: comes out of the log
	o.text("n", "y")
	o.finish("n", 0)
	o.end()
	same(t, "pending", o.shown, pending.end(t))
	same(t, "middle", o.shown[2:], middle.end(t))
	same(t, "late", o.shown, late.end(t))
}

// TestAnOwnerThatBeginsIsAsked: the follower has read in the run's row already whose the attempt is, when nobody could be
// asked yet.
func TestAnOwnerThatBeginsIsAsked(t *testing.T) {
	st, b := openStore(t), openBus(t)
	claimed := make(chan struct{})
	claim := sync.OnceFunc(func() { close(claimed) })
	st.hold = func(nth int) {
		if nth == 2 { // the first look, after the read that found the run
			<-claimed
		}
	}
	here := openHub(t, follow.Config{Store: st, Bus: b, Owner: "p1"})
	there := openHub(t, follow.Config{Store: st, Bus: b, Owner: "p2", Poll: never})
	t.Cleanup(claim)
	admit(t, st, "r")
	f := start(there, "r", event.ID{}, nil)
	waitFor(t, "look", func() bool { runs, _ := st.reads(); return runs == 2 })
	time.Sleep(20 * time.Millisecond) // until the reader waits at the end of the log
	o := own(t, st, nil, "r", "p1", 1)
	claim()
	time.Sleep(20 * time.Millisecond) // until the follower knows the row
	o.feed = here.Own(store.Run{ID: "r", UserID: user().ID(), Attempt: 1})
	o.text("m", "one")
	f.until(t, o.shown[0].ID)
	o.finish("m", 0)
	o.end()
	same(t, "follower", o.shown, f.end(t))
}

// TestALowerPositionBringsBackTheBeginning: the mirror began behind the first chunks of a message, which a second
// reader needs.
func TestALowerPositionBringsBackTheBeginning(t *testing.T) {
	st, b := openStore(t), openBus(t)
	here := openHub(t, follow.Config{Store: st, Bus: b, Owner: "p1"})
	var deaf atomic.Bool
	there := openHub(t, follow.Config{Store: st, Owner: "p2", Poll: 20 * time.Millisecond,
		Bus: &lossy{b, func(subject string, data []byte) bool {
			return deaf.Load()
		}}})
	admit(t, st, "r")
	o := own(t, st, here, "r", "p1", 1)
	for i := range 3000 { // several messages on the bus
		o.text("m", fmt.Sprint(strings.Repeat("word ", 10), i))
	}
	first := start(there, "r", o.shown[2000].ID, nil)
	first.until(t, o.shown[2999].ID)
	second := start(there, "r", event.ID{}, nil)
	second.until(t, o.shown[2999].ID)
	o.text("m", "end")
	o.finish("m", 0)
	o.end()
	same(t, "first", o.shown[2001:], first.end(t))
	same(t, "second", o.shown, second.end(t))
}

// TestALostBatchIsSaidAgain: the hole is in the middle of a message, so the log cannot fill it.
func TestALostBatchIsSaidAgain(t *testing.T) {
	st, b := openStore(t), openBus(t)
	var lost atomic.Int32
	here := openHub(t, follow.Config{Store: st, Owner: "p1", Bus: &lossy{b, func(_ string, data []byte) bool {
		return bytes.Contains(data, []byte("lose me")) && lost.Add(1) == 1
	}}})
	there := openHub(t, follow.Config{Store: st, Bus: b, Owner: "p2", Poll: 50 * time.Millisecond})
	admit(t, st, "r")
	o := own(t, st, here, "r", "p1", 1)
	o.text("m", "one")
	f := start(there, "r", event.ID{}, nil)
	f.until(t, o.shown[0].ID)
	o.text("m", "lose me")
	waitFor(t, "loss", func() bool { return lost.Load() == 1 })
	o.text("m", "three")
	f.until(t, o.shown[2].ID)
	o.finish("m", 0)
	o.end()
	same(t, "all", o.shown, f.end(t))
}

func TestNobodyAskedNothingPublished(t *testing.T) {
	st, b := openStore(t), openBus(t)
	here := openHub(t, follow.Config{Store: st, Bus: b, Owner: "p1", Interest: 50 * time.Millisecond})
	there := openHub(t, follow.Config{Store: st, Bus: b, Owner: "p2", Interest: 50 * time.Millisecond,
		Poll: 10 * time.Millisecond})
	admit(t, st, "r")
	o := own(t, st, here, "r", "p1", 1)
	local := start(here, "r", event.ID{}, nil)
	for range 1000 {
		o.text("m", "word ")
	}
	local.until(t, o.shown[999].ID)
	if n := b.Stats().Published; n != 1 { // the begin
		t.Errorf("%d messages for nobody", n)
	}
	f := start(there, "r", event.ID{}, nil)
	f.until(t, o.shown[999].ID)
	f.stop(t)
	quiet := func() uint64 { return b.Stats().Published }
	waitFor(t, "end of interest", func() bool {
		before := quiet()
		o.text("m", "more")
		time.Sleep(30 * time.Millisecond)
		return quiet() == before
	})
	o.finish("m", 0)
	o.end()
	same(t, "local", o.shown, local.end(t))
}

// TestStrangeMessages must do no harm.
func TestStrangeMessages(t *testing.T) {
	st, b := openStore(t), openBus(t)
	there := openHub(t, follow.Config{Store: st, Bus: b, Owner: "p2", Poll: never})
	here := openHub(t, follow.Config{Store: st, Bus: b, Owner: "p1", Poll: never})
	admit(t, st, "r")
	f := start(there, "r", event.ID{}, nil)
	waitFor(t, "subscription", func() bool { return b.Stats().Subscriptions == 1 })
	o := own(t, st, here, "r", "p1", 1)
	o.durable(number(1))
	for _, s := range []string{
		"", "wake up", "{}", `{"attempt":-1}`, `{"attempt":1,"after":-5}`, `{"attempt":1,"after":1}` + "\nno list",
		`{"attempt":1,"after":9,"from":"x"}`, `{"attempt":1,"after":0,"from":"x"}` + "\n" +
			`[{"id":"7-1","time":"2026-01-02T15:04:05Z","kind":"custom","data":{}}]`,
	} {
		b.Publish("run.r", []byte(s))
	}
	local := start(here, "r", event.ID{}, nil)
	attached(t, here, "r", 1)
	script(o)
	o.end()
	same(t, "local", o.shown, local.end(t))
	same(t, "there", settled(o.shown), settled(f.end(t)))
}

// TestAnyReaderOfAnyRun is what this package promises: whatever happens in a run and wherever it is executed, whoever
// follows it from wherever he was cut off, however slow, with hardly any memory and a bus that loses things, sees what
// the log tells later.
func TestAnyReaderOfAnyRun(t *testing.T) {
	st := openStore(t)
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		p := newPlay(t, st, fmt.Sprint("r", runs))
		defer p.close()
		p.readers(2)
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{
			"chunk", "chunk", "chunk", "chunks", "call", "progress", "custom", "finish", "finish", "discard", "reader",
			"reader", "takeover", "pause",
		}), 1, 40).Draw(t, "steps")
		for _, s := range steps {
			p.step(s)
		}
		p.o.end()
		p.check()
	})
}

// play is one random run with two processes.
type play struct {
	t     *rapid.T
	st    *counted
	id    string
	bus   bus.Bus
	hubs  [2]*follow.Hub
	o     *owner
	past  []*owner
	marks []event.ID // where readers were cut off
	seen  []*followed
	after []event.ID
	stop  []func()
}

func newPlay(t *rapid.T, st *counted, id string) *play {
	p := &play{t: t, st: st, id: id}
	percent := rapid.SampledFrom([]int{0, 20, 60, 100}).Draw(t, "loss")
	var mu sync.Mutex
	dice := rand.New(rand.NewPCG(1, uint64(len(id))))
	inner := openMemory(p)
	p.bus = &lossy{inner, func(string, []byte) bool {
		mu.Lock()
		defer mu.Unlock()
		return dice.IntN(100) < percent
	}}
	for i := range p.hubs {
		p.hubs[i] = follow.New(follow.Config{
			Store: st, Bus: p.bus, Owner: fmt.Sprint("p", i), Poll: 5 * time.Millisecond,
			Interest: 100 * time.Millisecond, MaxEvents: rapid.SampledFrom([]int{1, 7, 1000}).Draw(t, "max"),
			TailEvents: rapid.IntRange(1, 10).Draw(t, "tail"), TailBytes: 500,
		})
		p.stop = append(p.stop, p.hubs[i].Close)
	}
	admit(t, st, id)
	p.marks = []event.ID{{}}
	p.readers(1)
	p.takeover()
	return p
}

func (p *play) close() {
	for _, s := range p.seen {
		s.cancel()
		<-s.done
	}
	for _, stop := range slices.Backward(p.stop) {
		stop()
	}
}

func (p *play) takeover() {
	i := rapid.IntRange(0, 1).Draw(p.t, "process")
	old := p.o
	attempt := 1
	if old != nil {
		attempt = old.fence.Attempt + 1
	}
	p.o = own(p.t, p.st, p.hubs[i], p.id, fmt.Sprint("p", i), attempt)
	if old != nil {
		if rapid.Bool().Draw(p.t, "the old owner goes on") {
			old.text("void", "void ", "void")
		}
		old.feed.Close()
		p.past = append(p.past, old)
	}
}

func (p *play) readers(n int) {
	for range n {
		var slow func()
		if wait := rapid.SampledFrom([]int{0, 0, 1, 10}).Draw(p.t, "slow"); wait > 0 {
			slow = func() { time.Sleep(time.Duration(wait) * time.Millisecond) }
		}
		after := rapid.SampledFrom(p.marks).Draw(p.t, "after")
		p.after = append(p.after, after)
		p.seen = append(p.seen, start(p.hubs[rapid.IntRange(0, 1).Draw(p.t, "hub")], p.id, after, slow))
	}
}

func (p *play) step(s string) {
	o, t := p.o, p.t
	message1 := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "message") + fmt.Sprint(o.fence.Attempt, "-", o.messages)
	switch s {
	case "chunk":
		o.text(message1, "word ")
	case "chunks":
		for i := range 30 {
			o.text(message1, fmt.Sprint(i, " "))
		}
	case "call":
		o.chunk(message1, message.Chunk{ToolCalls: []message.ToolCallChunk{{
			Index: rapid.IntRange(0, 2).Draw(t, "index"), ID: rapid.SampledFrom([]string{"", "c"}).Draw(t, "id"),
			Name: rapid.SampledFrom([]string{"", "ls"}).Draw(t, "name"),
			Args: rapid.SampledFrom([]string{"", "{}", "{", "}", " "}).Draw(t, "args"),
		}}})
	case "progress":
		o.live(event.Progress{CallID: "c", Text: "x"})
	case "custom":
		o.durable(event.Custom{Value: json.RawMessage(`{"x":1}`)}, event.ToolEnd{CallID: "c"})
	case "finish", "discard":
		if o.open[message1] == nil {
			return
		}
		o.messages++
		if s == "discard" {
			o.discard(message1)
		} else {
			o.finish(message1, rapid.IntRange(0, 1).Draw(t, "extra"))
		}
	case "reader":
		p.readers(1)
	case "takeover":
		p.takeover()
	case "pause":
		time.Sleep(8 * time.Millisecond)
	}
	for _, ev := range o.shown[max(0, len(o.shown)-2):] {
		p.marks = append(p.marks, ev.ID)
	}
}

func (p *play) check() {
	t := p.t
	var attempts [][]event.Event
	for _, o := range append(p.past, p.o) {
		attempts = append(attempts, o.shown)
	}
	truth := settled(attempts...)
	fresh := follow.New(follow.Config{Store: p.st})
	defer fresh.Close()
	same(t, "history", truth, read(t, fresh, p.id, event.ID{}))
	ids := make(map[event.ID]bool)
	for _, ev := range truth {
		ids[ev.ID] = true
	}
	for i, f := range p.seen {
		var stays []event.Event
		last := p.after[i]
		for _, ev := range f.end(t) {
			if ev.ID.Compare(last) <= 0 {
				t.Fatalf("reader %d: %s comes after %s", i, ev.ID, last)
			}
			last = ev.ID
			if ids[ev.ID] {
				stays = append(stays, ev)
			} else if !ev.Data.Kind().Live() {
				t.Fatalf("reader %d: the durable event %s is not in the log", i, ev.ID)
			}
		}
		same(t, fmt.Sprintf("reader %d, after %s", i, p.after[i]), behind(truth, p.after[i]), stays)
	}
}

package bustest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/internal/bus"
)

// nothingAfterClose: neither what waits when a subscription is closed nor what comes later is handed over.
func nothingAfterClose(f *fixture) {
	a, b := f.handle(), f.handle()
	boxes := make([]inbox, 20)
	for i := range boxes {
		got, marks := &boxes[i], &inbox{}
		began, release := make(chan struct{}, 1), make(chan struct{})
		s := f.subscribe(a, "x", func(data []byte) {
			began <- struct{}{}
			<-release
			got.take(data)
		})
		f.subscribe(a, "x", marks.take)
		for n := range 3 {
			[]bus.Bus{a, b}[i%2].Publish("x", fmt.Append(nil, n))
		}
		f.expect(marks, "0", "1", "2")
		<-began
		s.Close()
		a.Publish("x", []byte("late"))
		b.Publish("x", []byte("late"))
		f.until("all marks", func() bool { return marks.len() == 5 })
		close(release)
		f.expect(got, "0")
		s.Close()
	}
	for _, h := range []bus.Bus{a, b} {
		if err := h.Close(); err != nil { // waits for handles
			f.Error(err)
		}
	}
	for i := range boxes {
		f.expect(&boxes[i], "0")
	}
}

// closeFromHandle: a subscriber that has what it waited for ends its own subscription.
func closeFromHandle(f *fixture) {
	b := f.handle()
	var got, marks inbox
	var s bus.Subscription
	ready := make(chan struct{})
	s = f.subscribe(b, "x", func(data []byte) {
		<-ready
		got.take(data)
		s.Close()
	})
	close(ready)
	f.subscribe(b, "x", marks.take)
	for i := range 3 {
		b.Publish("x", fmt.Append(nil, i))
	}
	f.expect(&marks, "0", "1", "2")
	f.expect(&got, "0")
}

func stuckSubscriber(f *fixture) {
	b := f.handle()
	stuck(f, b, b)
}

func stuckSubscriberElsewhere(f *fixture) {
	stuck(f, f.handle(), f.handle())
}

// stuck: a handle that does not return holds up neither the publisher nor the other subscribers. Memory stays bounded,
// and when the handle goes on, it gets what came last.
func stuck(f *fixture, publisher, subscriber bus.Bus) {
	release := make(chan struct{})
	free := sync.OnceFunc(func() { close(release) })
	defer free()
	var first sync.Once
	var last, others atomic.Int64
	f.subscribe(subscriber, "x", func(data []byte) {
		first.Do(func() { <-release })
		last.Store(int64(data[0]))
	})
	f.subscribe(subscriber, "x", func([]byte) { others.Add(1) })
	before := heap()
	f.within(10*time.Second, "publishing", func() {
		for range 256 {
			publisher.Publish("x", make([]byte, bus.MaxMessage))
		}
	})
	f.until("others served", func() bool { return others.Load() > 0 })
	f.until("memory within bounds", func() bool { return heap() < before+64<<20 })
	f.until("drops are counted", func() bool { return publisher.Stats().Dropped+subscriber.Stats().Dropped > 0 })
	publisher.Publish("x", []byte{1})
	free()
	f.until("the last message arrives", func() bool { return last.Load() == 1 })
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// closeEndsAll: what was published goes out, a closed bus does nothing, and the other handles go on.
func closeEndsAll(f *fixture) {
	a, b := f.handle(), f.handle()
	var here, there inbox
	s := f.subscribe(a, "x", here.take)
	f.subscribe(b, "y", there.take)
	a.Publish("y", []byte("last words"))
	if a != b {
		if err := a.Close(); err != nil {
			f.Fatal(err)
		}
	}
	f.expect(&there, "last words")
	if err := a.Close(); err != nil {
		f.Fatal(err)
	}
	if err := a.Close(); err != nil {
		f.Errorf("a second Close: %v", err)
	}
	before := a.Stats()
	a.Publish("x", []byte("late"))
	if after := a.Stats(); after.Dropped == before.Dropped || after.Subscriptions != 0 {
		f.Errorf("after Close: %+v, then %+v", before, after)
	}
	if s, err := a.Subscribe("x", here.take); !errors.Is(err, bus.ErrClosed) || s != nil {
		f.Errorf("Subscribe after Close: %v, %v", s, err)
	}
	if err := a.Healthy(); !errors.Is(err, bus.ErrClosed) {
		f.Errorf("Healthy after Close: %v", err)
	}
	s.Close()
	f.expect(&here)
}

// closeWithStuck: Close gives up on a handle that does not return, and says so.
func closeWithStuck(f *fixture) {
	b := f.open()
	f.until("healthy", func() bool { return b.Healthy() == nil })
	release, began := make(chan struct{}), make(chan struct{})
	defer close(release)
	f.subscribe(b, "x", func([]byte) {
		close(began)
		<-release
	})
	b.Publish("x", []byte("1"))
	b.Publish("x", []byte("2"))
	<-began
	f.within(8*time.Second, "Close", func() {
		if b.Close() == nil {
			f.Error("Close does not tell of the handle that runs")
		}
	})
}

// concurrentUse: everything at once, for the race detector; afterwards the bus works.
func concurrentUse(f *fixture) {
	handles := []bus.Bus{f.handle(), f.handle()}
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() { useAtRandom(f, handles[i%2], func(n int) bool { return n < 300 }) })
	}
	work.Wait()
	var got inbox
	f.subscribe(handles[0], "end", got.take)
	handles[1].Publish("end", []byte("ok"))
	f.expect(&got, "ok")
}

// closeUnderLoad: Close in the midst of it leaves nothing behind.
func closeUnderLoad(f *fixture) {
	b := f.handle()
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() { useAtRandom(f, b, func(int) bool { return !errors.Is(b.Healthy(), bus.ErrClosed) }) })
	}
	f.until("in use", func() bool { return b.Stats().Delivered > 100 })
	f.within(8*time.Second, "Close", func() {
		if err := b.Close(); err != nil {
			f.Error(err)
		}
	})
	work.Wait()
}

func useAtRandom(f *fixture, b bus.Bus, more func(n int) bool) {
	var subs []bus.Subscription
	rnd := rand.New(rand.NewPCG(rand.Uint64(), 0)) //nolint:gosec // nothing is kept secret by it
	for n := 0; more(n); n++ {
		subject := fmt.Sprint("s.", rnd.IntN(5))
		switch rnd.IntN(4) {
		case 0:
			if s, err := b.Subscribe(subject, func([]byte) { b.Publish("quiet", nil) }); err == nil {
				subs = append(subs, s)
			} else if !errors.Is(err, bus.ErrClosed) {
				f.Error(err)
			}
		case 1:
			if len(subs) > 0 {
				subs[rnd.IntN(len(subs))].Close()
			}
		case 2:
			_, _ = b.Stats(), b.Healthy()
		}
		b.Publish(subject, []byte(subject))
	}
	for _, s := range subs {
		s.Close()
	}
}

package bustest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pudu-ai/pudu/internal/bus"
)

// fanOut: each subscriber of a subject gets each message once, wherever both are, and no others do.
func fanOut(f *fixture) {
	a, b := f.handle(), f.handle()
	var boxes [4]inbox
	var other inbox
	for i, h := range []bus.Bus{a, a, b, b} {
		f.subscribe(h, "run.x", boxes[i].take)
	}
	for _, subject := range []string{"run", "run.x.y", "run.X", "x", "run.y"} {
		f.subscribe(b, subject, other.take)
	}
	for i, h := range []bus.Bus{a, b} {
		h.Publish("run.x", fmt.Append(nil, i))
		f.until("everyone has it", func() bool {
			return boxes[0].len() > i && boxes[1].len() > i && boxes[2].len() > i && boxes[3].len() > i
		})
	}
	a.Publish("run.y", []byte("end"))
	f.expect(&other, "end")
	for i := range boxes {
		f.expect(&boxes[i], "0", "1")
	}
}

// order: of two publishers at the same time, each one's messages come in its order, one at a time, and all of them.
func order(f *fixture) {
	const each = 3000
	a, b := f.handle(), f.handle()
	var logs [2]inbox
	for i, h := range []bus.Bus{a, b} {
		var busy atomic.Bool
		f.subscribe(h, "x", func(data []byte) {
			if !busy.CompareAndSwap(false, true) {
				f.Error("two calls of a handle at the same time")
			}
			logs[i].take(data)
			busy.Store(false)
		})
	}
	var work sync.WaitGroup
	for i, h := range []bus.Bus{a, b} {
		work.Go(func() {
			for n := range each {
				h.Publish("x", fmt.Appendf(nil, "%d %d", i, n))
			}
		})
	}
	work.Wait()
	for i := range logs {
		f.until("all messages", func() bool { return logs[i].len() >= 2*each })
		next := [2]int{}
		for _, line := range logs[i].all() {
			var from, n int
			if _, err := fmt.Sscanf(line, "%d %d", &from, &n); err != nil {
				f.Fatal(err)
			}
			if n != next[from] {
				f.Fatalf("subscriber %d got %q, want number %d", i, line, next[from])
			}
			next[from]++
		}
	}
	if n := a.Stats().Dropped + b.Stats().Dropped; n != 0 {
		f.Errorf("%d messages were dropped", n)
	}
}

// arrivesAfterSubscribe: there is no moment after Subscribe in which a message gets lost.
func arrivesAfterSubscribe(f *fixture) {
	a, b := f.handle(), f.handle()
	for i := range 200 {
		from := []bus.Bus{a, b}[i%2]
		var got inbox
		s := f.subscribe(a, "x", got.take)
		from.Publish("x", fmt.Append(nil, i))
		f.expect(&got, strconv.Itoa(i))
		s.Close()
	}
}

// manySubjects: thousands of subscriptions at once, each with its own messages.
func manySubjects(f *fixture) {
	const subjects = 2000
	a, b := f.handle(), f.handle()
	boxes := make([]inbox, subjects)
	before := a.Stats().Subscriptions
	subs := make([]bus.Subscription, subjects)
	for i := range boxes {
		subs[i] = f.subscribe(a, fmt.Sprint("run.", i), boxes[i].take)
	}
	if n := a.Stats().Subscriptions - before; n != subjects {
		f.Errorf("%d subscriptions are counted", n)
	}
	for i := range boxes {
		b.Publish(fmt.Sprint("run.", i), fmt.Append(nil, i))
	}
	for i := range boxes {
		f.expect(&boxes[i], strconv.Itoa(i))
	}
	for _, s := range subs {
		s.Close()
	}
	if n := a.Stats().Subscriptions - before; n != 0 {
		f.Errorf("%d subscriptions are left", n)
	}
}

// sizes: from nothing to the largest message, whole; a larger one is dropped and counted.
func sizes(f *fixture) {
	a, b := f.handle(), f.handle()
	var here, there inbox
	f.subscribe(a, "x", here.take)
	f.subscribe(b, "x", there.take)
	large := bytes.Repeat([]byte("0123456789abcdef"), bus.MaxMessage/16)
	a.Publish("x", nil)
	a.Publish("x", large)
	before := a.Stats().Dropped
	a.Publish("x", append(large, '!'))
	if n := a.Stats().Dropped - before; n != 1 {
		f.Errorf("%d messages were dropped, want the one that is too large", n)
	}
	a.Publish("x", []byte("\x00\r\n\xff"))
	for _, box := range []*inbox{&here, &there} {
		f.until("three messages", func() bool { return box.len() >= 3 })
		got := box.all()
		if len(got) != 3 || got[0] != "" || got[1] != string(large) || got[2] != "\x00\r\n\xff" {
			f.Errorf("got %d messages, or they are damaged", len(got))
		}
	}
}

// badSubjects: they are refused, and harm nothing where they are published.
func badSubjects(f *fixture) {
	b := f.handle()
	var got inbox
	f.subscribe(b, "x", got.take)
	for _, subject := range []string{"", ".", "x.", ".x", "x..y", "x.*", ">", "x y", "x\r\nPUB y 0\r\n", "é",
		strings.Repeat("x", bus.MaxSubject+1)} {
		if s, err := b.Subscribe(subject, got.take); err == nil || s != nil {
			f.Errorf("Subscribe(%q) = %v, %v", subject, s, err)
		}
		before := b.Stats().Dropped
		b.Publish(subject, []byte("bad"))
		if n := b.Stats().Dropped - before; n != 1 {
			f.Errorf("Publish(%q) counts %d as dropped", subject, n)
		}
	}
	b.Publish("x", []byte("good"))
	f.expect(&got, "good")
}

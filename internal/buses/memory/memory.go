// Package memory is the bus of a single process, see package bus: each subscription has a [Queue]. The bus on NATS uses
// it too, for what stays within its process.
package memory

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/internal/bus"
)

var (
	_ bus.Bus          = (*Bus)(nil)
	_ bus.Subscription = (*Subscription)(nil)
)

// closeLimit is how long Close waits for handles.
const closeLimit = time.Second

// Bus connects the publishers and subscribers of one process. Make one with [New].
type Bus struct {
	published, delivered, dropped atomic.Uint64
	running                       sync.WaitGroup // the goroutines that call handles

	mu     sync.RWMutex // taken before that of a queue
	subs   map[string][]*Subscription
	open   int // subscriptions
	closed bool
}

// New returns a bus.
func New() *Bus { return &Bus{subs: map[string][]*Subscription{}} }

// Publish is [bus.Bus.Publish].
func (b *Bus) Publish(subject string, data []byte) {
	b.published.Add(1)
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed || len(data) > bus.MaxMessage || bus.CheckSubject(subject) != nil {
		b.dropped.Add(1)
		return
	}
	for _, s := range b.subs[subject] {
		s.Deliver(data)
	}
}

// Subscribe is [bus.Bus.Subscribe].
func (b *Bus) Subscribe(subject string, handle func(data []byte)) (bus.Subscription, error) {
	s, err := b.Listen(subject, handle)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Listen is Subscribe for who also brings messages from elsewhere, see [Subscription.Deliver].
func (b *Bus) Listen(subject string, handle func(data []byte)) (*Subscription, error) {
	if err := bus.CheckSubject(subject); err != nil {
		return nil, err
	}
	s := &Subscription{bus: b, subject: subject}
	s.queue = NewQueue(bus.MaxWaiting, &b.running, func(m Message) {
		b.delivered.Add(1)
		handle(m.Data)
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, bus.ErrClosed
	}
	b.subs[subject] = append(b.subs[subject], s)
	b.open++
	return s, nil
}

// Healthy is [bus.Bus.Healthy]: there are no other processes to reach.
func (b *Bus) Healthy() error {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return bus.ErrClosed
	}
	return nil
}

// Stats is [bus.Bus.Stats].
func (b *Bus) Stats() bus.Stats {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return bus.Stats{
		Published: b.published.Load(), Delivered: b.delivered.Load(), Dropped: b.dropped.Load(), Subscriptions: b.open,
	}
}

// Close is [bus.Bus.Close].
func (b *Bus) Close() error {
	if !b.shut() {
		return nil
	}
	done := make(chan struct{})
	go func() { // ends with the last handle
		b.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-time.After(closeLimit):
		return errors.New("close bus: a subscriber's handle does not return")
	}
}

// shut closes every subscription; false means that it was done before.
func (b *Bus) shut() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	for _, subs := range b.subs {
		for _, s := range subs {
			s.queue.Close()
		}
	}
	b.closed, b.subs, b.open = true, nil, 0
	return true
}

// Subscription is a subscriber in this process.
type Subscription struct {
	bus     *Bus
	subject string
	queue   *Queue
}

// Deliver hands it a message, as one that was published here.
func (s *Subscription) Deliver(data []byte) {
	if n := s.queue.Put(Message{Data: data}); n > 0 {
		s.bus.dropped.Add(uint64(n))
	}
}

// Close is [bus.Subscription.Close].
func (s *Subscription) Close() {
	s.queue.Close() // first: a queue that the bus no longer knows must start nothing, Close waits for what was started
	s.bus.remove(s)
}

func (b *Bus) remove(s *Subscription) {
	b.mu.Lock()
	defer b.mu.Unlock()
	subs := b.subs[s.subject]
	i := slices.Index(subs, s)
	if i < 0 {
		return
	}
	b.open--
	if len(subs) == 1 {
		delete(b.subs, s.subject)
		return
	}
	b.subs[s.subject] = slices.Delete(subs, i, i+1)
}

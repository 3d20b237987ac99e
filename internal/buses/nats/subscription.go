package nats

import (
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pudu-ai/pudu/internal/bus"
	"github.com/pudu-ai/pudu/internal/buses/memory"
)

// subscription is one at the local bus, to which the client brings what others publish.
type subscription struct {
	bus   *Bus
	local *memory.Subscription
	close func()

	known  chan struct{}      // closed when remote is set and, if there is a server, the server knows of it
	remote *nats.Subscription // nil if the bus was closed meanwhile
}

// Subscribe is [bus.Bus.Subscribe].
func (b *Bus) Subscribe(subject string, handle func(data []byte)) (bus.Subscription, error) {
	local, err := b.local.Listen(subject, handle)
	if err != nil {
		return nil, err
	}
	s := &subscription{bus: b, local: local, known: make(chan struct{})}
	s.close = sync.OnceFunc(s.end)
	if !b.begin(func() { s.attach(b.prefix + subject) }) {
		local.Close()
		return nil, bus.ErrClosed
	}
	b.add(s)
	if b.conn.state.up.Load() {
		select {
		case <-s.known:
		case <-time.After(knownLimit):
		}
	}
	return s, nil
}

// attach subscribes at the server. While that is away the client only remembers it.
func (s *subscription) attach(subject string) {
	defer close(s.known)
	client := s.bus.conn.client.Load()
	remote, err := client.Subscribe(subject, func(m *nats.Msg) { s.local.Deliver(m.Data) })
	if err != nil {
		return // closed: the subject is known to be good
	}
	s.remote = remote
	_ = remote.SetPendingLimits(pendingNumber, pendingBytes) // fails only when closed
	if s.bus.conn.state.up.Load() {
		_ = client.FlushTimeout(knownLimit) // if it fails, the connection is about to be replaced, and subscribes again
	}
}

// Close is [bus.Subscription.Close].
func (s *subscription) Close() { s.close() }

func (s *subscription) end() {
	s.local.Close()
	s.bus.begin(s.detach) // a closed client has no subscriptions
}

func (s *subscription) detach() {
	<-s.known
	s.bus.remove(s)
	if s.remote == nil {
		return
	}
	if err := s.remote.Unsubscribe(); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		s.bus.conn.state.complain(err)
	}
}

// dropped is how many messages the client could not even hand over.
func (s *subscription) dropped() uint64 {
	select {
	case <-s.known:
	default:
		return 0
	}
	n, err := s.remote.Dropped() // nil is an error, too
	if err != nil {
		return 0
	}
	return uint64(n)
}

func (b *Bus) add(s *subscription) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subs[s] = struct{}{}
}

// remove forgets it, but not what it dropped.
func (b *Bus) remove(s *subscription) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.subs[s]; ok {
		delete(b.subs, s)
		b.dropped.Add(s.dropped())
	}
}

// Package nats is the bus of several processes, see package bus: a NATS server carries the messages between them. What
// is published for this process goes to its subscribers directly, whether the server is there or not.
//
// The client waits for the network under a lock. Therefore callers of the bus never touch it: messages go through a
// queue, and subscribing happens in goroutines of its own.
package nats

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pudu-ai/pudu/internal/bus"
	"github.com/pudu-ai/pudu/internal/buses/memory"
)

var (
	_ bus.Bus          = (*Bus)(nil)
	_ bus.Subscription = (*subscription)(nil)
)

const (
	// sendLimit is how many bytes wait to be sent.
	sendLimit = 16 << 20
	// firstLimit is how long Open waits for the first attempt.
	firstLimit = 200 * time.Millisecond
	// knownLimit is how long Subscribe waits until the server knows of it.
	knownLimit = time.Second
	// sentLimit is how long Close waits for what was published, and closeLimit for the client to end after that.
	sentLimit  = time.Second
	closeLimit = 2 * time.Second
)

// Bus is a connection to NATS. Make one with [Open].
type Bus struct {
	prefix string
	local  *memory.Bus
	conn   *connection

	send    *memory.Queue
	sending sync.WaitGroup
	sent    chan struct{} // closed when the queue has come to the mark that Close puts into it
	dropped atomic.Uint64 // on the way to and from the server

	mu     sync.Mutex
	subs   map[*subscription]struct{}
	work   sync.WaitGroup // goroutines that subscribe and unsubscribe; none begins once closed
	closed bool
}

// Open connects in the background: the server may be away, now and later. If it is there, the bus usually is healthy
// when Open returns. ctx is only for the opening. An error means that the configuration is wrong; no password stands in
// it.
func Open(ctx context.Context, cfg Config) (*Bus, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	conn, err := connect(cfg)
	if err != nil {
		return nil, err
	}
	b := &Bus{
		prefix: cfg.Prefix + ".", local: memory.New(), conn: conn,
		sent: make(chan struct{}), subs: map[*subscription]struct{}{},
	}
	b.send = memory.NewQueue(sendLimit, &b.sending, b.transmit)
	conn.wait(ctx, firstLimit)
	return b, nil
}

// Publish is [bus.Bus.Publish].
func (b *Bus) Publish(subject string, data []byte) {
	b.local.Publish(subject, data)
	if len(data) > bus.MaxMessage || bus.CheckSubject(subject) != nil {
		return // counted there
	}
	if !b.conn.state.up.Load() {
		b.dropped.Add(1)
		return
	}
	b.dropped.Add(uint64(b.send.Put(memory.Message{Subject: b.prefix + subject, Data: data})))
}

// transmit gives a message to the client. The mark of Close has no subject.
func (b *Bus) transmit(m memory.Message) {
	if m.Subject == "" {
		close(b.sent)
		return
	}
	client := b.conn.client.Load()
	err := client.Publish(m.Subject, m.Data)
	if err == nil {
		return
	}
	b.dropped.Add(1)
	switch {
	case errors.Is(err, nats.ErrMaxPayload):
		b.conn.state.complain(err) // the server's limit is below ours, for its operator to raise
	case errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrConnectionClosed):
	default:
		// The write failed, and the client threw away all that it had gathered, subscriptions perhaps among it. It
		// sends those again when it connects anew.
		_ = client.ForceReconnect() // fails only when closed
	}
}

// Healthy is [bus.Bus.Healthy].
func (b *Bus) Healthy() error { return b.conn.state.healthy() }

// Stats is [bus.Bus.Stats].
func (b *Bus) Stats() bus.Stats {
	stats := b.local.Stats()
	stats.Dropped += b.dropped.Load()
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.subs {
		stats.Dropped += s.dropped()
	}
	return stats
}

// Close is [bus.Bus.Close].
func (b *Bus) Close() error {
	if !b.shut() {
		return nil
	}
	b.flush(time.Now().Add(sentLimit))
	b.send.Close()
	ended := make(chan struct{})
	go func() { // ends with the client
		b.conn.close()
		b.work.Wait()
		b.sending.Wait()
		close(ended)
	}()
	var err error
	select {
	case <-ended:
	case <-time.After(closeLimit):
		err = errors.New("close bus: the NATS client does not end")
	}
	return errors.Join(err, b.local.Close())
}

// shut refuses later subscriptions; false means that it was done before.
func (b *Bus) shut() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.closed
	b.closed = true
	return !was
}

// flush waits until the server has what was published.
func (b *Bus) flush(deadline time.Time) {
	if !b.conn.state.up.Load() {
		return
	}
	b.send.Put(memory.Message{})
	select {
	case <-b.sent:
	case <-time.After(time.Until(deadline)):
		return
	}
	// what is not sent by then is lost
	_ = b.conn.client.Load().FlushTimeout(max(time.Until(deadline), time.Millisecond))
}

// begin runs f in the background, unless the bus is closed.
func (b *Bus) begin(f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.work.Go(f)
	return true
}

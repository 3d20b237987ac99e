// Package bus is the contract of what carries live frames and wake-ups between the processes that share a store. The
// implementations live in internal/buses; the suite in internal/bus/bustest is what they must pass.
//
// A bus may lose any message. Nothing on it is durable and nothing ever holds up a publisher: who follows a run notices
// from the ids what it missed and reads it in the store's log, and who waits for work looks there from time to time.
package bus

import "errors"

// MaxMessage is how many bytes a message may have. Larger ones are dropped.
const MaxMessage = 1 << 20

// MaxWaiting is how many bytes may wait for one subscription, each message counting 64 bytes more than it has. When
// there are more, the oldest are dropped.
const MaxWaiting = 4 << 20

// ErrClosed is the answer of a bus after Close.
var ErrClosed = errors.New("bus is closed")

// Bus hands messages from publishers to the subscribers of a subject, in this process and in others. There are no
// wildcards: who needs all of a kind gives them one subject and names the one in question in the message. Its methods
// may be called from any goroutine.
type Bus interface {
	// Publish sends data to everyone who is subscribed to the subject, this process included. It waits neither for a
	// subscriber nor for the network: what cannot be taken is dropped and counted, and so is a message with a bad
	// subject, a larger one than [MaxMessage], and any after Close. Nobody may change data afterwards.
	Publish(subject string, data []byte)
	// Subscribe calls handle for each message, one at a time, until the subscription or the bus is closed. Messages of
	// one publisher come in the order in which it sent them; only what was on its way when a connection broke may come
	// late. A message that this process publishes after Subscribe has returned arrives, unless too many wait; one of
	// another process does if the bus was healthy. Where it is not, Subscribe does not wait for it: the subscription
	// holds for other processes as soon as they can be reached.
	//
	// While handle works, messages wait: up to [MaxWaiting], then the oldest are dropped, so that the last always
	// arrives. handle must not change data. A bad subject is an error, see [CheckSubject]; after Close it is
	// [ErrClosed].
	Subscribe(subject string, handle func(data []byte)) (Subscription, error)
	// Healthy returns nil if messages reach other processes at present, else an error that says why not. It does not
	// wait, and no password stands in it.
	Healthy() error
	// Stats counts since the start.
	Stats() Stats
	// Close gives what was published a moment to go out, and running handles a moment to return: it takes a few seconds
	// at most, and is an error if they do not. It must not be called from a handle. What waits for subscribers is
	// dropped. A second call does nothing.
	Close() error
}

// Subscription is what Subscribe began.
type Subscription interface {
	// Close ends it: no call of handle begins after Close has returned; one that runs goes on. It may be called from
	// handle, and again.
	Close()
}

// Stats are counters of this process, except Subscriptions.
type Stats struct {
	// Published counts the calls of Publish, and Delivered those of handles.
	Published, Delivered uint64
	// Dropped counts the messages known to be lost, once for each place that lost them: a subscription with too many
	// waiting, and the way to the other processes.
	Dropped uint64
	// Subscriptions is how many are open now.
	Subscriptions int
}

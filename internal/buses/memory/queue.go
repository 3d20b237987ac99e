package memory

import "sync"

// overhead is what a message counts beside its data, so that empty ones cannot pile up either.
const overhead = 64

// Message is what waits in a [Queue].
type Message struct {
	Subject string
	Data    []byte
}

func (m Message) size() int { return len(m.Data) + overhead }

// Queue hands messages to a function, one at a time and in order, and never lets who puts them in wait: when more bytes
// wait than may, it drops the oldest. It has a goroutine only while there is something to do. The function may change
// the queue.
type Queue struct {
	limit   int
	running *sync.WaitGroup
	handle  func(Message)

	mu      sync.Mutex
	waiting []Message
	bytes   int // of those waiting
	busy    bool
	closed  bool
}

// NewQueue returns a queue in which up to limit bytes wait; the newest message is kept however large it is. Its
// goroutine counts in running.
func NewQueue(limit int, running *sync.WaitGroup, handle func(Message)) *Queue {
	return &Queue{limit: limit, running: running, handle: handle}
}

// Put adds a message and returns how many were dropped for it. A closed queue takes none.
func (q *Queue) Put(m Message) (dropped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return 0
	}
	q.waiting = append(q.waiting, m)
	q.bytes += m.size()
	for q.bytes > q.limit && len(q.waiting) > 1 {
		q.pop()
		dropped++
	}
	if !q.busy {
		q.busy = true
		q.running.Go(q.work)
	}
	return dropped
}

// Close drops what waits. No call of the function begins after it has returned.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.waiting, q.bytes = true, nil, 0
}

func (q *Queue) work() {
	for {
		m, ok := q.next()
		if !ok {
			return
		}
		q.handle(m)
	}
}

// next returns the oldest message; false means that there is none and the goroutine is to end.
func (q *Queue) next() (Message, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.waiting, q.busy = nil, false
		return Message{}, false
	}
	return q.pop(), true
}

func (q *Queue) pop() Message {
	m := q.waiting[0]
	q.waiting[0] = Message{} // the array lives on for a while
	q.waiting = q.waiting[1:]
	q.bytes -= m.size()
	return m
}

package route

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// ErrGone is that the client does not take what is written.
var ErrGone = errors.New("the client has gone")

// Outlet writes a stream to a client.
type Outlet struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	limits Limits
	quiet  string // is written when nothing else was for a while
	done   chan struct{}

	mu    sync.Mutex
	buf   []byte
	wrote time.Time
}

// NewSSE begins a stream of server-sent events.
func NewSSE(w http.ResponseWriter, limits Limits) *Outlet {
	return NewOutlet(w, limits, "text/event-stream; charset=utf-8", ": heartbeat\n\n")
}

// NewOutlet sends the headers of a stream and keeps it from being quiet for too long. The caller closes it.
func NewOutlet(w http.ResponseWriter, limits Limits, kind, quiet string) *Outlet {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	h.Set("Connection", "keep-alive")
	out := &Outlet{w: w, rc: http.NewResponseController(w), limits: limits, quiet: quiet, wrote: time.Now(),
		done: make(chan struct{})}
	_ = out.rc.Flush() // sends the headers; a client that has gone is noticed later
	go out.beat()
	return out
}

// Close ends it: nothing is written any more.
func (o *Outlet) Close() {
	close(o.done)
	o.mu.Lock() // the beat has ended, or writes nothing more
	defer o.mu.Unlock()
	o.w = nil
}

// beat writes something when nothing else was written for a while.
func (o *Outlet) beat() {
	tick := time.NewTicker(o.limits.Heartbeat / 3)
	for {
		select {
		case <-o.done:
			return
		case <-tick.C:
		}
		o.mu.Lock()
		if o.w != nil && time.Since(o.wrote) > o.limits.Heartbeat*2/3 {
			o.buf = append(o.buf, o.quiet...)
			_ = o.send() // the reader notices too
		}
		o.mu.Unlock()
	}
}

// buffers hold what is about to be written. A stream that is quiet holds none.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Add appends to what is written. What an error leaves behind is dropped.
type Add func(grow func(b []byte) ([]byte, error)) error

// Write writes what fill adds, about a piece at once. An error of fill is returned; what was not written by then is
// dropped. A client that does not take it in time is [ErrGone].
func (o *Outlet) Write(fill func(add Add) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.lend()()
	err := fill(func(grow func([]byte) ([]byte, error)) (err error) {
		if o.buf, err = grow(o.buf); err != nil || len(o.buf) < piece {
			return err
		}
		return o.send()
	})
	if err != nil {
		return err
	}
	return o.send()
}

// lend gives a buffer until it is taken back. o.mu is held.
func (o *Outlet) lend() (back func()) {
	b := buffers.Get().(*[]byte) //nolint:forcetypeassert // it holds nothing else
	o.buf = (*b)[:0]
	return func() {
		if cap(o.buf) <= 4*piece {
			*b = o.buf[:0]
			buffers.Put(b)
		}
		o.buf = nil
	}
}

// send writes what waits. A client that does not take it in time is let go. o.mu is held.
func (o *Outlet) send() error {
	if len(o.buf) == 0 {
		return nil
	}
	o.wrote = time.Now()
	_, err := o.w.Write(o.buf)
	if err == nil {
		err = o.rc.Flush()
	}
	o.buf = o.buf[:0]
	if err != nil {
		return errors.Join(ErrGone, err)
	}
	return nil
}

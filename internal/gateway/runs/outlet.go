package runs

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/stream/frames"
)

// errGone: the client does not take what is written.
var errGone = errors.New("the client has gone")

// outlet writes a stream to a client.
type outlet struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	limits route.Limits
	quiet  string // is written when nothing else was for a while
	done   chan struct{}

	mu    sync.Mutex
	buf   []byte
	wrote time.Time
}

// newSSE begins a stream of frames.
func newSSE(w http.ResponseWriter, limits route.Limits) *outlet {
	return newOutlet(w, limits, "text/event-stream; charset=utf-8", ": heartbeat\n\n")
}

// newOutlet sends the headers of a stream and keeps it from being quiet for too long.
func newOutlet(w http.ResponseWriter, limits route.Limits, kind, quiet string) *outlet {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	h.Set("Connection", "keep-alive")
	out := &outlet{w: w, rc: http.NewResponseController(w), limits: limits, quiet: quiet, wrote: time.Now(), done: make(chan struct{})}
	_ = out.rc.Flush() // sends the headers; a client that has gone is noticed later
	go out.beat()
	return out
}

func (o *outlet) close() {
	close(o.done)
	o.mu.Lock() // the beat has ended, or writes nothing more
	defer o.mu.Unlock()
	o.w = nil
}

// beat writes something when nothing else was written for a while.
func (o *outlet) beat() {
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

// piece is how many bytes are written at once at most, but for one large frame.
const piece = 64 << 10

// buffers hold what is about to be written. A stream that is quiet holds none.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// errEnded ends the following of a run whose last frame was written: nobody waits for its row, which says the same.
var errEnded = errors.New("the run has ended")

// project writes the frames of events. With the last one it returns errEnded.
func (o *outlet) project(p *frames.Projector, evs []event.Event) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.lend()()
	for _, ev := range evs {
		fs, err := p.Project(ev)
		if err != nil {
			return err
		}
		for _, f := range fs {
			o.buf = f.AppendSSE(o.buf)
			if len(o.buf) >= piece {
				if err := o.send(); err != nil {
					return err
				}
			}
		}
	}
	if err := o.send(); err != nil || !p.Ended() {
		return err
	}
	return errEnded
}

// add puts a frame before those that are projected next.
func (o *outlet) add(f frames.Frame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf = f.AppendSSE(o.buf)
}

func (o *outlet) write(f frames.Frame) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.lend()()
	o.buf = f.AppendSSE(o.buf)
	return o.send()
}

// lend gives a buffer, with what waits to be written, until it is taken back. o.mu is held.
func (o *outlet) lend() (back func()) {
	b := buffers.Get().(*[]byte) //nolint:forcetypeassert // it holds nothing else
	o.buf = append((*b)[:0], o.buf...)
	return func() {
		if cap(o.buf) <= 4*piece {
			*b = o.buf[:0]
			buffers.Put(b)
		}
		o.buf = nil
	}
}

// send writes what waits. A client that does not take it in time is let go. o.mu is held.
func (o *outlet) send() error {
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
		return errors.Join(errGone, err)
	}
	return nil
}

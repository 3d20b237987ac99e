package route

import (
	"io"
	"net/http"
	"time"
)

// SteadyBody is the body of a request that may take its time as long as it comes on. A client that stands still for
// longer than wait, or sends less than slowest for long, is cut off: a deadline for the whole would either cut off
// honest clients with slow lines or give the others hours.
type SteadyBody struct {
	body  io.Reader
	rc    *http.ResponseController
	wait  time.Duration
	begun time.Time
	got   int64
	// Err is the first one that is not io.EOF of reading.
	Err error
}

// slowest is the rate, in bytes a second, that a client must keep to on average.
const slowest = 4 << 10

// Steady bounds the body of a request to so many bytes and makes it a steady one. Whoever reads it calls Drain before
// the answer is written.
func (e *Env) Steady(w http.ResponseWriter, r *http.Request, most int64) *SteadyBody {
	return &SteadyBody{
		body: http.MaxBytesReader(w, r.Body, most), rc: http.NewResponseController(w), wait: e.Limits.Write,
		begun: time.Now(),
	}
}

// Read implements [io.Reader].
func (b *SteadyBody) Read(p []byte) (int, error) {
	deadline := time.Now().Add(b.wait)
	if last := b.begun.Add(b.wait + time.Duration(b.got/slowest)*time.Second); last.Before(deadline) {
		deadline = last
	}
	// the server sets another one for the next request; a recorder in a test has none
	_ = b.rc.SetReadDeadline(deadline)
	n, err := b.body.Read(p)
	b.got += int64(n)
	if err != nil && err != io.EOF && b.Err == nil {
		b.Err = err
	}
	return n, err
}

// Close implements [io.Closer]. The server closes the real body.
func (*SteadyBody) Close() error { return nil }

// Drain reads what is left, within the bound. A client that still sends often does not look at the answer before it has
// sent everything, and the connection is of use again only after that.
func (b *SteadyBody) Drain() {
	if b.Err == nil {
		_, _ = io.Copy(io.Discard, b)
	}
}

// SteadyWriter gives the client of a download time for each piece that it is sent. The server takes the last deadline
// away after the answer.
type SteadyWriter struct {
	http.ResponseWriter

	rc   *http.ResponseController
	wait time.Duration
	// bare is a refusal that has no body.
	bare bool
}

// SteadyWriter makes one for a download.
func (e *Env) SteadyWriter(w http.ResponseWriter) *SteadyWriter {
	return &SteadyWriter{ResponseWriter: w, rc: http.NewResponseController(w), wait: e.Limits.Write}
}

// WriteHeader implements [http.ResponseWriter]. That no such range is there is said by the status and Content-Range
// alone.
func (w *SteadyWriter) WriteHeader(status int) {
	if status == http.StatusRequestedRangeNotSatisfiable {
		w.bare = true
		w.Header().Set("Content-Length", "0")
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *SteadyWriter) Write(p []byte) (int, error) {
	if w.bare {
		return len(p), nil
	}
	_ = w.rc.SetWriteDeadline(time.Now().Add(w.wait)) // of a recorder in a test there is none
	return w.ResponseWriter.Write(p)
}

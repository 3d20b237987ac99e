package gateway

import (
	"io"
	"net/http"
	"time"
)

// steadyBody is the body of a request that may take its time as long as it comes on. A client that stands still for
// longer than wait, or sends less than slowest for long, is cut off: a deadline for the whole would either cut off honest
// clients with slow lines or give the others hours.
type steadyBody struct {
	body  io.Reader
	rc    *http.ResponseController
	wait  time.Duration
	begun time.Time
	got   int64
	err   error // the first one that is not io.EOF
}

// slowest is the rate, in bytes a second, that a client must keep to on average.
const slowest = 4 << 10

// steady bounds the body of a request to so many bytes and makes it a steady one. Whoever reads it calls drain before the
// answer is written.
func (s *Server) steady(w http.ResponseWriter, r *http.Request, most int64) *steadyBody {
	return &steadyBody{
		body: http.MaxBytesReader(w, r.Body, most), rc: http.NewResponseController(w), wait: s.Limits.Write, begun: time.Now(),
	}
}

// Read implements [io.Reader].
func (b *steadyBody) Read(p []byte) (int, error) {
	deadline := time.Now().Add(b.wait)
	if last := b.begun.Add(b.wait + time.Duration(b.got/slowest)*time.Second); last.Before(deadline) {
		deadline = last
	}
	_ = b.rc.SetReadDeadline(deadline) // the server sets another one for the next request; a recorder in a test has none
	n, err := b.body.Read(p)
	b.got += int64(n)
	if err != nil && err != io.EOF && b.err == nil {
		b.err = err
	}
	return n, err
}

// Close implements [io.Closer]. The server closes the real body.
func (*steadyBody) Close() error { return nil }

// drain reads what is left, within the bound. A client that still sends often does not look at the answer before it has
// sent everything, and the connection is of use again only after that.
func (b *steadyBody) drain() {
	if b.err == nil {
		_, _ = io.Copy(io.Discard, b)
	}
}

// steadyWriter gives the client of a download time for each piece that it is sent. The server takes the last deadline away
// after the answer.
type steadyWriter struct {
	http.ResponseWriter

	rc   *http.ResponseController
	wait time.Duration
	// bare is a refusal that has no body.
	bare bool
}

func (s *Server) steadyWriter(w http.ResponseWriter) *steadyWriter {
	return &steadyWriter{ResponseWriter: w, rc: http.NewResponseController(w), wait: s.Limits.Write}
}

// WriteHeader implements [http.ResponseWriter]. That no such range is there is said by the status and Content-Range alone.
func (w *steadyWriter) WriteHeader(status int) {
	if status == http.StatusRequestedRangeNotSatisfiable {
		w.bare = true
		w.Header().Set("Content-Length", "0")
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *steadyWriter) Write(p []byte) (int, error) {
	if w.bare {
		return len(p), nil
	}
	_ = w.rc.SetWriteDeadline(time.Now().Add(w.wait)) // of a recorder in a test there is none
	return w.ResponseWriter.Write(p)
}

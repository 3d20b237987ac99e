package client

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"sync"
)

// Inside is a client of a handler in this process, without a connection that could break. It is closed before what the
// handler works with.
func Inside(h http.Handler) *Client {
	in := &inside{handler: h}
	return &Client{base: "http://pudu", name: "Pudu", http: &http.Client{Transport: in}, inside: in}
}

// inside answers requests by a handler.
type inside struct {
	handler http.Handler
	working sync.WaitGroup
}

// keep is how many bytes of an answer that is not flushed are kept until its handler has ended.
const keep = 64 << 10

// RoundTrip implements [http.RoundTripper]. An answer that is flushed, or that is long, is read while the handler
// works.
func (in *inside) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	asked := r.WithContext(ctx)
	asked.RequestURI = r.URL.RequestURI()
	if asked.Body == nil {
		asked.Body = http.NoBody
	}
	body, out := io.Pipe()
	stop := context.AfterFunc(ctx, func() { _ = out.CloseWithError(context.Cause(ctx)) })
	begun := make(chan struct{})
	a := &answer{
		header: http.Header{}, out: out, begin: sync.OnceFunc(func() { close(begun) }),
		res: &http.Response{Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: reading{body, cancel},
			ContentLength: -1, Request: r},
	}
	a.kept = bufio.NewWriterSize(behind{a}, keep)
	in.working.Go(func() {
		a.by(in.handler, asked)
		_ = asked.Body.Close()
		stop()
		cancel()
	})
	select {
	case <-begun:
	case <-ctx.Done(): // who asks does not wait any more, or the handler has ended
		if r.Context().Err() != nil {
			return nil, context.Cause(r.Context())
		}
	}
	return a.res, nil
}

// reading is the body of an answer. Who closes it before its end ends the request.
type reading struct {
	*io.PipeReader

	cancel context.CancelFunc
}

// Close implements [io.Closer].
func (b reading) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}

// answer is what a handler says.
type answer struct {
	header http.Header
	res    *http.Response // complete when the status is known
	kept   *bufio.Writer
	begin  func() // has the answer be read
	out    *io.PipeWriter
}

// by has a handler answer.
func (a *answer) by(h http.Handler, r *http.Request) {
	defer a.end(r.Context())
	h.ServeHTTP(a, r)
}

// end is deferred until a handler has answered. One that panics with http.ErrAbortHandler breaks off; one whose request
// has ended may have left something out.
func (a *answer) end(ctx context.Context) {
	why := recover()
	if why != nil && why != http.ErrAbortHandler {
		panic(why)
	}
	a.Flush()
	end := io.EOF
	switch {
	case why != nil:
		end = io.ErrUnexpectedEOF
	case ctx.Err() != nil:
		end = context.Cause(ctx)
	}
	_ = a.out.CloseWithError(end) // it never fails
}

// Header implements [http.ResponseWriter].
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) {
	if a.res.StatusCode == 0 {
		a.res.StatusCode, a.res.Status, a.res.Header = status, http.StatusText(status), a.header.Clone()
	}
}

// Write implements [http.ResponseWriter].
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.kept.Write(p)
}

// Flush implements [http.Flusher].
func (a *answer) Flush() {
	a.WriteHeader(http.StatusOK)
	a.begin()
	_ = a.kept.Flush() // who does not read it has ended the request
}

// behind is where what was kept of an answer goes.
type behind struct{ *answer }

// Write implements [io.Writer].
func (b behind) Write(p []byte) (int, error) {
	b.begin()
	return b.out.Write(p)
}

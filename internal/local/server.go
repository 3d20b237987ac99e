package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

const (
	// maxRequest bounds the JSON of a request, maxUpload one uploaded file, in bytes.
	maxRequest = 16 << 20
	maxUpload  = 512 << 20
	// maxBehind bounds the events that wait for a slow reader, who loses the stream then.
	maxBehind = 10_000
)

// Server carries out the runs that come in through the socket.
type Server struct {
	// Info is what clients are told.
	Info Info
	// Manager carries the runs out.
	Manager *runs.Manager
	// Store keeps an uploaded file of a thread.
	Store func(threadID, name string, content io.Reader, limit int64) error

	executing sync.WaitGroup
}

// Serve listens in the data folder, which the caller has locked, until ctx ends. Runs that it has begun are waited for:
// the caller stops the manager first or meanwhile. ready is called when clients can connect.
func (s *Server) Serve(ctx context.Context, dir string, ready func()) error {
	listener, err := listen(ctx, dir)
	if err != nil {
		return fmt.Errorf("listen in the data folder: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /info", s.info)
	mux.HandleFunc("POST /runs", s.run)
	mux.HandleFunc("POST /runs/{id}/cancel", s.cancel)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
	ready()
	err = srv.Serve(listener)
	s.executing.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// listen makes the socket. One that is there was left by a killed server: the folder's lock is ours.
func listen(ctx context.Context, dir string) (l net.Listener, err error) {
	if err := os.Remove(filepath.Join(dir, SocketName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	err = inFolder(dir, func(path string) error {
		var c net.ListenConfig
		if l, err = c.Listen(ctx, "unix", path); err != nil {
			return err
		}
		return os.Chmod(path, 0o600) // the folder is its owner's alone, as a rule; this is for one that is not
	})
	return l, err
}

func (s *Server) info(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s.Info) // a client that went away
}

func (s *Server) cancel(w http.ResponseWriter, r *http.Request) {
	if _, err := s.Manager.Cancel(r.Context(), r.PathValue("id"), store.StopInterrupt); err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
	}
}

// run takes a multipart body: first the part "request", then one part for each upload.
func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	out := newStream(w)
	defer out.close()
	parts, req, err := readRequest(r)
	if err != nil {
		out.fail(err)
		return
	}
	ctx := context.WithoutCancel(r.Context())
	run, err := s.admit(ctx, req, parts)
	if err != nil {
		out.fail(err)
		return
	}
	out.send(line{Run: &run})
	done := make(chan struct{})
	s.executing.Go(func() {
		defer close(done)
		ended, err := s.Manager.Execute(ctx, run, func(ev event.Event) { out.send(line{Event: &ev}) })
		if err != nil {
			out.fail(err)
			return
		}
		out.send(line{End: &ended.Run})
	})
	select {
	case <-done:
	case <-r.Context().Done(): // the run goes on
	}
}

// admit keeps the uploads and then admits the run, which is durable with them or not at all.
func (s *Server) admit(ctx context.Context, req runs.Request, uploads *multipart.Reader) (store.Run, error) {
	if err := s.Manager.Free(ctx, req.ThreadID); err != nil {
		return store.Run{}, err
	}
	if err := s.keepUploads(req.ThreadID, uploads); err != nil {
		return store.Run{}, err
	}
	return s.Manager.Admit(ctx, req)
}

func readRequest(r *http.Request) (*multipart.Reader, runs.Request, error) {
	var req runs.Request
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "multipart/form-data" {
		return nil, req, errors.New("the body is not multipart/form-data")
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, req, err
	}
	part, err := parts.NextPart()
	if err != nil {
		return nil, req, fmt.Errorf("read request: %w", err)
	}
	if part.FormName() != "request" {
		return nil, req, fmt.Errorf("the first part is %q and should be the request", part.FormName())
	}
	raw, err := io.ReadAll(io.LimitReader(part, maxRequest+1))
	if err == nil && len(raw) > maxRequest {
		err = fmt.Errorf("the request is larger than %d bytes", maxRequest)
	}
	if err == nil {
		err = json.Unmarshal(raw, &req)
	}
	if err != nil {
		return nil, req, fmt.Errorf("read request: %w", err)
	}
	return parts, req, nil
}

func (s *Server) keepUploads(threadID string, parts *multipart.Reader) error {
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read upload: %w", err)
		}
		name := part.FileName() // its last element, whatever the client sent
		if err := s.Store(threadID, name, part, maxUpload); err != nil {
			return fmt.Errorf("keep upload %q: %w", name, err)
		}
	}
}

// stream writes lines to a client from a goroutine of its own, so that no run waits for one.
type stream struct {
	w     http.ResponseWriter
	lines chan line
	ended chan struct{}

	mu     sync.Mutex
	closed bool
}

func newStream(w http.ResponseWriter) *stream {
	s := &stream{w: w, lines: make(chan line, maxBehind), ended: make(chan struct{})}
	w.Header().Set("Content-Type", "application/x-ndjson")
	go s.write()
	return s
}

func (s *stream) write() {
	defer close(s.ended)
	enc := json.NewEncoder(s.w)
	flush := http.NewResponseController(s.w)
	broken := false
	for l := range s.lines {
		if broken {
			continue
		}
		_ = flush.SetWriteDeadline(time.Now().Add(30 * time.Second))
		err := enc.Encode(l)
		if broken = err != nil; broken || len(s.lines) > 0 {
			continue
		}
		broken = flush.Flush() != nil
	}
}

// send hands a line over. A reader who is too far behind loses the stream, and finds the rest in the log.
func (s *stream) send(l line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	select {
	case s.lines <- l:
	default:
		s.closed = true
		close(s.lines)
	}
}

func (s *stream) fail(err error) {
	s.send(line{Error: &failure{Message: err.Error(), Conflict: errors.Is(err, store.ErrConflict)}})
}

// close ends the stream when everything is written.
func (s *stream) close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.lines)
	}
	s.mu.Unlock()
	<-s.ended
}

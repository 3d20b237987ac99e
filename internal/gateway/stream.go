package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/frames"
)

// errStopping ends a stream because the server stops; the client goes on elsewhere, or after the restart.
var errStopping = errors.New("the server stops")

// streamRun starts a run and streams what happens.
func (s *Server) streamRun(w http.ResponseWriter, r *http.Request) error {
	o, err := s.threadOrder(w, r)
	if err != nil {
		return err
	}
	return s.startStream(w, r, o)
}

func (s *Server) startStream(w http.ResponseWriter, r *http.Request, o order) error {
	run, err := s.submit(w, r, o)
	if err != nil {
		return err
	}
	return s.stream(w, r, run, view{modes: o.modes, subgraphs: o.Subgraphs, cancel: o.OnDisconnect == runs.CancelRun})
}

// view is what a reader wants to see of a run.
type view struct {
	modes     []frames.Mode
	subgraphs bool
	// after is the id of the last frame that the reader has seen; empty means none.
	after string
	// cancel says that the run shall stop when the reader goes away.
	cancel bool
}

// followRun streams an existing run, from the frame after Last-Event-ID on. With an action it cancels the run first.
func (s *Server) followRun(w http.ResponseWriter, r *http.Request) error {
	q := query{r: r}
	v := s.viewOf(&q)
	wait, action := q.boolean("wait"), q.action()
	run, err := s.ownRun(r)
	if err == nil {
		err = q.err()
	}
	if err != nil {
		return err
	}
	if action != "" && r.Method == http.MethodPost { // to look at something changes nothing
		if err := s.cancel(r.Context(), run, action); err != nil {
			return err
		}
		if wait {
			return s.cancelRun(w, r)
		}
	}
	if v.modes == nil {
		if v.modes, v.subgraphs, err = asked(run); err != nil {
			return err
		}
	}
	return s.stream(w, r, run, v)
}

// viewOf reads how a run is to be followed. The modes are repeated, a JSON list, or separated by commas.
func (s *Server) viewOf(q *query) view {
	v := view{after: q.r.Header.Get("Last-Event-ID"), cancel: q.boolean("cancel_on_disconnect")}
	var names []string
	for _, text := range q.r.URL.Query()["stream_mode"] {
		var list []string
		if json.Unmarshal([]byte(text), &list) != nil {
			list = strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' })
		}
		names = append(names, list...)
	}
	if len(names) == 0 {
		return v
	}
	var err error
	if v.modes, err = frames.ParseModes(names); err != nil {
		shown, _ := json.Marshal(clip(strings.Join(names, ",")))
		q.add("unsupported_stream_mode", err.Error(), shown, "query", "stream_mode")
	}
	v.subgraphs = q.boolean("stream_subgraphs")
	return v
}

// asked are the modes that a run was started with.
func asked(run store.Run) ([]frames.Mode, bool, error) {
	var req runs.Request
	if err := json.Unmarshal(run.Request, &req); err != nil {
		return nil, false, err
	}
	modes, err := frames.ParseModes(req.Modes)
	return modes, req.Subgraphs, err
}

// stream writes the frames of a run until its end. Once the headers are sent there is no error any more: what breaks off is
// taken up again by the client, from the last frame that it has seen.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, run store.Run, v view) error {
	p, err := s.projector(r.Context(), run, v)
	if err != nil {
		return err
	}
	location(w, run, "stream")
	out := newSSE(w, s.Limits)
	defer out.close()
	s.Watch.Streaming(1)
	defer s.Watch.Streaming(-1)
	ctx, stop := s.until(r.Context())
	defer stop()
	end, err := s.Hub.Follow(ctx, caller(ctx).User, run.ID, event.ID{}, func(evs []event.Event) error {
		if f, ok := gap(run, v, evs); ok {
			out.add(f)
		}
		return out.project(p, evs)
	})
	switch {
	case err == nil && end.Attempt == 0: // it was cancelled before it began
		return out.write(frames.EndFrame())
	case err == nil, errors.Is(err, errEnded):
	case r.Context().Err() != nil || errors.Is(err, errGone):
		s.disconnected(r.Context(), run, v)
	case !errors.Is(err, errStopping):
		s.Log.WarnContext(r.Context(), "stream broke off", "run", run.ID, "error", err)
	}
	return nil
}

// disconnected does what was asked for when the reader goes away.
func (s *Server) disconnected(ctx context.Context, run store.Run, v view) {
	if !v.cancel {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Limits.Write) // the reader's has ended
	defer cancel()
	if _, err := s.runs(ctx).Cancel(ctx, run.ID, store.StopInterrupt); err != nil {
		s.Log.WarnContext(ctx, "the run of a client that has gone was not cancelled", "run", run.ID, "error", err)
	}
}

// projector makes the view of a run.
func (s *Server) projector(ctx context.Context, run store.Run, v view) (*frames.Projector, error) {
	var req runs.Request
	if err := json.Unmarshal(run.Request, &req); err != nil {
		return nil, err
	}
	model := req.Model
	if model == "" {
		model = s.defaultModel()
	}
	p := frames.New(frames.Config{
		RunID: run.ID, ThreadID: run.ThreadID, Modes: v.modes, Subgraphs: v.subgraphs, Schema: s.Manager.Schema(),
		Base:          func() (store.Checkpoint, error) { return s.runs(ctx).Base(ctx, run, req) },
		Metadata:      with(req.Metadata, map[string]string{"assistant_id": req.AssistantID, "graph_id": GraphID, "model_name": model}),
		ModelMetadata: with(nil, s.modelMetadata(model)),
	})
	// An id of an attempt that is not yet to be is not this run's: like any that is unknown it means the beginning.
	if id, ok := frames.ParseFrameID(v.after); ok && id.Event.Attempt <= run.Attempt {
		p.SkipTo(id)
	}
	return p, nil
}

// modelMetadata says which model writes, in the members that LangChain has for it.
func (s *Server) modelMetadata(model string) map[string]string {
	if i := slices.IndexFunc(s.Models, func(m Model) bool { return m.Name == model }); i >= 0 && s.Models[i].Model != "" {
		model = s.Models[i].Model
	}
	out := map[string]string{"ls_model_name": model}
	if provider, name, found := strings.Cut(model, "/"); found {
		out["ls_provider"], out["ls_model_name"] = provider, name
	}
	return out
}

// with adds members to a JSON object.
func with(low json.RawMessage, more map[string]string) json.RawMessage {
	members, ok := rawjson.Members(low)
	if !ok {
		members = make(map[string]json.RawMessage)
	}
	for name, v := range more {
		members[name] = rawjson.AppendString(nil, v)
	}
	return object(members)
}

// defaultModel is the name of the model of a run that names none.
func (s *Server) defaultModel() string {
	if len(s.Models) == 0 {
		return ""
	}
	return s.Models[0].Name
}

// until is the context of a stream: it ends with the request, and when the server stops.
func (s *Server) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.stopping, func() { cancel(errStopping) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// errGone: the client does not take what is written.
var errGone = errors.New("the client has gone")

// outlet writes a stream to a client.
type outlet struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	limits Limits
	quiet  string // is written when nothing else was for a while
	done   chan struct{}

	mu    sync.Mutex
	buf   []byte
	wrote time.Time
}

// newSSE begins a stream of frames.
func newSSE(w http.ResponseWriter, limits Limits) *outlet {
	return newOutlet(w, limits, "text/event-stream; charset=utf-8", ": heartbeat\n\n")
}

// newOutlet sends the headers of a stream and keeps it from being quiet for too long.
func newOutlet(w http.ResponseWriter, limits Limits, kind, quiet string) *outlet {
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

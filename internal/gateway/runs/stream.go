package runs

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strings"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/frames"
)

// createStream starts a run and streams what happens.
func (g *Group) createStream(w http.ResponseWriter, r *http.Request, in *createIn) error {
	o, err := g.order(r.Context(), in.asked, in.ThreadID, in.Key)
	if err != nil {
		return err
	}
	run, err := g.admit(r.Context(), o)
	if err != nil {
		return err
	}
	to, err := g.spokenTo(r.Context(), w, run)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Location", route.Base(r)+runPath(to))
	return g.stream(w, r, to, view{modes: o.modes, subgraphs: o.Subgraphs, cancel: to.ID == run.ID &&
		o.OnDisconnect == runs.CancelRun})
}

// spokenTo is the run that a request is answered with: the new one, or the one at work, with what was said to it in a
// header.
func (g *Group) spokenTo(ctx context.Context, w http.ResponseWriter, run store.Run) (store.Run, error) {
	to, err := g.runs(ctx).Steered(ctx, run)
	if err == nil && to.ID != run.ID {
		w.Header().Set("X-Steer-Id", run.ID)
	}
	return to, err
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

// viewIn is how a run is to be followed.
type viewIn struct {
	After     string    `header:"last-event-id"`
	Gone      bool      `query:"cancel_on_disconnect"`
	Modes     viewModes `query:"stream_mode"`
	Subgraphs bool      `query:"stream_subgraphs"`
}

func (in *viewIn) view() view {
	v := view{after: in.After, cancel: in.Gone, modes: in.Modes}
	v.subgraphs = in.Subgraphs && v.modes != nil
	return v
}

// viewModes are modes that are repeated, a JSON list, or separated by commas.
type viewModes []frames.Mode

// ReadFrom implements [route.Reader].
func (m *viewModes) ReadFrom(in *route.Input, name string) {
	var names []string
	for _, text := range in.Names(name, math.MaxInt) {
		var list []string
		if json.Unmarshal([]byte(text), &list) != nil {
			list = strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' })
		}
		names = append(names, list...)
	}
	if len(names) == 0 {
		return
	}
	var err error
	if *m, err = frames.ParseModes(names); err != nil {
		shown, _ := json.Marshal(route.Clip(strings.Join(names, ",")))
		in.Add("unsupported_stream_mode", err.Error(), shown, in.Loc(name)...)
	}
}

type followIn struct {
	viewIn
	cancelIn
}

// follow streams an existing run, from the frame after Last-Event-ID on. With an action it cancels the run first.
func (g *Group) follow(w http.ResponseWriter, r *http.Request, in *followIn) (err error) {
	v := in.view()
	if in.Action != "" && r.Method == http.MethodPost { // to look at something changes nothing
		if err := g.cancel(r.Context(), in.Run, string(in.Action)); err != nil {
			return err
		}
		if in.Wait {
			status, err := g.ended(r.Context(), in.Run)
			if err != nil {
				return err
			}
			return status.Respond(w)
		}
	}
	if v.modes == nil {
		if v.modes, v.subgraphs, err = modesOf(in.Run); err != nil {
			return err
		}
	}
	return g.stream(w, r, in.Run, v)
}

// modesOf are the modes that a run was started with.
func modesOf(run store.Run) ([]frames.Mode, bool, error) {
	req, err := runs.RequestOf(run)
	if err != nil {
		return nil, false, err
	}
	modes, err := frames.ParseModes(req.Modes)
	return modes, req.Subgraphs, err
}

// stream writes the frames of a run until its end. Once the headers are sent there is no error any more: what breaks
// off is taken up again by the client, from the last frame that it has seen.
func (g *Group) stream(w http.ResponseWriter, r *http.Request, run store.Run, v view) error {
	p, err := g.projector(r.Context(), run, v)
	if err != nil {
		return err
	}
	location(w, run, "stream")
	out := route.NewSSE(w, g.Limits)
	defer out.Close()
	g.Watch.Streaming(1)
	defer g.Watch.Streaming(-1)
	ctx, stop := g.Until(r.Context())
	defer stop()
	end, err := g.Hub.Follow(ctx, route.Caller(ctx).User, run.ID, event.ID{}, func(evs []event.Event) error {
		if f, ok := gap(run, v, evs); ok {
			if err := writeFrame(out, f); err != nil {
				return err
			}
		}
		return project(out, p, evs)
	})
	switch {
	case err == nil && end.Attempt == 0: // it was cancelled before it began
		return writeFrame(out, frames.EndFrame())
	case err == nil, errors.Is(err, errEnded):
	case r.Context().Err() != nil || errors.Is(err, route.ErrGone):
		g.disconnected(r.Context(), run, v)
	case !errors.Is(err, route.ErrStopping):
		g.Log.WarnContext(r.Context(), "stream broke off", "run", run.ID, "error", err)
	}
	return nil
}

// disconnected does what was asked for when the reader goes away.
func (g *Group) disconnected(ctx context.Context, run store.Run, v view) {
	if !v.cancel {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.Limits.Write) // the reader's has ended
	defer cancel()
	if _, err := g.runs(ctx).Cancel(ctx, run.ID, store.StopInterrupt); err != nil {
		g.Log.WarnContext(ctx, "the run of a client that has gone was not cancelled", "run", run.ID, "error", err)
	}
}

// projector makes the view of a run.
func (g *Group) projector(ctx context.Context, run store.Run, v view) (*frames.Projector, error) {
	req, err := runs.RequestOf(run)
	if err != nil {
		return nil, err
	}
	model := req.Model
	if model == "" {
		model = g.defaultModel()
	}
	p := frames.New(frames.Config{
		RunID: run.ID, ThreadID: run.ThreadID, Modes: v.modes, Subgraphs: v.subgraphs, Schema: g.Manager.Schema(),
		Base: func() (store.Checkpoint, error) { return g.runs(ctx).Base(ctx, run, req) },
		Child: func(runID string, after, upTo event.ID) ([]event.Event, error) {
			return g.runs(ctx).Between(ctx, runID, after, upTo)
		},
		Metadata: shape.With(req.Metadata, map[string]string{"assistant_id": req.AssistantID,
			"graph_id": shape.GraphID, "model_name": model}),
		ModelMetadata: shape.With(nil, g.modelMetadata(model)),
	})
	// An id of an attempt that is not yet to be is not this run's: like any that is unknown it means the beginning.
	if id, ok := frames.ParseFrameID(v.after); ok && id.Event.Attempt <= run.Attempt {
		p.SkipTo(id)
	}
	return p, nil
}

// modelMetadata says which model writes, in the members that LangChain has for it.
func (g *Group) modelMetadata(model string) map[string]string {
	if m, _ := shape.Find(g.Models, model); m.Model != "" {
		model = m.Model
	}
	out := map[string]string{"ls_model_name": model}
	if provider, name, found := strings.Cut(model, "/"); found {
		out["ls_provider"], out["ls_model_name"] = provider, name
	}
	return out
}

// defaultModel is the name of the model of a run that names none.
func (g *Group) defaultModel() string {
	if len(g.Models) == 0 {
		return ""
	}
	return g.Models[0].Name
}

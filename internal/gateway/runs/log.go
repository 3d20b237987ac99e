package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// log writes the events of a run as they are, without a projection: one JSON object a line, from the one behind "after"
// on, until the run is at its end. The last line tells how it ended: {"run": ...}; a stream without that line was cut
// off, and whoever reads it comes back with the last id. Empty lines keep the connection alive.
func (g *Group) log(w http.ResponseWriter, r *http.Request, in *logIn) error {
	if g.Stopping.Err() != nil {
		return &route.Error{Status: http.StatusServiceUnavailable, Detail: "The server is stopping", RetryAfter: 1}
	}
	run := in.Run
	out := route.NewOutlet(w, g.Limits, "application/x-ndjson", "\n")
	defer out.Close()
	g.Watch.Streaming(1)
	defer g.Watch.Streaming(-1)
	ctx, stop := g.Until(r.Context())
	defer stop()
	l := &logger{Outlet: out, schema: g.Manager.Schema()}
	end, err := g.Hub.Follow(ctx, route.Caller(ctx).User, run.ID, in.After.ID, l.events)
	if err == nil {
		err = l.end(end)
	}
	if err != nil && r.Context().Err() == nil && !errors.Is(err, route.ErrGone) && !errors.Is(err, route.ErrStopping) {
		g.Log.WarnContext(r.Context(), "the log of a run broke off", "run", run.ID, "error", err)
	}
	return nil
}

type logIn struct {
	ofRun

	After eventID `query:"after"`
}

// eventID is the id of an event; the zero id, before all events, if it is missing.
type eventID struct{ event.ID }

// ReadFrom implements [route.Reader].
func (e *eventID) ReadFrom(in *route.Input, name string) {
	text := in.Str(name)
	if text == "" {
		return
	}
	var err error
	if e.ID, err = event.ParseID(text); err != nil {
		in.Add("value_error", "Value error, "+err.Error(), route.Quoted(in.Raw(name)), in.Loc(name)...)
	}
}

// logger writes the lines of a log.
type logger struct {
	*route.Outlet

	schema state.Schema
}

func (l *logger) events(evs []event.Event) error {
	return l.Write(func(add route.Add) error {
		for _, ev := range evs {
			if err := add(func(b []byte) ([]byte, error) { return l.line(b, ev) }); err != nil {
				return err
			}
		}
		return nil
	})
}

// line adds an event, without what only this program's own parts need.
func (l *logger) line(b []byte, ev event.Event) (_ []byte, err error) {
	ev.Open = 0
	switch d := ev.Data.(type) {
	case event.State:
		d.Writes, err = published(l.schema, d.Writes)
		ev.Data = d
	case event.ToolEnd:
		d.Writes, err = published(l.schema, d.Writes)
		ev.Data = d
	}
	if err != nil {
		return b, err
	}
	at := len(b)
	buf, err := ev.AppendJSON(b)
	if err != nil {
		return b, err
	}
	if bytes.ContainsRune(buf[at:], '\n') { // some value was stored with line breaks
		var line bytes.Buffer
		_ = json.Compact(&line, buf[at:]) // it is valid
		buf = append(buf[:at], line.Bytes()...)
	}
	return append(buf, '\n'), nil
}

// published is an update in its stored form without the writes to private channels.
func published(schema state.Schema, raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		return raw, nil
	}
	writes, err := schema.Writes(raw)
	if err != nil || !slices.ContainsFunc(writes, func(w state.Write) bool { return w.Private }) {
		return raw, err
	}
	b := []byte{'['}
	for _, w := range writes {
		if w.Private {
			continue
		}
		if b[len(b)-1] != '[' {
			b = append(b, ',')
		}
		o := rawjson.Begin(b)
		o.String("c", w.Channel)
		o.String("op", string(w.Op))
		o.Raw("v", w.Value)
		b, _ = o.End() // what was read as JSON can be written
	}
	return append(b, ']'), nil
}

// endJSON is how a run ended. Unlike in the LangGraph API, the status is the one that is stored: a run that waits for a
// human is interrupted, without a stop reason.
type endJSON struct {
	RunID      string    `json:"run_id"`
	ThreadID   string    `json:"thread_id"`
	Status     string    `json:"status"`
	Attempt    int       `json:"attempt"`
	Error      string    `json:"error,omitempty"`
	StopReason string    `json:"stop_reason,omitempty"`
	Usage      usageJSON `json:"usage"`
	CreatedAt  string    `json:"created_at"`
	UpdatedAt  string    `json:"updated_at"`
}

// usageJSON is what the model calls of a run took, in tokens.
type usageJSON struct {
	Input         int `json:"input_tokens"`
	Output        int `json:"output_tokens"`
	Total         int `json:"total_tokens"`
	CacheRead     int `json:"cache_read"`
	CacheCreation int `json:"cache_creation"`
	Reasoning     int `json:"reasoning"`
}

// end writes the last line.
func (l *logger) end(run store.Run) error {
	end := endJSON{
		RunID: run.ID, ThreadID: run.ThreadID, Status: run.Status, Attempt: run.Attempt, Error: run.Error,
		StopReason: run.StopReason, CreatedAt: shape.Stamp(run.CreatedAt), UpdatedAt: shape.Stamp(run.UpdatedAt),
	}
	if run.Usage != nil {
		var u message.Usage
		if err := json.Unmarshal(run.Usage, &u); err != nil {
			return err
		}
		end.Usage = usageJSON{u.InputTokens, u.OutputTokens, u.TotalTokens, u.CacheRead, u.CacheCreation, u.Reasoning}
	}
	raw, _ := json.Marshal(map[string]endJSON{"run": end}) // texts and numbers can be written
	return l.Write(func(add route.Add) error {
		return add(func(b []byte) ([]byte, error) { return append(append(b, raw...), '\n'), nil })
	})
}

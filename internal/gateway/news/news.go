// Package news is the group of routes that tell what is new: a list, one stream for all tabs of a user, and the mark
// that a thread was read.
//
//	gateway -> news -> the caller's news.Mine -> changeJSON, as an answer or as server-sent events
package news

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/feature/news"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/store"
)

// Group are the routes, with what they work with. Every field is required.
type Group struct {
	*route.Env

	News    *news.Hub
	Folders *folders.Folders
}

func (g *Group) mine(ctx context.Context) *news.Mine { return g.News.For(route.Caller(ctx).User) }

const (
	read  = "threads:read"
	write = "threads:write"
)

// Routes are those of the news.
func (g *Group) Routes() []route.Route {
	return route.Under("news",
		route.Get("/news", "List the threads that changed last, and count those that ask for a look", g.list).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.None),
		route.Raw(http.MethodGet, "/events", "Follow what changes on all threads", g.follow).
			Access(access.Viewer, read).Of(route.User).Rate(route.Stream).Body(route.None),
		route.Put("/threads/{thread_id}/read", "Say that a thread was read", g.read).
			Access(access.Regular, write).Of(route.Thread).Rate(route.Write).Body(route.None),
	)
}

// changeJSON is a thread as it is after its last change.
type changeJSON struct {
	ThreadID  string          `json:"thread_id"`
	State     string          `json:"state"`
	Title     string          `json:"title"`
	Metadata  json.RawMessage `json:"metadata"`
	CreatedAt string          `json:"created_at"`
	UpdatedAt string          `json:"updated_at"`
	ReadAt    *string         `json:"read_at"`
	Archived  bool            `json:"archived,omitempty"`
	Temporary bool            `json:"temporary,omitempty"`
	FolderID  string          `json:"folder_id,omitempty"`
}

// changesOf are threads after their changes, with the folders that they are in.
func (g *Group) changesOf(ctx context.Context, list []news.Change) ([]changeJSON, error) {
	ids := make([]string, len(list))
	for i, c := range list {
		ids[i] = c.Thread
	}
	in, err := g.Folders.For(route.Caller(ctx).User).OfEach(ctx, ids)
	out := make([]changeJSON, len(list))
	for i, c := range list {
		out[i] = changeOf(c)
		out[i].FolderID = in[c.Thread]
	}
	return out, err
}

func changeOf(c news.Change) changeJSON {
	out := changeJSON{
		ThreadID: c.Thread, State: c.State, Title: c.Title, Metadata: c.Metadata, CreatedAt: shape.Stamp(c.CreatedAt),
		UpdatedAt: shape.Stamp(c.UpdatedAt), Archived: c.Marks&store.Archived != 0,
		Temporary: c.Marks&store.Temporary != 0,
	}
	if !c.ReadAt.IsZero() {
		out.ReadAt = new(shape.Stamp(c.ReadAt))
	}
	return out
}

type countsJSON struct {
	Running  int `json:"running"`
	Waiting  int `json:"waiting"`
	Failed   int `json:"failed"`
	Answered int `json:"answered"`
}

type listIn struct {
	Limit int    `query:"limit" default:"100" min:"1" max:"500"`
	State string `query:"state" enum:",running,waiting,failed,answered"`
}

type listJSON struct {
	Threads []changeJSON `json:"threads"`
	Counts  countsJSON   `json:"counts"`
}

// list shows the threads that changed last, or those of them in a state, the newest first.
func (g *Group) list(ctx context.Context, in *listIn) (out listJSON, err error) {
	mine := g.mine(ctx)
	var changes []news.Change
	if in.State != "" {
		changes, err = mine.In(ctx, in.State, in.Limit)
	} else if changes, err = mine.Newest(ctx, in.Limit); err == nil {
		slices.Reverse(changes)
	}
	if err != nil {
		return out, err
	}
	counts, err := mine.Counts(ctx)
	if err != nil {
		return out, err
	}
	there := slices.DeleteFunc(changes, func(c news.Change) bool { return c.Gone })
	out.Counts = countsJSON(counts)
	out.Threads, err = g.changesOf(ctx, there)
	return out, err
}

type readIn struct {
	Thread store.Thread `of:"thread"`
}

// read says that the user has seen what there is of a thread.
func (g *Group) read(ctx context.Context, in *readIn) (route.Status, error) {
	return http.StatusNoContent, g.mine(ctx).MarkRead(ctx, in.Thread.ID, g.Now())
}

type followIn struct {
	Seen  string `header:"last-event-id"`
	After string `query:"after"`
}

// after is the number of the last change that the reader has seen; an id that is none of ours counts as one of another
// database.
func (in *followIn) after() int64 {
	seen := in.Seen
	if seen == "" {
		seen = in.After
	}
	if seen == "" {
		return 0
	}
	n, err := strconv.ParseInt(seen, 10, 64)
	if err != nil || n <= 0 {
		return 1<<63 - 1
	}
	return n
}

// errFull is for who has too many streams already.
var errFull = &route.Error{Status: http.StatusTooManyRequests, Detail: news.ErrReaders.Error(), RetryAfter: 5}

// follow streams what changes, from the change behind the last one that the reader has seen on, until the client goes.
// A server that stops says so, and the client comes back for the rest.
func (g *Group) follow(w http.ResponseWriter, r *http.Request, in *followIn) error {
	ctx, stop := g.Until(r.Context())
	defer stop()
	var out *route.Outlet
	err := g.mine(ctx).Follow(ctx, in.after(), func(l news.Look) error {
		if out == nil {
			out = route.NewSSE(w, g.Limits)
			g.Watch.Streaming(1)
		}
		changes, err := g.changesOf(ctx, l.Changes)
		if err != nil {
			return err
		}
		return out.Write(func(add route.Add) error { return addLook(add, l, changes) })
	})
	if out == nil {
		if errors.Is(err, news.ErrReaders) {
			return errFull
		}
		return err
	}
	defer out.Close()
	g.Watch.Streaming(-1)
	switch {
	case errors.Is(err, route.ErrStopping):
		_ = out.Write(func(add route.Add) error { return addLook(add, news.Look{Notice: "stopping"}, nil) })
	case r.Context().Err() == nil && !errors.Is(err, route.ErrGone):
		g.Log.WarnContext(r.Context(), "the stream of news broke off", "error", err)
	}
	return nil
}

// addLook adds the events of what a reader is shown at once.
func addLook(add route.Add, l news.Look, changes []changeJSON) error {
	type text map[string]string
	all := []sse{}
	if l.Reset != "" {
		all = append(all, sse{"reset", text{"reason": l.Reset}, 0})
	}
	for i, c := range l.Changes {
		e := sse{"thread", changes[i], c.Number}
		if c.Gone {
			e = sse{"gone", text{"thread_id": c.Thread}, c.Number}
		}
		all = append(all, e)
	}
	if l.Counts != nil {
		all = append(all, sse{"counts", countsJSON(*l.Counts), 0})
	}
	if l.Notice != "" {
		all = append(all, sse{"notice", text{"notice": l.Notice}, 0})
	}
	for _, e := range all {
		if err := add(e.append); err != nil {
			return err
		}
	}
	return nil
}

// sse is one server-sent event; without an id that of the reader stays what it was.
type sse struct {
	name string
	data any
	id   int64
}

func (e sse) append(b []byte) ([]byte, error) {
	data, err := json.Marshal(e.data)
	b = append(append(append(append(b, "event: "...), e.name...), "\ndata: "...), data...)
	if e.id > 0 {
		b = strconv.AppendInt(append(b, "\nid: "...), e.id, 10)
	}
	return append(b, "\n\n"...), err
}

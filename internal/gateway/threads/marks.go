package threads

import (
	"context"
	"errors"
	"net/http"

	"github.com/pudu-ai/pudu/internal/feature/bin"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/store"
)

// mine are the caller's threads, for the bin.
func (g *Group) mine(ctx context.Context) *bin.Mine { return g.Bin.For(route.Caller(ctx).User) }

func (g *Group) marks(t store.Thread) (m marksJSON) {
	m.Archived, m.Temporary = t.Archived(), t.Temporary()
	if t.Trashed() {
		m.TrashedAt = shape.Stamp(t.TrashedAt)
	}
	if end := g.Bin.Ends(t); !end.IsZero() {
		m.ExpiresAt = shape.Stamp(end)
	}
	return m
}

type markIn struct {
	ofThread

	Archived  flag  `body:"archived"`
	Temporary flag  `body:"temporary"`
	Pinned    flag  `body:"pinned"`
	Title     title `body:"title"`
}

// flag is a truth value that need not be there.
type flag struct{ value *bool }

// ReadFrom implements [route.Reader].
func (f *flag) ReadFrom(in *route.Input, name string) {
	if in.Raw(name) != nil {
		value := in.Boolean(name, false)
		f.value = &value
	}
}

// title is a title that need not be there.
type title string

// ReadFrom implements [route.Reader].
func (t *title) ReadFrom(in *route.Input, name string) {
	if in.Raw(name) == nil {
		return
	}
	*t = title(in.Text(name, bin.MaxTitle))
	if err := bin.CheckTitle(string(*t)); err != nil {
		in.Add("value_error", "Value error, "+err.Error(), route.Quoted(in.Raw(name)), in.Loc(name)...)
	}
}

// mark archives, pins or renames a thread, or makes it temporary or one that stays.
func (g *Group) mark(ctx context.Context, in *markIn) (threadJSON, error) {
	if in.Title != "" {
		err := g.mine(ctx).Rename(ctx, in.Thread.ID, string(in.Title))
		if errors.Is(err, store.ErrConflict) {
			err = route.Failf(http.StatusConflict, "Thread has a run in flight. Rename it after the run finishes.")
		}
		if err != nil {
			return threadJSON{}, err
		}
	}
	t, err := g.mine(ctx).Mark(ctx, in.Thread.ID,
		bin.Marks{Archived: in.Archived.value, Temporary: in.Temporary.value, Pinned: in.Pinned.value})
	return g.briefThread(t), err
}

type namedIn struct {
	ID string `path:"thread_id"`
}

// trash puts a thread into the bin.
func (g *Group) trash(ctx context.Context, in *namedIn) (threadJSON, error) {
	t, err := g.mine(ctx).Trash(ctx, in.ID)
	return g.named(t, in.ID, err)
}

// restore takes a thread out of the bin.
func (g *Group) restore(ctx context.Context, in *namedIn) (threadJSON, error) {
	t, err := g.mine(ctx).Restore(ctx, in.ID)
	return g.named(t, in.ID, err)
}

func (g *Group) named(t store.Thread, id string, err error) (threadJSON, error) {
	if errors.Is(err, store.ErrNotFound) {
		err = route.NotFound("Thread", id)
	}
	return g.briefThread(t), err
}

type binIn struct {
	Limit  int `query:"limit" default:"100" min:"1" max:"1000"`
	Offset int `query:"offset"`
}

// bin lists what is in the bin.
func (g *Group) bin(ctx context.Context, in *binIn) (route.Page[threadJSON], error) {
	list, err := g.mine(ctx).List(ctx, store.InBin, in.Limit+1, in.Offset)
	out := make([]threadJSON, len(list))
	for i, t := range list {
		out[i] = g.briefThread(t)
	}
	return route.PageOf(out, in.Limit, in.Offset), err
}

type emptiedJSON struct {
	Deleted int `json:"deleted"`
}

// empty deletes what is in the bin.
func (g *Group) empty(ctx context.Context, _ *struct{}) (emptiedJSON, error) {
	n, err := g.mine(ctx).Empty(ctx)
	return emptiedJSON{n}, err
}

// Package search is the route that finds words in the caller's threads.
//
//	gateway -> search -> the caller's searches -> hitJSON
package search

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/feature/search"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/lib/words"
	"github.com/pudu-ai/pudu/internal/store"
)

// Group are the routes, with what they work with. Every field is required.
type Group struct {
	*route.Env

	// Searches and Folders are those of all users.
	Searches *search.Searches
	Folders  *folders.Folders
}

// Routes is the one of the search.
func (g *Group) Routes() []route.Route {
	return route.Under("search",
		route.Get("/search", "Find words in titles, messages and names of files", g.find).
			Access(access.Viewer, "threads:read").Of(route.User).Rate(route.Cheap).Body(route.None),
	)
}

// findIn is a search. Limit and offset are together at most search.MaxHits.
type findIn struct {
	Words    string `query:"q" max:"1000" required:""`
	Folder   string `query:"folder" max:"256"`
	Thread   string `query:"thread_id" max:"256"`
	Status   string `query:"status" enum:",idle,busy,interrupted,error"`
	Since    moment `query:"since"`
	Until    moment `query:"until"`
	Archived bool   `query:"archived"`
	Limit    int    `query:"limit" default:"20" min:"1" max:"100"`
	Offset   int    `query:"offset" max:"100"`
}

// moment is a time that need not be there.
type moment struct{ time.Time }

// ReadFrom implements [route.Reader].
func (m *moment) ReadFrom(in *route.Input, name string) {
	text := in.Str(name)
	if text == "" {
		return
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			m.Time = at
			return
		}
	}
	in.Add("datetime_parsing", "Input should be a time such as 2026-03-14 or 2026-03-14T15:09:26Z",
		route.Quoted(in.Raw(name)), in.Loc(name)...)
}

// hitJSON is what was found.
type hitJSON struct {
	ThreadID  string     `json:"thread_id"`
	Title     string     `json:"title"`
	Kind      string     `json:"kind"` // title, message or file
	MessageID *string    `json:"message_id"`
	Path      *string    `json:"path"`
	Role      *string    `json:"role"`
	At        string     `json:"at"`
	Excerpt   []partJSON `json:"excerpt"`
}

// partJSON is a piece of an excerpt: plain text, of which the marked pieces are what was looked for.
type partJSON struct {
	Text   string `json:"text"`
	Marked bool   `json:"marked"`
}

func hitOf(h search.Hit) hitJSON {
	out := hitJSON{
		ThreadID: h.ThreadID, Title: h.Title, Kind: h.Form, Role: shape.OrNil(h.Role), At: shape.Stamp(h.At),
		Excerpt: partsOf(h.Excerpt),
	}
	switch h.Form {
	case search.Message:
		out.MessageID = &h.Ref
	case search.File:
		out.Path = &h.Ref
	}
	return out
}

func partsOf(parts []words.Part) []partJSON {
	out := make([]partJSON, len(parts))
	for i, p := range parts {
		out[i] = partJSON{p.Text, p.Marked}
	}
	return out
}

// find finds words, the best hits first.
func (g *Group) find(ctx context.Context, in *findIn) (route.Page[hitJSON], error) {
	q := search.Query{
		Words: in.Words, Since: in.Since.Time, Until: in.Until.Time, Archived: in.Archived,
		Limit: in.Limit, Offset: in.Offset,
	}
	err := g.narrow(ctx, &q, in)
	if err != nil {
		return route.Page[hitJSON]{}, err
	}
	hits, more, err := g.Searches.For(route.Caller(ctx).User).Find(ctx, q)
	page := route.Page[hitJSON]{Entries: make([]hitJSON, len(hits)), Offset: in.Offset, More: more}
	for i, h := range hits {
		page.Entries[i] = hitOf(h)
	}
	return page, err
}

// narrow finds the threads that a search is about.
func (g *Group) narrow(ctx context.Context, q *search.Query, in *findIn) error {
	only := func(list []string) {
		if q.Threads != nil {
			list = slices.DeleteFunc(list, func(id string) bool { return !slices.Contains(q.Threads, id) })
		}
		q.Threads = append([]string{}, list...)
	}
	if in.Thread != "" {
		only([]string{in.Thread})
	}
	if in.Folder != "" {
		f, err := g.Folders.For(route.Caller(ctx).User).Folder(ctx, in.Folder)
		if errors.Is(err, store.ErrNotFound) {
			return route.NotFound("Folder", route.Clip(in.Folder))
		}
		if err != nil {
			return err
		}
		only(f.Threads)
	}
	if in.Status == "" {
		return nil
	}
	list, err := g.Mine(ctx).SearchThreads(ctx, store.ThreadFilter{Status: in.Status, Limit: search.MaxThreads})
	ids := make([]string, len(list))
	for i, t := range list {
		ids[i] = t.ID
	}
	only(ids)
	return err
}

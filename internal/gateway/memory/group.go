// Package memory is the group of routes of what is remembered of the caller. Paths, members and sentences of errors are
// DeerFlow's where it has them; the others tell where a fact comes from, and take things back.
//
//	gateway -> memory -> the caller's memory.Mine -> the whole document, or what is known of a fact
package memory

import (
	"context"
	"errors"
	"net/http"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/feature/news"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/store"
)

// Group are the routes, with what they work with. Every field is required.
type Group struct {
	*route.Env

	// Memory is everybody's.
	Memory *memory.Memory
	// News tell the user's pages of what changes.
	News *news.Hub
	// Told are the facts that a run knew of.
	Told func(ctx context.Context, u access.User, run store.Run) ([]memory.Told, error)
}

const (
	read  = "memory:read"
	write = "memory:write"
)

// Routes are those of the memory.
func (g *Group) Routes() []route.Route {
	const fact = "/memory/facts/{fact_id}"
	cheap := func(r route.NeedsAccess) route.Route {
		return r.Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.None)
	}
	change := func(r route.NeedsAccess) route.Route {
		return r.Access(access.Regular, write).Of(route.User).Rate(route.Write).Body(route.None)
	}
	return route.Under("memory",
		cheap(route.Get("/memory", "Look at what is remembered", g.get)),
		change(route.Delete("/memory", "Forget everything", g.clear)).Audits(audit.Delete, "memory"),
		change(route.Post("/memory/reload", "Look at what is remembered, as it is now", g.get)),
		cheap(route.Get("/memory/export", "Download what is remembered", g.get)),
		route.Post("/memory/import", "Replace what is remembered by a document", g.replace).
			Access(access.Regular, write).Of(route.User).Rate(route.Write).Body(route.JSON),
		cheap(route.Get("/memory/config", "How the memory is set up", g.config)),
		cheap(route.Get("/memory/status", "How the memory is set up, and what is remembered", g.status)),
		cheap(route.Get("/memory/facts", "List facts with their sources, or find some by their words", g.list)),
		route.Post("/memory/facts", "Add a fact", g.add).
			Access(access.Regular, write).Of(route.User).Rate(route.Write).Body(route.JSON),
		cheap(route.Get(fact, "Why is this known? Where a fact comes from, who was told, what became of it", g.story)),
		route.Patch(fact, "Change a fact", g.patch).
			Access(access.Regular, write).Of(route.User).Rate(route.Write).Body(route.JSON),
		change(route.Delete(fact, "Forget a fact, and what was made of it", g.forget)).
			Audits(audit.Delete, "memory fact"),
		change(route.Post(fact+"/accept", "Keep a fact that waits for a yes", g.accept)),
		change(route.Post(fact+"/refuse", "Give up a fact that waits for a yes", g.refuse)),
		change(route.Post(fact+"/restore", "Bring back a fact that was replaced or given up", g.restore)),
		change(route.Post("/memory/undo", "Take back what the last reading of a conversation changed", g.undo)),
		cheap(route.Get("/memory/history", "What became of the facts", g.history)),
		change(route.Delete("/memory/threads/{thread_id}", "Forget what was learned in a thread, be it there or not",
			g.forgetThread)).
			Audits(audit.Delete, "memory of a thread"),
		route.Get("/threads/{thread_id}/runs/{run_id}/memory/why", "Which facts did a run know of, and why?", g.why).
			Access(access.Viewer, "runs:read").Of(route.Run).Rate(route.Costly).Body(route.None),
	)
}

// mine is the caller's memory.
func (g *Group) mine(ctx context.Context) *memory.Mine { return g.Memory.For(route.Caller(ctx).User) }

// answer is an error as a client hears it.
func answer(err error, fact string) error {
	status := map[error]int{
		memory.ErrEmpty: http.StatusBadRequest, memory.ErrDuplicate: http.StatusConflict,
		memory.ErrEvicted: http.StatusConflict, memory.ErrChanged: http.StatusConflict,
	}
	for known, code := range status {
		if errors.Is(err, known) {
			return route.Failf(code, "%s", known)
		}
	}
	if errors.Is(err, store.ErrNotFound) && fact != "" {
		return route.Failf(http.StatusNotFound, "Memory fact '%s' not found.", route.Clip(fact))
	}
	return err
}

// changed is the whole document behind a change.
func (g *Group) changed(ctx context.Context, err error, fact string) (memory.Document, error) {
	if err != nil {
		return memory.Document{}, answer(err, fact)
	}
	g.News.For(route.Caller(ctx).User).Notice("memory")
	return g.mine(ctx).Document(ctx)
}

type nothing struct{}

func (g *Group) get(ctx context.Context, _ *nothing) (memory.Document, error) {
	return g.mine(ctx).Document(ctx)
}

func (g *Group) clear(ctx context.Context, _ *nothing) (memory.Document, error) {
	return g.changed(ctx, g.mine(ctx).Clear(ctx), "")
}

func (g *Group) config(context.Context, *nothing) (config.Memory, error) {
	return g.Memory.Settings(), nil
}

// statusJSON is how the memory is set up, and what is in it.
type statusJSON struct {
	Config config.Memory   `json:"config"`
	Data   memory.Document `json:"data"`
}

func (g *Group) status(ctx context.Context, _ *nothing) (statusJSON, error) {
	d, err := g.mine(ctx).Document(ctx)
	return statusJSON{g.Memory.Settings(), d}, err
}

// Package store is the group of routes of the long-term store: items under a key in namespaces.
//
//	gateway -> store -> the caller's items -> itemJSON
package store

import (
	"context"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/items"
	"github.com/pudu-ai/pudu/internal/gateway/route"
)

// Group are the routes, with what they work with. Every field is required.
type Group struct {
	*route.Env

	// Items are those of all users.
	Items *items.Items
}

// mine are the caller's items.
func (g *Group) mine(ctx context.Context) *items.Mine { return g.Items.For(route.Caller(ctx).User) }

const (
	read  = "store:read"
	write = "store:write"
)

// Routes are those of items and namespaces.
func (g *Group) Routes() []route.Route {
	return route.Under("store",
		route.Put("/store/items", "Add or replace an item", g.put).
			Access(access.Regular, write).Of(route.User).Rate(route.Write).Body(route.JSON),
		route.Get("/store/items", "Look at an item", g.get).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.None),
		route.Delete("/store/items", "Remove an item", g.remove).
			Access(access.Regular, write).Of(route.User).Rate(route.Write).Body(route.JSON).
			Audits(audit.Delete, "item"),
		route.Post("/store/items/search", "List items", g.search).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.Maybe),
		route.Post("/store/namespaces", "List the namespaces of items", g.namespaces).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.Maybe),
	)
}

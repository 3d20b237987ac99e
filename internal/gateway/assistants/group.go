// Package assistants is the group of routes of assistants: the settings of an agent under an id, in versions; and the
// agent as a graph, with the schemas of its state and settings.
//
//	gateway -> assistants -> the caller's assistants -> assistantJSON
package assistants

import (
	"context"

	"time"

	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/feature/assistants"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
)

// Group are the routes, with what they work with. Every field is required.
type Group struct {
	*route.Env

	// Models are those that an assistant may name.
	Models []shape.Model
	// Agents are those that users have made.
	Agents *agents.Folder
	// Assistants are those of all users.
	Assistants *assistants.Assistants
	// Started is when the server began, which is when the lead agent was made.
	Started time.Time
}

// mine are the caller's assistants.
func (g *Group) mine(ctx context.Context) *assistants.Mine {
	return g.Assistants.For(route.Caller(ctx).User)
}

const (
	read  = "assistants:read"
	write = "assistants:write"
)

// Routes are those of assistants.
func (g *Group) Routes() []route.Route {
	const one = "/assistants/{assistant_id}"
	return route.Under("assistants",
		route.Post("/assistants", "Create an assistant", g.create).
			Access(access.Regular, write).Of(route.InBody).Rate(route.Write).Body(route.JSON),
		route.Post("/assistants/search", "List assistants", g.search).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.Maybe),
		route.Post("/assistants/count", "Count assistants", g.count).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.Maybe),
		route.Get(one, "Look at an assistant", g.get).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.None),
		route.Patch(one, "Make a new version of an assistant", g.patch).
			Access(access.Regular, write).Of(route.User).Rate(route.Write).Body(route.JSON),
		route.Delete(one, "Remove an assistant", g.remove).
			Access(access.Regular, write).Of(route.User).Rate(route.Write).Body(route.None).
			Audits(audit.Delete, "assistant"),
		route.Post(one+"/versions", "List the versions of an assistant", g.versions).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.Maybe),
		route.Post(one+"/latest", "Put a version of an assistant in force", g.latest).
			Access(access.Regular, write).Of(route.User).Rate(route.Write).Body(route.JSON),
		route.Get(one+"/graph", "Look at the agent as a graph", g.graph).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.None),
		route.Get(one+"/schemas", "Look at the schemas of state and settings", g.schemas).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.None),
		route.Get(one+"/subgraphs", "List the graphs inside", g.subgraphs).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.None),
		route.Get(one+"/subgraphs/{namespace}", "Look at a graph inside", g.subgraphs).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.None),
	)
}

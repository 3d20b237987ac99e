// Package agents is the group of routes of a user's own agents, and of what he tells all of them about himself. Paths,
// members and sentences of errors are DeerFlow's.
//
//	gateway -> agents -> the folder of the caller's agents -> agentJSON
package agents

import (
	"context"
	"net/http"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
)

// Group are the routes, with what they work with. Agents and Memory are required.
type Group struct {
	Agents *agents.Folder
	// Memory has the facts of agents, which go with them.
	Memory *memory.Memory
	// Off says that the configuration has switched the routes off.
	Off bool
	// Models are those that an agent may name.
	Models []shape.Model
}

const (
	read  = "agents:read"
	write = "agents:write"
)

// Routes are those of agents and of the profile.
func (g *Group) Routes() []route.Route {
	return route.Under("agents",
		route.Get("/agents", "List your own agents", g.list).
			Access(access.Viewer, read).Of(route.User).Rate(route.Costly).Body(route.None),
		route.Get("/agents/check", "Is a name free for a new agent?", g.check).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.None),
		route.Post("/agents", "Make an agent", g.create).
			Access(access.Regular, write).Of(route.User).Rate(route.Write).Body(route.JSON),
		route.Get("/agents/{agent}", "Look at an agent", g.get).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.None),
		route.Put("/agents/{agent}", "Change an agent", g.update).
			Access(access.Regular, write).Of(route.User).Rate(route.Write).Body(route.JSON),
		route.Delete("/agents/{agent}", "Delete an agent", g.remove).
			Access(access.Regular, write).Of(route.User).Rate(route.Write).Body(route.None).
			Audits(audit.Delete, "agent"),
		route.Get("/user-profile", "What you tell all agents about yourself", g.profile).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.None),
		route.Put("/user-profile", "Tell all agents about yourself, and how to answer", g.setProfile).
			Access(access.Regular, write).Of(route.User).Rate(route.Write).Body(route.JSON),
	)
}

// on is the caller, unless the routes are switched off.
func (g *Group) on(ctx context.Context) (access.User, error) {
	if g.Off {
		return access.User{}, route.Failf(http.StatusForbidden,
			"Custom-agent management API is disabled. Set agents_api.enabled=true to expose "+
				"agent and user-profile routes over HTTP.")
	}
	return route.Caller(ctx).User, nil
}

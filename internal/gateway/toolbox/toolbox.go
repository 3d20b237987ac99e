// Package toolbox is the group of routes of the Python packages that the agent's programs have: where they stand, and,
// for who runs the installation, to install them in the background.
//
//	gateway -> toolbox -> toolbox.Kit -> downloads, and the folder that sandboxes show
package toolbox

import (
	"context"
	"errors"
	"net/http"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/toolbox"
	"github.com/pudu-ai/pudu/internal/gateway/route"
)

// Group are the routes, with what they work with.
type Group struct {
	*route.Env

	// Kit is that of the process.
	Kit *toolbox.Kit
}

// Routes are those of the toolbox.
func (g *Group) Routes() []route.Route {
	const path = "/toolbox"
	return route.Under("configuration",
		route.Get(path, "Where the Python packages of the sandbox stand", g.get).
			Access(access.Viewer, "server:read").Of(route.Nobody).Rate(route.Cheap).Body(route.None),
		route.Post(path, "Install them in the background; asking again finds it under way", g.install).
			Access(access.Admin, "config:write").Of(route.Nobody).Rate(route.Write).Body(route.None).
			Audits(audit.Change, "toolbox"),
	)
}

type nothing struct{}

func (g *Group) get(ctx context.Context, _ *nothing) (toolbox.Status, error) {
	return g.Kit.Status(ctx), nil
}

// install answers as get does, when the installation has begun.
func (g *Group) install(ctx context.Context, _ *nothing) (out toolbox.Status, err error) {
	err = g.Kit.Begin(ctx)
	switch {
	case errors.Is(err, context.Canceled):
		return out, &route.Error{Status: http.StatusServiceUnavailable, Detail: "The server is stopping", RetryAfter: 1}
	case err != nil:
		return out, route.Failf(http.StatusConflict, "%v", err)
	}
	return g.Kit.Status(ctx), nil
}

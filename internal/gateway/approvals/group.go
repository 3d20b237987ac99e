// Package approvals has the routes of what a user has approved for calls to come: the grants, one by one, and how to
// give one before anybody asks and to take it back.
package approvals

import (
	"context"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/gateway/route"
)

// Group are the routes, with what they work with. Every field is required.
type Group struct {
	*route.Env

	// Approvals are the grants of all users.
	Approvals *approval.Grants
}

// mine are the caller's grants.
func (g *Group) mine(ctx context.Context) *approval.Mine {
	return g.Approvals.For(route.Caller(ctx).User)
}

// Routes are those of approvals.
func (g *Group) Routes() []route.Route {
	return route.Under("approvals",
		route.Get("/approvals", "List what was approved for calls to come", g.list).
			Access(access.Viewer, "approvals:read").Of(route.User).Rate(route.Cheap).Body(route.None),
		route.Post("/approvals", "Approve calls to come", g.create).
			Access(access.Regular, route.GrantScope).Of(route.User).Rate(route.Write).Body(route.JSON),
		route.Delete("/approvals/{approval_id}", "Revoke an approval; the next call is asked about again", g.revoke).
			Access(access.Regular, route.GrantScope).Of(route.User).Rate(route.Write).Body(route.None).
			Audits(audit.Delete, "approval"),
	)
}

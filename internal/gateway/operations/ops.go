// Package operations is the group of routes that operators and their programs look at: whether the server is there and
// takes runs, what it serves, its figures, and the list of all routes.
//
//	gateway -> operations -> About, the readiness of the engine, the list of routes
package operations

import (
	"context"
	"errors"
	"net/http"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/toolbox"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/store"
)

// Group are the routes, with what they work with. Env and All are required.
type Group struct {
	*route.Env

	// About is what /info tells.
	About shape.About
	// Ready is nil when runs can be taken, else why not; nil means that they always can.
	Ready func(ctx context.Context) error
	// Metrics serves the figures for Prometheus; nil leaves the route out.
	Metrics http.Handler
	// Jobs are those of all users.
	Jobs *job.Queue
	// Toolbox has the Python packages of the sandbox.
	Toolbox *toolbox.Kit
	// All is the list of routes.
	All func() []route.Route
}

// Routes are those of operations. The first three tell no more than that the server is there.
func (g *Group) Routes() []route.Route {
	const read = "server:read"
	return route.Under("operations",
		route.Get("/health", "The process is there", g.health).
			Access(route.Anyone, "").Of(route.Nobody).Rate(route.Free).Body(route.None),
		route.Get("/ok", "The same, for LangGraph's clients", g.ok).
			Access(route.Anyone, "").Of(route.Nobody).Rate(route.Free).Body(route.None),
		route.Get("/ready", "Runs can be taken", g.ready).
			Access(route.Anyone, "").Of(route.Nobody).Rate(route.Free).Body(route.None),
		route.Get("/info", "What is served", g.info).
			Access(access.Viewer, read).Of(route.Nobody).Rate(route.Free).Body(route.None),
		route.Raw(http.MethodGet, "/metrics", "Figures for Prometheus", g.metrics).
			Access(access.Viewer, read).Of(route.Nobody).Rate(route.Cheap).Body(route.None),
		route.Get("/openapi.json", "This list as OpenAPI", g.openAPI).
			Access(access.Viewer, read).Of(route.Nobody).Rate(route.Free).Body(route.None),
		route.Get("/audit", "Who did what, the newest first", g.who).
			Access(access.Admin, "audit:read").Of(route.Nobody).Rate(route.Cheap).Body(route.None).
			Audits(audit.Look, "audit"),
		route.Get("/jobs", "What waits, what fails and why", g.waiting).
			Access(access.Admin, "jobs:read").Of(route.Nobody).Rate(route.Cheap).Body(route.None).
			Audits(audit.Look, "jobs"),
		route.Post("/jobs/{kind}/{key}/retry", "Do a job at once, with all its tries before it", g.retry).
			Access(access.Admin, "jobs:write").Of(route.Nobody).Rate(route.Write).Body(route.None).
			Audits(audit.Change, "job"),
		route.Delete("/jobs/{kind}/{key}", "Drop a job", g.drop).
			Access(access.Admin, "jobs:write").Of(route.Nobody).Rate(route.Write).Body(route.None).
			Audits(audit.Delete, "job"),
	)
}

type nothing struct{}

type healthJSON struct {
	Status  string `json:"status"`
	Service string `json:"service,omitempty"`
}

// health says that the process is there.
func (g *Group) health(context.Context, *nothing) (healthJSON, error) {
	return healthJSON{"healthy", "pudu"}, nil
}

type okJSON struct {
	OK bool `json:"ok"`
}

// ok is health as LangGraph's clients ask for it.
func (g *Group) ok(context.Context, *nothing) (okJSON, error) { return okJSON{true}, nil }

// ready says whether runs can be taken.
func (g *Group) ready(ctx context.Context, _ *nothing) (out healthJSON, err error) {
	if g.Stopping.Err() != nil {
		return out, &route.Error{Status: http.StatusServiceUnavailable, Detail: "The server is stopping", RetryAfter: 1}
	}
	if g.Ready == nil {
		return healthJSON{Status: "ready"}, nil
	}
	err = g.Ready(ctx)
	switch {
	case err == nil:
		return healthJSON{Status: "ready"}, nil
	case errors.Is(err, store.ErrUnavailable):
		g.Log.WarnContext(ctx, "not ready", "error", err)
		return out, route.Unavailable(err)
	}
	g.Log.WarnContext(ctx, "not ready", "error", err)
	return out, &route.Error{Status: http.StatusServiceUnavailable, Detail: "Not ready: see the log", RetryAfter: 1}
}

type infoJSON struct {
	Version string          `json:"version"`
	PID     int             `json:"pid"`
	Model   string          `json:"model"`
	Why     string          `json:"why"`
	NoModel string          `json:"no_model,omitempty"`
	Sandbox string          `json:"sandbox"`
	Toolbox string          `json:"toolbox"` // its state, as /toolbox tells it
	Notes   []string        `json:"notes,omitempty"`
	Started string          `json:"started_at"`
	Flags   map[string]bool `json:"flags"`
}

// info says what is served, as LangGraph's servers do, and what pudu run tells of it.
func (g *Group) info(ctx context.Context, _ *nothing) (infoJSON, error) {
	a := g.About
	return infoJSON{a.Version, a.PID, a.Model, a.Why, a.NoModel, a.Sandbox, g.Toolbox.Status(ctx).State, a.Notes,
		shape.Stamp(a.Started), map[string]bool{
			"assistants": true, "store": true, "crons": false, "langsmith": false,
		}}, nil
}

// metrics answers with the figures for Prometheus.
func (g *Group) metrics(w http.ResponseWriter, r *http.Request, _ *nothing) error {
	if g.Metrics == nil {
		return &route.Error{Status: http.StatusNotFound, Detail: "Not Found"}
	}
	g.Metrics.ServeHTTP(w, r)
	return nil
}

// openAPI describes the routes, so that tools can read them.
func (g *Group) openAPI(context.Context, *nothing) (route.Document, error) {
	return route.Describe(g.About.Version, g.All()), nil
}

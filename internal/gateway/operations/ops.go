// Package operations is the group of routes that operators and their programs look at: whether the server is there and
// takes runs, what it serves, its figures, and the list of all routes.
//
//	gateway -> operations -> About, the readiness of the engine, the list of routes
package operations

import (
	"context"
	_ "embed"
	"errors"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/store"
)

// Config is what the group works with. Env, Routes and Asks are required.
type Config struct {
	*route.Env

	// About is what the start page and /info tell.
	About About
	// Ready is nil when runs can be taken, else why not; nil means that they always can.
	Ready func(ctx context.Context) error
	// Metrics serves the figures for Prometheus; nil leaves the route out.
	Metrics http.Handler
	// Asks reports whether callers must bring a token.
	Asks func() bool
	// All is the list of routes.
	All func() []route.Route
}

// About describes the server to people.
type About struct {
	Version string
	PID     int // of the process
	Model   string
	Why     string // the model was chosen
	Sandbox string
	Notes   []string // are warnings
	Data    string   // the data folder, or the database
	Address string   // as http://HOST:PORT
	// Examples are commands that try the server; where there is a token they need PUDU_TOKEN.
	Examples []string
	// NoModel says how to add a model; empty if there is one.
	NoModel string
	Started time.Time
}

// Group has the handlers.
type Group struct{ Config }

// New makes the group.
func New(c Config) *Group { return &Group{c} }

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
		route.Raw(http.MethodGet, "/docs", "This list for people", g.docs).
			Access(access.Viewer, read).Of(route.Nobody).Rate(route.Free).Body(route.None),
		route.Raw(http.MethodGet, "/{$}", "The start page", g.page).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.None),
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
	Notes   []string        `json:"notes,omitempty"`
	Started string          `json:"started_at"`
	Flags   map[string]bool `json:"flags"`
}

// info says what is served, as LangGraph's servers do, and what pudu run tells of it.
func (g *Group) info(context.Context, *nothing) (infoJSON, error) {
	a := g.About
	return infoJSON{a.Version, a.PID, a.Model, a.Why, a.NoModel, a.Sandbox, a.Notes, shape.Stamp(a.Started), map[string]bool{
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

//go:embed page.html
var pageText string

//go:embed docs.html
var docsText string

// pages are the two that people look at.
var pages = template.Must(template.Must(template.New("page").Parse(pageText)).New("docs").Parse(docsText))

// page says what is served and lists the newest threads.
func (g *Group) page(w http.ResponseWriter, r *http.Request, _ *nothing) error {
	const newest = 50
	threads, err := g.Mine(r.Context()).ListThreads(r.Context(), newest, 0)
	if err != nil {
		return err
	}
	type row struct{ ID, Title, Status, Updated string }
	rows := make([]row, len(threads))
	for i, t := range threads {
		rows[i] = row{t.ID, t.Title, t.Status, t.UpdatedAt.UTC().Format(time.DateTime)}
	}
	return html(w, "page", struct {
		About

		Token   bool
		Threads []row
	}{g.About, g.Asks(), rows})
}

// docs lists the routes for people.
func (g *Group) docs(w http.ResponseWriter, _ *http.Request, _ *nothing) error {
	type group struct {
		Name   string
		Routes []route.Route
	}
	var groups []group
	for _, rt := range g.All() {
		if n := len(groups); n == 0 || groups[n-1].Name != rt.Group {
			groups = append(groups, group{Name: rt.Group})
		}
		groups[len(groups)-1].Routes = append(groups[len(groups)-1].Routes, rt)
	}
	return html(w, "docs", struct {
		About

		Groups []group
	}{g.About, groups})
}

// html writes a page that loads nothing from elsewhere and runs no script.
func html(w http.ResponseWriter, name string, data any) error {
	var b strings.Builder
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(b.String())) // a client that has gone
	return nil
}

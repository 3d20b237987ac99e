// Package pages is the group of routes that people look at in a browser: the names that the user interface will have, the
// files it loads, and the list of all routes. Whoever has to bring a token is asked for it by the page, which trades it for the
// cookie of a session.
//
//	gateway -> pages -> HTML, and the files below /assets
package pages

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
)

// Config is what the group works with. Env, Asks and All are required.
type Config struct {
	*route.Env

	// About is what the start page tells.
	About shape.About
	// Asks reports whether callers must bring a token.
	Asks func() bool
	// All is the list of routes.
	All func() []route.Route
}

// Group has the handlers.
type Group struct{ Config }

// New makes the group.
func New(c Config) *Group { return &Group{c} }

// names are the pages of the user interface; the API has no route of these names. Each stands for what is below it too.
func names() []string {
	return []string{"/c", "/f", "/s", "/library", "/settings", "/welcome", "/sign-in"}
}

// Routes are the pages, what they load, and the list of all routes.
func (g *Group) Routes() []route.Route {
	list := []route.Route{page("/{$}", "The start page", route.User, g.page)}
	for _, name := range names() {
		list = append(list, page(name, "A page of the user interface", route.User, g.page),
			page(name+"/{rest...}", "A page of the user interface", route.User, g.page))
	}
	return route.Under("pages", append(list,
		page("/assets/{name}", "A file that the pages load", route.Nobody, g.asset),
		route.Raw(http.MethodGet, "/docs", "All routes, for people", g.docs).
			Access(access.Viewer, "server:read").Of(route.Nobody).Rate(route.Free).Body(route.None),
	)...)
}

// page is a route that anyone may load: it shows nothing of anybody before it knows who asks.
func page[In any](path, summary string, of route.Owner, h func(http.ResponseWriter, *http.Request,
	*In) error) route.Route {
	return route.Raw(http.MethodGet, path, summary, h).
		Access(route.Anyone, "").Of(of).Rate(route.Cheap).Body(route.None)
}

type nothing struct{}

//go:embed page.html
var pageText string

//go:embed docs.html
var docsText string

//go:embed sign-in.html
var signInText string

//go:embed sign-in.js
var signInScript []byte

// templates are the pages by their names.
var templates = parsed(map[string]string{"page": pageText, "docs": docsText, "sign-in": signInText})

func parsed(texts map[string]string) *template.Template {
	all := template.New("")
	for name, text := range texts {
		template.Must(all.New(name).Parse(text))
	}
	return all
}

type assetIn struct {
	Name string `path:"name"`
}

// asset sends a file that the pages load. Its name has no version yet, so a browser asks each time.
func (g *Group) asset(w http.ResponseWriter, r *http.Request, in *assetIn) error {
	if in.Name != "sign-in.js" {
		return &route.Error{Status: http.StatusNotFound, Detail: "Not Found"}
	}
	h := w.Header()
	h.Set("Content-Type", "text/javascript; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, in.Name, g.About.Started, bytes.NewReader(signInScript))
	return nil
}

// page is every page of the user interface, until that is there: what is served and the newest threads, or for somebody who
// has brought no token the question for it.
func (g *Group) page(w http.ResponseWriter, r *http.Request, _ *nothing) error {
	by := route.Caller(r.Context())
	if by.User.Check() != nil {
		return html(w, "sign-in", scripted, up(r))
	}
	if err := by.May(access.Viewer, "threads:read"); err != nil {
		return route.Failf(http.StatusForbidden, "%v", err)
	}
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
	policy := plain
	if by.Session != "" {
		policy = scripted
	}
	return html(w, "page", policy, struct {
		shape.About

		Up             string
		Token, Session bool
		Threads        []row
	}{g.About, up(r), g.Asks(), by.Session != "", rows})
}

// up leads from the path of a page to where the server's paths begin, which need not be the root of the address.
func up(r *http.Request) string {
	return strings.Repeat("../", strings.Count(strings.TrimPrefix(r.URL.Path, "/"), "/"))
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
	return html(w, "docs", plain, struct {
		shape.About

		Groups []group
	}{g.About, groups})
}

// The policies of pages, which load nothing from elsewhere: plain ones run no script at all.
const (
	plain    = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
	scripted = plain + "; script-src 'self'; connect-src 'self'"
)

// html writes a page.
func html(w http.ResponseWriter, name, policy string, data any) error {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(b.Bytes()) // a client that has gone
	return nil
}

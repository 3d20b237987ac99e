// Package pages is the group of routes that people look at in a browser: the pages of the user interface, the files it
// loads, and the list of all routes. Whoever has to bring a token is asked for it by the page, which trades it for the
// cookie of a session.
//
//	gateway -> pages -> index.html for every page, the files below /assets, HTML for the list
package pages

import (
	"bytes"
	_ "embed"
	"html/template"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/web"
)

// Config is what the group works with. Env and All are required.
type Config struct {
	*route.Env

	// About is what the start page tells.
	About shape.About
	// All is the list of routes.
	All func() []route.Route
}

// Group has the handlers.
type Group struct {
	Config

	index, frame, away, door *index
}

// New makes the group.
func New(c Config) *Group {
	return &Group{c, built("index.html"), built("diagram.html"), built("offline.html"), built("sign-in.html")}
}

// built is a page of those that were built.
func built(name string) *index {
	x, err := newIndex(web.Files(), name)
	if err != nil {
		panic(err) // a program that was built has its pages
	}
	return x
}

// names are the pages of the user interface; the API has no route of these names. Each stands for what is below it too.
func names() []string {
	return []string{"/c", "/f", "/s", "/library", "/settings", "/welcome"}
}

// Routes are the pages, what they load, and the list of all routes.
func (g *Group) Routes() []route.Route {
	list := []route.Route{page("/{$}", "The start page", route.User, g.page)}
	for _, name := range names() {
		list = append(list, page(name, "A page of the user interface", route.User, g.page),
			page(name+"/{rest...}", "A page of the user interface", route.User, g.page))
	}
	return route.Under("pages", append(list,
		page("/assets/{name}", "A file that the pages load", route.Nobody, g.asset).FromAnywhere(),
		page("/sw.js", "The worker of the pages, which has a page for when the server is not there", route.Nobody,
			g.fixed("sw.js")),
		page("/manifest.webmanifest", "What makes the pages an app that can be installed", route.Nobody,
			g.fixed("manifest.webmanifest")),
		page("/sign-in", "The form of signing in", route.Nobody, g.signIn),
		page("/offline", "The page that the worker keeps", route.Nobody, g.offline),
		page("/diagram", "What draws diagrams, for a frame without an origin", route.Nobody, g.diagram),
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

//go:embed docs.html
var docsText string

//go:embed missing.html
var missingText string

// templates are the pages that are no part of the user interface, by their names.
var templates = parsed(map[string]string{"docs": docsText, "missing": missingText})

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

// asset sends a file that the pages load. Its name has the hash of what is in it.
func (g *Group) asset(w http.ResponseWriter, r *http.Request, in *assetIn) error {
	f, ok := assets()[in.Name]
	if !ok {
		return &route.Error{Status: http.StatusNotFound, Detail: "Not Found"}
	}
	// the frame for diagrams has no origin; nothing here is anybody's
	w.Header().Set("Access-Control-Allow-Origin", "*")
	f.send(w, r, true)
	return nil
}

// fixed sends a file whose name is the same in all versions: it is asked for anew each time.
func (g *Group) fixed(name string) func(http.ResponseWriter, *http.Request, *nothing) error {
	read := sync.OnceValues(func() (file, error) {
		body, err := fs.ReadFile(web.Files(), name)
		return newFile(name, body), err
	})
	return func(w http.ResponseWriter, r *http.Request, _ *nothing) error {
		f, err := read()
		if err != nil {
			return &route.Error{Status: http.StatusNotFound, Detail: "Not Found"}
		}
		f.send(w, r, false)
		return nil
	}
}

// offline is a page of the user interface that a browser keeps, and shows where it cannot reach the server.
func (g *Group) offline(w http.ResponseWriter, r *http.Request, _ *nothing) error {
	g.policies(w.Header(), g.away)
	g.away.at(up(r)).send(w, r, false)
	return nil
}

// signIn is the form of signing in, without the rest of the user interface.
func (g *Group) signIn(w http.ResponseWriter, r *http.Request, _ *nothing) error {
	g.policies(w.Header(), g.door)
	g.door.at(up(r)).send(w, r, false)
	return nil
}

// page is every page of the user interface: one file, which asks the API for what it shows.
func (g *Group) page(w http.ResponseWriter, r *http.Request, _ *nothing) error {
	g.policies(w.Header(), g.index)
	g.index.at(up(r)).send(w, r, false)
	return nil
}

// policies says what a page may load and run, and who may hold on to it.
func (g *Group) policies(h http.Header, x *index) {
	h.Set("Content-Security-Policy", x.policy)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// plainHost is a name of a host that may stand in a policy.
var plainHost = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]+)?$`)

// diagram is the page that draws diagrams: texts of models and of strangers. It has no origin, so that it reaches
// nothing of the user interface, and loads its own files alone. Its styles are made where it draws.
func (g *Group) diagram(w http.ResponseWriter, r *http.Request, _ *nothing) error {
	own := "'self'"
	if plainHost.MatchString(r.Host) {
		own += " " + r.Host // a page without an origin may be none of its own
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "sandbox allow-scripts; default-src 'none'; script-src "+own+"; style-src "+own+
		" 'unsafe-inline'; "+
		"font-src "+own+"; base-uri 'none'; form-action 'none'; frame-ancestors 'self'")
	h.Set("Referrer-Policy", "no-referrer")
	g.frame.at(up(r)).send(w, r, false)
	return nil
}

// Missing answers somebody who looks for a page that is not there with a page that leads home.
func (g *Group) Missing(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	return write(w, http.StatusNotFound, "missing", plain, up(r))
}

// up leads from the path of a page to where the server's paths begin, which need not be the root of the address.
func up(r *http.Request) string {
	n := strings.Count(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if asked, _, _ := strings.Cut(r.RequestURI, "?"); r.URL.Path != "/" && strings.HasSuffix(asked, "/") {
		n++ // the slash at the end was taken off on the way here
	}
	if n == 0 {
		return "./"
	}
	return strings.Repeat("../", n)
}

// docs lists the routes for people.
func (g *Group) docs(w http.ResponseWriter, _ *http.Request, _ *nothing) error {
	type group struct {
		Name   string
		Routes []route.Route
	}
	var groups []group
	for _, rt := range g.All() {
		at := slices.IndexFunc(groups, func(g group) bool { return g.Name == rt.Group })
		if at < 0 {
			at, groups = len(groups), append(groups, group{Name: rt.Group})
		}
		groups[at].Routes = append(groups[at].Routes, rt)
	}
	return html(w, "docs", plain, struct {
		shape.About

		Groups []group
	}{g.About, groups})
}

// The policies of pages. None loads anything from another host. Those for people run no script and have their style
// within; the user interface runs its own files, and frames what people look at: previews, and files of threads.
const (
	plain = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action " +
		"'none'"
	client = "default-src 'none'; script-src 'self'{scripts}; style-src 'self'; img-src 'self' data: blob:; " +
		"media-src 'self' blob:; " +
		"font-src 'self'; connect-src 'self'; worker-src 'self'; frame-src 'self' blob:; manifest-src 'self'; " +
		"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)

// html writes a page that is made anew each time.
func html(w http.ResponseWriter, name, policy string, data any) error {
	return write(w, http.StatusOK, name, policy, data)
}

func write(w http.ResponseWriter, status int, name, policy string, data any) error {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a client that has gone
	return nil
}

package gateway

import (
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"strings"
	"time"

	_ "embed"

	"github.com/pudu-ai/pudu/internal/store"
)

// health says that the process is there.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	return reply(w, http.StatusOK, map[string]string{"status": "healthy", "service": "pudu"})
}

// ok is health as LangGraph's clients ask for it.
func (s *Server) ok(w http.ResponseWriter, _ *http.Request) error {
	return reply(w, http.StatusOK, map[string]bool{"ok": true})
}

// ready says whether runs can be taken.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) error {
	if s.stopping.Err() != nil {
		return &Error{Status: http.StatusServiceUnavailable, Detail: "The server is stopping", RetryAfter: 1}
	}
	if s.Ready != nil {
		if err := s.Ready(r.Context()); err != nil {
			s.Log.WarnContext(r.Context(), "not ready", "error", err)
			if errors.Is(err, store.ErrUnavailable) {
				return unavailable(err)
			}
			return &Error{Status: http.StatusServiceUnavailable, Detail: "Not ready: see the log", RetryAfter: 1}
		}
	}
	return reply(w, http.StatusOK, map[string]string{"status": "ready"})
}

// info says what is served, as LangGraph's servers do, and what pudu run tells of it.
func (s *Server) info(w http.ResponseWriter, _ *http.Request) error {
	a := s.About
	return reply(w, http.StatusOK, struct {
		Version string          `json:"version"`
		PID     int             `json:"pid"`
		Model   string          `json:"model"`
		Why     string          `json:"why"`
		NoModel string          `json:"no_model,omitempty"`
		Sandbox string          `json:"sandbox"`
		Notes   []string        `json:"notes,omitempty"`
		Started string          `json:"started_at"`
		Flags   map[string]bool `json:"flags"`
	}{a.Version, a.PID, a.Model, a.Why, a.NoModel, a.Sandbox, a.Notes, stamp(a.Started), map[string]bool{
		"assistants": true, "store": true, "crons": false, "langsmith": false,
	}})
}

// metrics answers with the figures for Prometheus.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	if s.Metrics == nil {
		return &Error{Status: http.StatusNotFound, Detail: "Not Found"}
	}
	s.Metrics.ServeHTTP(w, r)
	return nil
}

// models lists the models that a run may name.
func (s *Server) models(w http.ResponseWriter, _ *http.Request) error {
	list := make([]modelJSON, 0, len(s.Models))
	for _, m := range s.Models {
		if !m.Hidden {
			list = append(list, modelOf(m))
		}
	}
	return reply(w, http.StatusOK, map[string]any{"models": list, "token_usage": map[string]bool{"enabled": true}})
}

type modelJSON struct {
	Name        string  `json:"name"`
	Model       string  `json:"model"`
	DisplayName string  `json:"display_name"`
	Description *string `json:"description"`
	Thinking    bool    `json:"supports_thinking"`
	Effort      bool    `json:"supports_reasoning_effort"`
	Vision      bool    `json:"supports_vision"`
}

func modelOf(m Model) modelJSON {
	display := m.DisplayName
	if display == "" {
		display = m.Name
	}
	return modelJSON{m.Name, m.Model, display, orNil(m.Description), m.Thinking, m.ReasoningEffort, m.Vision}
}

// model shows one of them. Its name may have a slash.
func (s *Server) model(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	for _, m := range s.Models {
		if m.Name == name {
			return reply(w, http.StatusOK, modelOf(m))
		}
	}
	return failf(http.StatusNotFound, "Model '%s' not found", clip(name))
}

// features says which parts of DeerFlow's web client have something behind them here.
func (s *Server) features(w http.ResponseWriter, _ *http.Request) error {
	off := map[string]bool{"enabled": false}
	return reply(w, http.StatusOK, map[string]any{"agents_api": off, "browser_control": off, "mcp_tasks": off})
}

// openAPI describes the routes, so that tools can read them.
func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) error {
	paths := make(map[string]map[string]operation)
	for _, route := range Routes() {
		path := route.Template()
		if paths[path] == nil {
			paths[path] = make(map[string]operation)
		}
		paths[path][strings.ToLower(route.Method)] = operationOf(path, route)
	}
	return reply(w, http.StatusOK, map[string]any{
		"openapi": "3.1.0",
		"info":    map[string]string{"title": "Pudu", "version": s.About.Version, "description": "The LangGraph API, with DeerFlow's routes beside it. All paths are served below /api and /api/langgraph too."},
		"paths":   paths,
	})
}

type operation struct {
	Summary    string                       `json:"summary"`
	Tags       []string                     `json:"tags"`
	Parameters []parameter                  `json:"parameters,omitempty"`
	Body       json.RawMessage              `json:"requestBody,omitempty"`
	Responses  map[string]map[string]string `json:"responses"`
}

type parameter struct {
	Name     string            `json:"name"`
	In       string            `json:"in"`
	Required bool              `json:"required"`
	Schema   map[string]string `json:"schema"`
}

func operationOf(path string, route Route) operation {
	op := operation{Summary: route.Summary, Tags: []string{route.Group}, Responses: map[string]map[string]string{"default": {"description": "see docs/api.md"}}}
	for rest := path; ; {
		_, after, ok := strings.Cut(rest, "{")
		if !ok {
			break
		}
		name, tail, _ := strings.Cut(after, "}")
		op.Parameters = append(op.Parameters, parameter{name, "path", true, map[string]string{"type": "string"}})
		rest = tail
	}
	if route.Method == post || route.Method == put || route.Method == patch {
		op.Body = json.RawMessage(`{"content":{"application/json":{"schema":{"type":"object"}}}}`)
	}
	return op
}

//go:embed page.html
var pageText string

//go:embed docs.html
var docsText string

// pages are the two that people look at.
var pages = template.Must(template.Must(template.New("page").Parse(pageText)).New("docs").Parse(docsText))

// page says what is served and lists the newest threads.
func (s *Server) page(w http.ResponseWriter, r *http.Request) error {
	const newest = 50
	threads, err := s.mine(r.Context()).ListThreads(r.Context(), newest, 0)
	if err != nil {
		return err
	}
	type row struct{ ID, Title, Status, Updated string }
	rows := make([]row, len(threads))
	for i, t := range threads {
		rows[i] = row{t.ID, t.Title, t.Status, t.UpdatedAt.UTC().Format(time.DateTime)}
	}
	return s.html(w, "page", struct {
		About

		Token   bool
		Threads []row
	}{s.About, s.Guard.asks(), rows})
}

// docs lists the routes for people.
func (s *Server) docs(w http.ResponseWriter, _ *http.Request) error {
	type group struct {
		Name   string
		Routes []Route
	}
	var groups []group
	for _, route := range Routes() {
		if n := len(groups); n == 0 || groups[n-1].Name != route.Group {
			groups = append(groups, group{Name: route.Group})
		}
		groups[len(groups)-1].Routes = append(groups[len(groups)-1].Routes, route)
	}
	return s.html(w, "docs", struct {
		About

		Groups []group
	}{s.About, groups})
}

// html writes a page that loads nothing from elsewhere and runs no script.
func (s *Server) html(w http.ResponseWriter, name string, data any) error {
	var b strings.Builder
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(b.String())) // a client that has gone
	return nil
}

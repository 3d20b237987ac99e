// Package models is the group of routes that tell which models a run may name, and what DeerFlow's web client can show;
// and of those by which admins see where the models come from, add some with their keys, test them, and choose the
// default.
//
//	gateway -> models -> the configured models, the Keeper of those that were added
package models

import (
	"cmp"
	"context"
	"net/http"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
)

// Group are the routes, with what they work with.
type Group struct {
	*route.Env

	// Models are those that a run may name; the first is the default.
	Models []shape.Model
	// Agents says that there are routes for a user's own agents.
	Agents bool
	// Keeper changes which models there are.
	Keeper Keeper
}

// Routes are those of models.
func (g *Group) Routes() []route.Route {
	const read = "models:read"
	return append(g.admins(), route.Under("models",
		route.Get("/models", "List the models that a run may name", g.list).
			Access(access.Viewer, read).Of(route.Nobody).Rate(route.Free).Body(route.None),
		route.Get("/models/{name...}", "Look at a model", g.get).
			Access(access.Viewer, read).Of(route.Nobody).Rate(route.Free).Body(route.None),
		route.Get("/features", "What DeerFlow's web client can show", g.features).
			Access(access.Viewer, read).Of(route.Nobody).Rate(route.Free).Body(route.None),
	)...)
}

type nothing struct{}

type modelJSON struct {
	Name        string  `json:"name"`
	Model       string  `json:"model"`
	DisplayName string  `json:"display_name"`
	Description *string `json:"description"`
	Thinking    bool    `json:"supports_thinking"`
	Effort      bool    `json:"supports_reasoning_effort"`
	Vision      bool    `json:"supports_vision"`
}

type switchJSON struct {
	Enabled bool `json:"enabled"`
}

type listJSON struct {
	Models []modelJSON `json:"models"`
	Usage  switchJSON  `json:"token_usage"`
}

// list lists the models that a run may name.
func (g *Group) list(context.Context, *nothing) (listJSON, error) {
	out := listJSON{Models: make([]modelJSON, 0, len(g.Models)), Usage: switchJSON{true}}
	for _, m := range g.Models {
		if !m.Hidden {
			out.Models = append(out.Models, modelOf(m))
		}
	}
	return out, nil
}

func modelOf(m shape.Model) modelJSON {
	return modelJSON{
		m.Name, m.Model, cmp.Or(m.DisplayName, m.Name), shape.OrNil(m.Description), m.Thinking, m.ReasoningEffort,
		m.Vision,
	}
}

type getIn struct {
	Name string `path:"name"`
}

// get shows one of them. Its name may have a slash.
func (g *Group) get(_ context.Context, in *getIn) (modelJSON, error) {
	m, ok := shape.Find(g.Models, in.Name)
	if !ok {
		return modelJSON{}, route.Failf(http.StatusNotFound, "Model '%s' not found", route.Clip(in.Name))
	}
	return modelOf(m), nil
}

type featuresJSON struct {
	Agents  switchJSON `json:"agents_api"`
	Browser switchJSON `json:"browser_control"`
	Tasks   switchJSON `json:"mcp_tasks"`
}

// features says which parts of DeerFlow's web client have something behind them here.
func (g *Group) features(context.Context, *nothing) (featuresJSON, error) {
	return featuresJSON{Agents: switchJSON{g.Agents}}, nil
}

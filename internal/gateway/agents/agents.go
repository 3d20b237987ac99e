package agents

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
)

// agentJSON is an agent as clients see it.
type agentJSON struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Model       *string       `json:"model"`
	ToolGroups  []string      `json:"tool_groups"`
	Skills      []string      `json:"skills"`
	Settings    *settingsJSON `json:"model_settings"`
	Thinking    *bool         `json:"thinking_enabled"`
	Effort      *string       `json:"reasoning_effort"`
	Memory      *bool         `json:"memory_enabled,omitempty"`
	Soul        string        `json:"soul"`
}

type settingsJSON struct {
	Temperature *float64 `json:"temperature"`
	MaxTokens   *int     `json:"max_tokens"`
}

func agentOf(a agents.Agent) agentJSON {
	out := agentJSON{
		Name: a.Name, Description: a.Description, Model: shape.OrNil(a.Model), ToolGroups: a.ToolGroups,
		Skills: a.Skills, Thinking: a.Thinking, Effort: shape.OrNil(a.Effort), Memory: a.Memory, Soul: a.Soul,
	}
	if a.EmptyModel {
		out.Model = new(string)
	}
	if a.Settings != (agents.Settings{}) {
		out.Settings = &settingsJSON{Temperature: a.Settings.Temperature}
		if a.Settings.MaxTokens > 0 {
			out.Settings.MaxTokens = &a.Settings.MaxTokens
		}
	}
	return out
}

type listJSON struct {
	Agents []agentJSON `json:"agents"`
}

type nothing struct{}

func (g *Group) list(ctx context.Context, _ *nothing) (listJSON, error) {
	out := listJSON{Agents: []agentJSON{}}
	u, err := g.on(ctx)
	if err != nil {
		return out, err
	}
	list, err := g.Agents.List(u)
	for _, a := range list {
		out.Agents = append(out.Agents, agentOf(a))
	}
	return out, err
}

type checkIn struct {
	Name asked `query:"name" types:"string" required:""`
}

type checkJSON struct {
	Available bool   `json:"available"`
	Name      string `json:"name"`
}

func (g *Group) check(ctx context.Context, in *checkIn) (checkJSON, error) {
	u, err := g.on(ctx)
	if err == nil {
		err = named(string(in.Name))
	}
	if err != nil {
		return checkJSON{}, err
	}
	name, taken, err := g.Agents.Taken(u, string(in.Name))
	return checkJSON{!taken, name}, err
}

// named is the answer to a name that can be no agent's; nil if it can.
func named(name string) error {
	if _, err := agents.CheckName(name); err != nil {
		return route.Failf(http.StatusUnprocessableEntity,
			"Invalid agent name '%s'. Must match ^[A-Za-z0-9-]+$ (letters, digits, and hyphens only).",
			route.Clip(name))
	}
	return nil
}

type createIn struct {
	Name string `body:"name" required:""`
	fields
}

func (g *Group) create(ctx context.Context, in *createIn) (created, error) {
	u, c, err := g.change(ctx, in.Name, &in.fields)
	if err != nil {
		return created{}, err
	}
	a, err := g.Agents.Make(u, in.Name, c)
	return created{agentOf(a)}, said(err, in.Name, "creating", "create")
}

// change is what shall become of the caller's agent, if he may and the models are known.
func (g *Group) change(ctx context.Context, name string, f *fields) (access.User, agents.Change, error) {
	u, err := g.on(ctx)
	if err == nil {
		err = named(name)
	}
	if m := f.Model.value; err == nil && m != "" {
		if found, ok := shape.Find(g.Models, m); !ok || found.Hidden {
			err = route.Failf(http.StatusUnprocessableEntity,
				"Unknown model '%s'. Use a model name defined under `models:` in config.yaml.",
				route.Clip(m))
		}
	}
	return u, f.change(), err
}

// created is the answer that something was made.
type created struct{ agentJSON }

// Respond implements [route.Responder].
func (c created) Respond(w http.ResponseWriter) error {
	return route.Reply(w, http.StatusCreated, c.agentJSON)
}

type oneIn struct {
	Agent string `path:"agent"`
}

func (g *Group) get(ctx context.Context, in *oneIn) (agentJSON, error) {
	u, err := g.on(ctx)
	if err == nil {
		err = named(in.Agent)
	}
	if err != nil {
		return agentJSON{}, err
	}
	a, err := g.Agents.Load(u, in.Agent)
	return agentOf(a), said(err, in.Agent, "reading", "get")
}

type updateIn struct {
	oneIn
	fields
}

func (g *Group) update(ctx context.Context, in *updateIn) (agentJSON, error) {
	u, c, err := g.change(ctx, in.Agent, &in.fields)
	if err != nil {
		return agentJSON{}, err
	}
	a, err := g.Agents.Edit(u, in.Agent, c)
	return agentOf(a), said(err, in.Agent, "updating", "update")
}

func (g *Group) remove(ctx context.Context, in *oneIn) (route.Status, error) {
	u, err := g.on(ctx)
	if err == nil {
		err = named(in.Agent)
	}
	if err != nil {
		return 0, err
	}
	err = g.Agents.Delete(u, in.Agent)
	if err == nil || errors.Is(err, agents.ErrNotFound) { // one that a crash has kept from it
		_, failed := g.Memory.For(u).ForgetAgent(ctx, strings.ToLower(in.Agent))
		err = cmp.Or(err, failed)
	}
	return http.StatusNoContent, said(err, in.Agent, "deleting", "delete")
}

// said is the answer to what went wrong with an agent while doing something with it.
func said(err error, name, doing, do string) error {
	name = strings.ToLower(name)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, agents.ErrNotFound):
		return route.Failf(http.StatusNotFound, "Agent '%s' not found", name)
	case errors.Is(err, agents.ErrExists):
		return route.Failf(http.StatusConflict, "Agent '%s' already exists", name)
	case errors.Is(err, agents.ErrTooMany):
		return route.Failf(http.StatusUnprocessableEntity, "%v", err)
	case errors.Is(err, agents.ErrShared):
		return route.Failf(http.StatusConflict,
			"Agent '%s' only exists in the legacy shared layout and is not scoped to a user. "+
				"Move its folder to users/USER/agents in the data folder before %s.", name, doing)
	case errors.Is(err, agents.ErrNoAgent):
		return route.Failf(http.StatusConflict,
			"Directory for '%s' contains memory data but is not a custom agent because config.yaml is missing; it "+
				"was preserved.", name)
	}
	return route.Failf(http.StatusInternalServerError, "Failed to %s agent: %v", do, err)
}

type profileJSON struct {
	Content *string `json:"content"`
}

func (g *Group) profile(ctx context.Context, _ *nothing) (profileJSON, error) {
	u, err := g.on(ctx)
	if err != nil {
		return profileJSON{}, err
	}
	text, err := g.Agents.Profile(u)
	return profileJSON{shape.OrNil(text)}, err
}

type profileIn struct {
	Content text `body:"content" types:"string" doc:"Markdown: who you are, how agents should answer. It stands in every request."`
}

func (g *Group) setProfile(ctx context.Context, in *profileIn) (profileJSON, error) {
	u, err := g.on(ctx)
	if err != nil {
		return profileJSON{}, err
	}
	return profileJSON{shape.OrNil(in.Content.value)}, g.Agents.SetProfile(u, in.Content.value)
}

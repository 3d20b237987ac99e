package client

import (
	"context"
	"maps"
	"net/http"
	"net/url"

	"github.com/pudu-ai/pudu/internal/feature/agents"
)

// Agents are the user's own agents at a server, and what he tells all of them about himself.
type Agents struct{ *Client }

// agentJSON is an agent as the server sends it.
type agentJSON struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Model       string   `json:"model"`
	ToolGroups  []string `json:"tool_groups"`
	Skills      []string `json:"skills"`
	Thinking    *bool    `json:"thinking_enabled"`
	Effort      string   `json:"reasoning_effort"`
	Memory      *bool    `json:"memory_enabled"`
	Soul        string   `json:"soul"`
}

func (a agentJSON) agent() agents.Agent {
	return agents.Agent{
		Name: a.Name, Description: a.Description, Model: a.Model, ToolGroups: a.ToolGroups, Skills: a.Skills,
		Thinking: a.Thinking, Effort: a.Effort, Memory: a.Memory, Soul: a.Soul,
	}
}

// List returns all by name.
func (c Agents) List(ctx context.Context) ([]agents.Agent, error) {
	var page struct {
		Agents []agentJSON `json:"agents"`
	}
	err := c.get(ctx, "/agents", &page)
	out := make([]agents.Agent, len(page.Agents))
	for i, a := range page.Agents {
		out[i] = a.agent()
	}
	return out, err
}

func agentPath(name string) string { return "/agents/" + url.PathEscape(name) }

// Load returns one.
func (c Agents) Load(ctx context.Context, name string) (agents.Agent, error) {
	var a agentJSON
	err := c.get(ctx, agentPath(name), &a)
	return a.agent(), err
}

// bodyOf is a change as the server takes it.
func bodyOf(c agents.Change) map[string]any {
	body := map[string]any{}
	if c.Set != nil {
		maps.Copy(body, *c.Set)
	}
	if c.Soul != nil {
		body["soul"] = *c.Soul
	}
	return body
}

// Make makes one.
func (c Agents) Make(ctx context.Context, name string, change agents.Change) error {
	body := bodyOf(change)
	body["name"] = name
	return c.call(ctx, http.MethodPost, "/agents", nil, body, nil)
}

// Edit changes one.
func (c Agents) Edit(ctx context.Context, name string, change agents.Change) error {
	return c.call(ctx, http.MethodPut, agentPath(name), nil, bodyOf(change), nil)
}

// Delete removes one.
func (c Agents) Delete(ctx context.Context, name string) error {
	return c.call(ctx, http.MethodDelete, agentPath(name), nil, nil, nil)
}

// Profile is what the user tells about himself.
func (c Agents) Profile(ctx context.Context) (string, error) {
	var p struct {
		Content string `json:"content"`
	}
	err := c.get(ctx, "/user-profile", &p)
	return p.Content, err
}

// SetProfile replaces it.
func (c Agents) SetProfile(ctx context.Context, text string) error {
	return c.call(ctx, http.MethodPut, "/user-profile", nil, map[string]string{"content": text}, nil)
}

package assistants

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/state"
)

// graphJSON is the agent as a graph.
type graphJSON struct {
	GraphID string     `json:"graph_id"`
	Nodes   []nodeJSON `json:"nodes"`
	Edges   []edgeJSON `json:"edges"`
}

type nodeJSON struct {
	ID   string       `json:"id"`
	Type string       `json:"type"`
	Data nodeDataJSON `json:"data"`
}

type nodeDataJSON struct {
	ID   []string `json:"id"`
	Name string   `json:"name"`
}

type edgeJSON struct {
	Source      string `json:"source"`
	Target      string `json:"target"`
	Conditional bool   `json:"conditional"`
}

// graph shows the loop of the agent: the model, and the tools that it calls. The hooks of middlewares belong to
// the node that they stand at.
func (g *Group) graph(ctx context.Context, in *named) (graphJSON, error) {
	_, err := g.Find(ctx, in.ID)
	out := graphJSON{GraphID: shape.GraphID}
	for _, name := range []string{agent.NodeInput, agent.NodeModel, agent.NodeTools, agent.NodeEnd} {
		out.Nodes = append(out.Nodes, nodeJSON{name, "runnable", nodeDataJSON{[]string{"pudu", "agent", name}, name}})
	}
	out.Edges = []edgeJSON{
		{agent.NodeInput, agent.NodeModel, false},
		{agent.NodeModel, agent.NodeTools, true},
		{agent.NodeModel, agent.NodeEnd, true},
		{agent.NodeTools, agent.NodeModel, true},
		{agent.NodeTools, agent.NodeEnd, true},
	}
	return out, err
}

// schemasJSON are the JSON schemas of what an assistant takes and gives.
type schemasJSON struct {
	GraphID string             `json:"graph_id"`
	Input   *jsonschema.Schema `json:"input_schema"`
	Output  *jsonschema.Schema `json:"output_schema"`
	State   *jsonschema.Schema `json:"state_schema"`
	Config  *jsonschema.Schema `json:"config_schema"`
	Context *jsonschema.Schema `json:"context_schema"`
}

// schemas shows the schemas of the state, and of the settings of a run, in its config or its context.
func (g *Group) schemas(ctx context.Context, in *named) (schemasJSON, error) {
	_, err := g.Find(ctx, in.ID)
	channels := channelSchemas()
	out := schemasJSON{GraphID: shape.GraphID, Input: objectOf(channels), Output: objectOf(channels),
		State: objectOf(channels)}
	out.Config, out.Context = shape.Options(g.Models), shape.Options(g.Models)
	return out, err
}

func objectOf(properties map[string]*jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Properties: properties}
}

// channelSchemas are the schemas of the channels that clients see. Messages have many forms; LangGraph's clients know
// them by the mark.
func channelSchemas() map[string]*jsonschema.Schema {
	c := collected{agent.Messages.Name(): {
		Type: "array", Items: &jsonschema.Schema{Type: "object"}, Description: "The messages of the conversation.",
		Extra: map[string]any{"langgraph_type": "messages"},
	}}
	for _, add := range []func(collected){
		of(threadstate.Sandbox), of(threadstate.ThreadData), of(threadstate.Title), of(threadstate.Artifacts),
		of(threadstate.Todos), of(threadstate.Goal), of(threadstate.UploadedFiles), of(threadstate.ViewedImages),
		of(threadstate.Promoted), of(threadstate.Delegations), of(threadstate.SkillContext),
		of(threadstate.SummaryText), of(threadstate.BackgroundTasks),
	} {
		add(c)
	}
	return c
}

type collected map[string]*jsonschema.Schema

// of adds the schema of a channel's values, which are of a type of ours that has one.
func of[T any](ch *state.Channel[T]) func(collected) {
	return func(c collected) { c[ch.Name()], _ = jsonschema.For[T](nil) }
}

// subgraphs shows the graphs inside: there are none.
func (g *Group) subgraphs(ctx context.Context, in *named) (struct{}, error) {
	_, err := g.Find(ctx, in.ID)
	return struct{}{}, err
}

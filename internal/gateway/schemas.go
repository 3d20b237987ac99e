package gateway

import (
	"net/http"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
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

// assistantGraph shows the loop of the agent: the model, and the tools that it calls. The hooks of middlewares belong to
// the node that they stand at.
func (s *Server) assistantGraph(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.assistant(r, r.PathValue("assistant_id")); err != nil {
		return err
	}
	out := graphJSON{GraphID: GraphID}
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
	return reply(w, http.StatusOK, out)
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

// assistantSchemas shows the schemas of the state, and of the settings of a run, in its config or its context.
func (s *Server) assistantSchemas(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.assistant(r, r.PathValue("assistant_id")); err != nil {
		return err
	}
	channels := channelSchemas()
	out := schemasJSON{GraphID: GraphID, Input: objectOf(channels), Output: objectOf(channels), State: objectOf(channels)}
	out.Config, out.Context = s.settings(), s.settings()
	return reply(w, http.StatusOK, out)
}

func objectOf(properties map[string]*jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Properties: properties}
}

// settings is the schema of what a run can be told: the options that lead.ReadOptions reads, as far as they are a client's
// to set.
func (s *Server) settings() *jsonschema.Schema {
	option := func(kind, about string) *jsonschema.Schema { return &jsonschema.Schema{Type: kind, Description: about} }
	number := func(most float64, about string) *jsonschema.Schema {
		n := option("integer", about)
		n.Minimum, n.Maximum = new(1.0), &most
		return n
	}
	model := option("string", "The model that answers; the agent's own or the first one is the default.")
	for _, m := range s.Models {
		model.Enum = append(model.Enum, m.Name)
	}
	return objectOf(map[string]*jsonschema.Schema{
		"model_name":               model,
		"model":                    option("string", "The model, if model_name names none."),
		"thinking_enabled":         option("boolean", "Whether the model thinks before it answers, if it can; the agent's own or true is the default."),
		"reasoning_effort":         option("string", "How hard the model thinks: a level that it knows, such as low, medium or high."),
		"agent_name":               option("string", "The custom agent that does the work; none is the standard agent."),
		"is_plan_mode":             option("boolean", "Whether the agent keeps a list of things to do."),
		"is_bootstrap":             option("boolean", "Whether the run makes a new custom agent, named by agent_name."),
		"subagent_enabled":         option("boolean", "Whether the agent may give tasks to sub-agents."),
		"max_concurrent_subagents": number(4, "The most sub-agents at work at once; 3 is the default."),
		"max_total_subagents":      number(50, "The most sub-agents in a run; the default is the server's."),
		"disable_clarification":    option("boolean", "Whether nobody is there to answer a question: the agent then goes on by its best judgement."),
	})
}

// channelSchemas are the schemas of the channels that clients see. Messages have many forms; LangGraph's clients know
// them by the mark.
func channelSchemas() map[string]*jsonschema.Schema {
	c := collected{agent.Messages.Name(): {
		Type: "array", Items: &jsonschema.Schema{Type: "object"}, Description: "The messages of the conversation.",
		Extra: map[string]any{"langgraph_type": "messages"},
	}}
	for _, add := range []func(collected){
		of(threadstate.Sandbox), of(threadstate.ThreadData), of(threadstate.Title), of(threadstate.Artifacts), of(threadstate.Todos),
		of(threadstate.Goal), of(threadstate.UploadedFiles), of(threadstate.ViewedImages), of(threadstate.Promoted),
		of(threadstate.Delegations), of(threadstate.SkillContext), of(threadstate.SummaryText), of(threadstate.BackgroundTasks),
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

// assistantSubgraphs shows the graphs inside: there are none.
func (s *Server) assistantSubgraphs(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.assistant(r, r.PathValue("assistant_id")); err != nil {
		return err
	}
	return reply(w, http.StatusOK, struct{}{})
}

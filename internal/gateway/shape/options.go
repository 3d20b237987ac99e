package shape

import (
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// Options is the schema of what a run can be told in its context or its config: the options that lead.ReadOptions
// reads, as far as they are a client's to set.
func Options(models []Model) *jsonschema.Schema {
	option := func(kind, about string) *jsonschema.Schema { return &jsonschema.Schema{Type: kind, Description: about} }
	number := func(most float64, about string) *jsonschema.Schema {
		n := option("integer", about)
		n.Minimum, n.Maximum = new(1.0), &most
		return n
	}
	model := option("string", "The model that answers; the agent's own or the first one is the default.")
	for _, m := range models {
		model.Enum = append(model.Enum, m.Name)
	}
	return &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{
		"model_name": model,
		"model":      option("string", "The model, if model_name names none."),
		"thinking_enabled": option("boolean",
			"Whether the model thinks before it answers, if it can; the agent's own or true is "+
				"the default."),
		"reasoning_effort": option("string",
			"How hard the model thinks: a level that it knows, such as low, medium or high."),
		"agent_name": option("string",
			"The custom agent that does the work; none is the standard agent."),
		"is_plan_mode":             option("boolean", "Whether the agent keeps a list of things to do."),
		"is_bootstrap":             option("boolean", "Whether the run makes a new custom agent, named by agent_name."),
		"subagent_enabled":         option("boolean", "Whether the agent may give tasks to sub-agents."),
		"max_concurrent_subagents": number(4, "The most sub-agents at work at once; 3 is the default."),
		"max_total_subagents":      number(50, "The most sub-agents in a run; the default is the server's."),
		"disable_clarification": option("boolean",
			"Whether nobody is there to answer a question: the agent then goes on by its "+
				"best judgement."),
	}}
}

// OptionNames are the names of the options.
func OptionNames() []string { return slices.Collect(maps.Keys(Options(nil).Properties)) }

package agents

import (
	"math"
	"slices"

	"go.yaml.in/yaml/v3"
)

// efforts are the reasoning efforts that an agent may name.
func efforts() []string { return []string{"low", "medium", "high"} }

// decode reads a config.yaml and checks the keys that are Pudu's to read. The folder names the agent, not its "name".
func decode(raw []byte) (*document, Agent, error) {
	doc, err := parse(string(raw))
	if err != nil {
		return nil, Agent{}, err
	}
	r := &reader{mapping: doc.body}
	a := Agent{
		Description: r.text("description"), Model: r.text("model"), ToolGroups: r.list("tool_groups"),
		Skills:   r.list("skills"),
		Thinking: scalar(r, "thinking_enabled", "true or false", func(bool) bool { return true }),
		Memory:   scalar(r, "memory_enabled", "true or false", func(bool) bool { return true }),
		Settings: r.settings(), EmptyModel: member(r.mapping, "model") != nil && r.text("model") == "",
	}
	known := func(s string) bool { return slices.Contains(efforts(), s) }
	if e := scalar(r, "reasoning_effort", "low, medium or high", known); e != nil {
		a.Effort = *e
	}
	return doc, a, r.err
}

func (r *reader) settings() (s Settings) {
	const key = "model_settings"
	n := member(r.mapping, key)
	if n == nil {
		return s
	}
	if n.Kind != yaml.MappingNode {
		r.failf(n, key, "must hold keys and values")
		return s
	}
	in := &reader{mapping: n, at: key + "."}
	for i := 0; i < len(n.Content); i += 2 {
		if k := n.Content[i]; k.Value != "temperature" && k.Value != "max_tokens" {
			in.failf(k, k.Value, "is not known; there are temperature and max_tokens")
		}
	}
	s.Temperature = scalar(in, "temperature", "a number from 0 to 2", func(v float64) bool { return v >= 0 && v <= 2 })
	whole := func(v float64) bool { return v >= 1 && v <= maxTokens && v == math.Trunc(v) }
	if n := scalar(in, "max_tokens", "a whole number from 1 to 200000", whole); n != nil {
		s.MaxTokens = int(*n)
	}
	if r.err == nil {
		r.err = in.err
	}
	return s
}

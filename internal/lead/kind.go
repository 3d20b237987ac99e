package lead

import (
	"context"

	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/tool"
)

// offered are all tools of the run, and where others come from while it works. A sub-agent has those of its kind alone.
func offered(c Config) ([]tool.Tool, []tool.Source, error) {
	list, err := tools(c)
	list = append(list, c.Program.Tools...)
	if err != nil || c.Task == nil {
		return list, c.Program.Sources, err
	}
	sources := make([]tool.Source, len(c.Program.Sources))
	for i, s := range c.Program.Sources {
		sources[i] = ofKind{s, &c.Task.Kind}
	}
	return ofItsKind(&c.Task.Kind, list), sources, nil
}

// ofItsKind are the tools of a list that a sub-agent has.
func ofItsKind(k *subagents.Kind, list []tool.Tool) []tool.Tool {
	kept := make([]tool.Tool, 0, len(list))
	for _, t := range list {
		if k.Has(t.Spec().Name) {
			kept = append(kept, t)
		}
	}
	return kept
}

// ofKind is a source of tools for a sub-agent.
type ofKind struct {
	tool.Source

	kind *subagents.Kind
}

// Tools implements [tool.Source].
func (s ofKind) Tools(ctx context.Context, ref tool.Ref) ([]tool.Tool, string, error) {
	list, version, err := s.Source.Tools(ctx, ref)
	return ofItsKind(s.kind, list), version, err
}

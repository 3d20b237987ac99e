package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// toolset is the compiled tools.
type toolset struct {
	byName  map[string]boundTool
	offered []model.Tool // in order
}

type boundTool struct {
	tool   tool.Tool
	spec   tool.Spec
	schema *tool.Schema
}

func newToolset(tools []tool.Tool) (toolset, error) {
	ts := toolset{byName: make(map[string]boundTool, len(tools)), offered: make([]model.Tool, 0, len(tools))}
	for _, t := range tools {
		spec := t.Spec()
		if _, taken := ts.byName[spec.Name]; taken {
			continue
		}
		if err := tool.CheckName(spec.Name); err != nil {
			return ts, err
		}
		schema, err := spec.Schema()
		if err != nil {
			return ts, fmt.Errorf("tool %q: %w", spec.Name, err)
		}
		ts.byName[spec.Name] = boundTool{tool: t, spec: spec, schema: schema}
		ts.offered = append(ts.offered, model.Tool{
			Name: spec.Name, Description: spec.Description, Parameters: spec.Parameters,
		})
	}
	return ts, nil
}

// unknown is the answer to a call of a tool that does not exist.
func (ts toolset) unknown(name string) string {
	names := make([]string, 0, len(ts.offered))
	for _, t := range ts.offered {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	if name == "" {
		return "The call names no tool. Available tools: " + strings.Join(names, ", ") + "."
	}
	return fmt.Sprintf("There is no tool %q. Available tools: %s.", name, strings.Join(names, ", "))
}

// summaryOf is one line about a result, for people who watch.
func summaryOf(res *tool.Result) string {
	const most = 120
	s := res.Summary
	if s == "" {
		s = strings.TrimSpace(res.Text())
	}
	s, _, _ = strings.Cut(s, "\n")
	return excerpt.Clip(s, most)
}

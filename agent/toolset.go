package agent

import (
	"fmt"
	"maps"
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
		if _, taken := ts.byName[t.Spec().Name]; taken {
			continue
		}
		b, err := bind(t)
		if err != nil {
			return ts, err
		}
		ts.add(b)
	}
	return ts, nil
}

// bind looks at a tool.
func bind(t tool.Tool) (boundTool, error) {
	spec := t.Spec()
	if err := tool.CheckName(spec.Name); err != nil {
		return boundTool{}, err
	}
	schema, err := spec.Schema()
	if err != nil {
		return boundTool{}, fmt.Errorf("tool %q: %w", spec.Name, err)
	}
	return boundTool{tool: t, spec: spec, schema: schema}, nil
}

// add adds a tool, unless its name is taken.
func (ts *toolset) add(t boundTool) bool {
	if _, taken := ts.byName[t.spec.Name]; taken {
		return false
	}
	ts.byName[t.spec.Name] = t
	ts.offered = append(
		ts.offered,
		model.Tool{Name: t.spec.Name, Description: t.spec.Description, Parameters: t.spec.Parameters},
	)
	return true
}

// clone is one that tools can be added to.
func (ts toolset) clone() toolset { return toolset{maps.Clone(ts.byName), slices.Clip(ts.offered)} }

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

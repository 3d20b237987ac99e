package app

import (
	"slices"

	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/runs"
)

// family finds out what sub-agent a run is, and whether it may give tasks itself.
func (e *engine) family(s *settings, c *lead.Config, job runs.Job) (err error) {
	kinds := subagents.Kinds(s.cfg, e.box.off == "")
	if t := job.Request.Task; t != nil && job.Run.Parent != "" {
		kind, err := subagents.Find(kinds, t.Kind)
		if err != nil {
			return err
		}
		c.Task = &lead.Task{Kind: kind, Outside: t.Outside}
		c.Options.Plan, c.Options.Thinking = false, new(bool)
		c.Options.Subagents = c.Options.Subagents && kind.Has(subagents.ToolName)
	}
	if job.Children != nil && job.Run.Depth < s.cfg.Subagents.MaxDepth {
		c.Desk = c.NewDesk(job.Children, kinds)
		return nil
	}
	c.Options.Subagents = false
	return nil
}

// skillsWithin are the skills of a sub-agent that who gives the task has as well; nil is all.
func skillsWithin(own, given []string) []string {
	switch {
	case own == nil:
		return given
	case given == nil:
		return own
	}
	return slices.DeleteFunc(slices.Clone(own), func(name string) bool { return !slices.Contains(given, name) })
}

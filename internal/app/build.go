package app

import (
	"context"
	"errors"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/feature/picture"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/runs"
)

// furnish makes what the agents of all runs share.
func (h *house) furnish() (err error) {
	h.agents, h.album = agents.NewFolder(h.dir), picture.NewAlbum(0)
	if h.guards, err = lead.NewGuards(h.cfg); err != nil {
		return err
	}
	if h.schema, err = lead.Schema(h.cfg, h.own.Middlewares...); err != nil {
		return err
	}
	h.prompt, err = lead.Prompt(h.leadConfig())
	return err
}

// leadConfig is what the agents of all runs have in common.
func (h *house) leadConfig() lead.Config {
	return lead.Config{
		Settings: h.cfg, Tools: h.own.Tools, Middlewares: h.own.Middlewares, Without: h.own.Without, Addition: h.own.System, Log: h.log,
		Mounts: h.mounts, Programs: h.box.programs, Isolated: h.box.isolated, CodeOff: h.box.off,
		Inside: h.inside, Guards: h.guards, Agents: h.agents, Album: h.album,
	}
}

// build makes the agent for a job.
func (h *house) build(ctx context.Context, job runs.Job) (runs.Built, error) {
	ws, err := h.space(ctx, job.Run)
	if err != nil {
		return runs.Built{}, err
	}
	c := h.leadConfig()
	c.Space, c.Park = ws, ws.Park
	err = h.choose(&c, job)
	if err == nil && c.Choice.Model.IsDemo() {
		err = layOut(ws.Files())
	}
	if err != nil {
		return runs.Built{}, errors.Join(err, ws.Close())
	}
	a, err := lead.Build(c)
	if err != nil {
		return runs.Built{}, errors.Join(err, ws.Close())
	}
	return runs.Built{Agent: a, Config: lead.Limits(h.cfg, job.Request.MaxSteps), Close: ws.Close}, nil
}

// choose finds out who answers the job, and with what: the client's choices, the custom agent that they name, the model.
func (h *house) choose(c *lead.Config, job runs.Job) (err error) {
	c.Options = optionsOf(job.Request)
	if c.Agent, err = h.agent(c.Options, job.Run.UserID); err != nil {
		return err
	}
	if c.Choice, err = h.models.resolve(c.Options.Request, c.Agent); err != nil {
		return err
	}
	for _, w := range c.Choice.Warnings {
		h.log.Warn(w, "run", job.Run.ID)
	}
	m := h.models.of(c.Choice.Model)
	c.Model, c.Guard, c.Vision = m.model, m.guard, m.entry.SupportsVision
	if !m.entry.IsDemo() { // which asks no other model for anything
		c.Fallbacks = h.models.fallbacks(m.entry)
		c.TitleModel, _ = h.models.named(h.cfg.Title.Model)
		summary, entry := h.models.named(h.cfg.Summarization.Model)
		c.Summary = lead.SummaryModel{Model: summary, Window: entry.ContextWindow}
	}
	if c.Agent.Name == "" && c.Agent.Soul == "" {
		c.System = h.prompt
	}
	return nil
}

// optionsOf are the client's choices.
func optionsOf(req runs.Request) lead.Options {
	o := lead.ReadOptions(req.Config, req.Context)
	if req.Model != "" {
		o.ModelName = req.Model
	}
	return o
}

// answers is nil if there is a model that can answer the request, else a config.ErrNoModel. That an agent cannot be read is
// the run's own failure.
func (h *house) answers(req runs.Request) error {
	o := optionsOf(req)
	a, _ := h.agent(o, req.UserID)
	_, err := h.models.resolve(o.Request, a)
	return err
}

// agent is the one that the run is to be. A run that makes a new one is the standard agent.
func (h *house) agent(o lead.Options, user string) (agents.Agent, error) {
	if o.Agent == "" || o.Bootstrap {
		if o.Agent != "" {
			if _, err := agents.CheckName(o.Agent); err != nil {
				return agents.Agent{}, err
			}
		}
		soul, err := h.agents.StandardSoul()
		return agents.Agent{Soul: soul}, err
	}
	return h.agents.Load(access.FromRow(user), o.Agent)
}

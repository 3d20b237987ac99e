package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/state"
)

// leadConfig is what the agents of all runs have in common.
func (e *engine) leadConfig(s *settings) lead.Config {
	return lead.Config{
		Settings: s.cfg, Program: e.own.Program, Guards: s.guards, Album: e.album, Agents: e.agents, Log: e.log,
		Sandbox: lead.Sandbox{Mounts: s.mounts, Programs: e.box.programs, Isolated: e.box.isolated, Off: e.box.off},
	}
}

// build makes the agent for a job.
func (e *engine) build(ctx context.Context, job runs.Job) (runs.Built, error) {
	if err := e.fresh(ctx); err != nil {
		return runs.Built{}, err
	}
	s := e.now()
	place, err := e.place(ctx, job.Run)
	if err != nil {
		return runs.Built{}, err
	}
	folder, mounts, err := e.folderOf(ctx, access.FromRow(job.Run.UserID), place.Thread())
	if err != nil {
		return runs.Built{}, err
	}
	tools, names := e.tools(ctx)
	taught, err := e.skillsMount(ctx, access.FromRow(job.Run.UserID))
	if err != nil {
		return runs.Built{}, err
	}
	ws, past, err := e.space(ctx, job.Run, slices.Concat(s.mounts, mounts, tools, taught))
	if err != nil {
		return runs.Built{}, err
	}
	if err := e.rewind(ctx, past, job); err != nil {
		return runs.Built{}, errors.Join(fmt.Errorf("bring the files of then back: %w", err), ws.Close())
	}
	c := e.leadConfig(s)
	c.Sandbox.Toolbox = names
	c.Thread = lead.Thread{Space: ws, Park: ws.Park, History: past, HistoryRun: cmp.Or(job.Run.Root, job.Run.ID),
		Folder: folder}
	c.Grants = e.grantsOf(job.Run, place.Thread())
	if job.Run.Parent == "" {
		c.Memory = e.memory().For(access.FromRow(job.Run.UserID))
	}
	err = e.choose(s, &c, job)
	if err == nil && c.Desk != nil {
		err = c.Desk.Resume(ctx)
	}
	if e.skills != nil && err == nil {
		c.Skills = e.skills.For(access.FromRow(job.Run.UserID)).Run(c.Choice.Skills)
		c.Secrets, err = e.secretsOf(ctx, &c, job)
	}
	if err == nil {
		c.Profile, err = e.agents.Profile(access.FromRow(job.Run.UserID))
	}
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
	return runs.Built{Agent: a, Env: e.envOf(s, job, &c), Config: lead.Limits(s.cfg, job.Request.MaxSteps),
		Check: func(ctx context.Context, last state.State) error { return delivered(ctx, past, job.Run, last) },
		Sent:  e.noted(job.Run),
		Close: func() error { return errors.Join(e.finish(ctx, past, job.Run), ws.Close()) }}, nil
}

// choose finds out who answers the job, and with what: the client's choices, the custom agent that they name, the
// model.
func (e *engine) choose(s *settings, c *lead.Config, job runs.Job) (err error) {
	c.Options = optionsOf(job.Request)
	if err = e.family(s, c, job); err != nil {
		return err
	}
	if c.Agent, err = e.agent(c.Options, job.Run.UserID); err != nil {
		return err
	}
	if c.Choice, err = s.models.resolve(c.Options.Request, c.Agent); err != nil {
		return err
	}
	for _, w := range c.Choice.Warnings {
		if c.Task == nil { // who gives tasks has heard of it
			e.log.Warn(w, "run", job.Run.ID)
		}
	}
	m := s.models.of(c.Choice.Model)
	c.Models.Main = m.asked()
	if !m.entry.IsDemo() { // which asks no other model for anything
		c.Models.Fallbacks = s.models.fallbacks(m.entry)
		c.Models.Title, _ = s.models.named(s.cfg.Title.Model)
		summary, entry := s.models.named(s.cfg.Summarization.Model)
		c.Models.Summary = lead.SummaryModel{Model: summary, Window: entry.ContextWindow}
	}
	if c.Task != nil {
		c.Choice.Skills = skillsWithin(c.Task.Skills, c.Choice.Skills)
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

// answers is nil if there is a model that can answer the request, else a config.ErrNoModel. That an agent cannot be
// read is the run's own failure.
func (e *engine) answers(req runs.Request) error {
	o := optionsOf(req)
	a, _ := e.agent(o, req.UserID)
	_, err := e.now().models.resolve(o.Request, a)
	return err
}

// agent is the one that the run is to be. A run that makes a new one is the standard agent.
func (e *engine) agent(o lead.Options, user string) (agents.Agent, error) {
	if o.Agent == "" || o.Bootstrap {
		if o.Agent != "" {
			if _, err := agents.CheckName(o.Agent); err != nil {
				return agents.Agent{}, err
			}
		}
		soul, err := e.agents.StandardSoul()
		return agents.Agent{Soul: soul}, err
	}
	return e.agents.Load(access.FromRow(user), o.Agent)
}

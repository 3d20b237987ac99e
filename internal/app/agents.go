package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/memory"
)

// Agents implements cli.App: here, through the server that holds the data folder, or at a server elsewhere.
func (a App) Agents(ctx context.Context, o cli.Options, do func(cli.Agents) error) error {
	p, err := a.settle(ctx, o)
	if err != nil {
		return err
	}
	if p.server != nil {
		return p.close(do(client.Agents{Client: p.server}))
	}
	return p.close(do(agentsHere{agents.NewFolder(p.dir), p}))
}

// agentsHere are the agents of the user of the commands.
type agentsHere struct {
	all *agents.Folder
	at  place
}

// List implements cli.Agents.
func (h agentsHere) List(context.Context) ([]agents.Agent, error) {
	return h.all.List(access.Default())
}

// Load implements cli.Agents.
func (h agentsHere) Load(_ context.Context, name string) (agents.Agent, error) {
	return h.all.Load(access.Default(), name)
}

// Make implements cli.Agents.
func (h agentsHere) Make(_ context.Context, name string, c agents.Change) error {
	if err := h.known(c); err != nil {
		return err
	}
	_, err := h.all.Make(access.Default(), name, c)
	return err
}

// Edit implements cli.Agents.
func (h agentsHere) Edit(_ context.Context, name string, c agents.Change) error {
	if err := h.known(c); err != nil {
		return err
	}
	_, err := h.all.Edit(access.Default(), name, c)
	return err
}

// known refuses a model that the configuration has not.
func (h agentsHere) known(c agents.Change) error {
	name, _ := (*c.Set)["model"].(string)
	if _, ok := h.at.cfg.Model(name); name != "" && name != config.Demo && !ok {
		return fmt.Errorf("unknown model %q: `pudu models` lists those of the configuration", name)
	}
	return nil
}

// Delete implements cli.Agents.
func (h agentsHere) Delete(ctx context.Context, name string) error {
	err := h.all.Delete(access.Default(), name)
	if err == nil || errors.Is(err, agents.ErrNotFound) { // one that a crash has kept from it
		mine := memory.New(memory.Config{Store: h.at.store}).For(access.Default())
		_, failed := mine.ForgetAgent(ctx, strings.ToLower(name))
		err = cmp.Or(err, failed)
	}
	if err == nil {
		h.at.record(ctx, audit.Delete, "agent", name)
	}
	return err
}

// Profile implements cli.Agents.
func (h agentsHere) Profile(context.Context) (string, error) { return h.all.Profile(access.Default()) }

// SetProfile implements cli.Agents.
func (h agentsHere) SetProfile(_ context.Context, text string) error {
	return h.all.SetProfile(access.Default(), text)
}

package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/model/catalog"
	"github.com/pudu-ai/pudu/model"
)

// stopTimeout bounds what a program does after the last run.
const stopTimeout = 10 * time.Second

// check tells whether what the program brings along fits to the agent's own.
func (a App) check(cfg *config.Config) error {
	return lead.Check(cfg, a.Program)
}

// begin calls the program's Start, which may bring more along.
func (e *engine) begin(ctx context.Context) error {
	if e.own.Start == nil {
		return nil
	}
	e.own.Tools, e.own.Middlewares = slices.Clone(e.own.Tools), slices.Clone(e.own.Middlewares)
	e.own.Sources, e.own.Work = slices.Clone(e.own.Sources), slices.Clone(e.own.Work)
	if err := e.own.Start(ctx, &e.own, e.dir); err != nil {
		return fmt.Errorf("start of the program: %w", err)
	}
	if err := e.own.check(e.cfg); err != nil {
		return errors.Join(err, e.end(ctx))
	}
	return nil
}

// end calls the program's Stop, once, also if ctx has ended.
func (e *engine) end(ctx context.Context) error {
	stop := e.own.Stop
	if e.own.Stop = nil; stop == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := stop(ctx); err != nil {
		return fmt.Errorf("stop of the program: %w", err)
	}
	return nil
}

// chooseModel finds the model of runs that name none: by the name, else the program's own, else as the configuration
// says.
func (a App) chooseModel(ctx context.Context, cfg *config.Config, name string, demoScript []byte) (chosen, error) {
	if a.Model == nil || name != "" {
		return chooseModel(ctx, cfg, name, demoScript)
	}
	return chosen{model: a.Model, entry: ownEntry(cfg, a.Model), why: "the program's own"}, nil
}

// ownEntry is what is known of a program's own model: what the configuration says of one of its name, else what the
// catalog does.
func ownEntry(cfg *config.Config, m model.ChatModel) config.Model {
	if entry, ok := cfg.Model(m.Name()); ok {
		entry.Err = nil // that it has no key, for example, does not matter
		return entry
	}
	entry := config.Model{Name: m.Name(), ID: m.Name()}
	if provider, id, ok := strings.Cut(m.Name(), "/"); ok {
		entry.Provider, entry.ID = provider, id
	}
	catalog.Complete(&entry)
	return entry
}

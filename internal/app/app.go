// Package app puts the program together: it is the only place that constructs stores, models, sandboxes and the
// manager of runs, from the configuration, for the edges that need them.
//
//	flags -> config -> store -> sandbox probe -> model choice -> manager of runs -> Session, or a server of sessions
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/model/catalog"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
)

// App implements cli.App. The zero value works on the process's own environment. Its fields are what a program that
// embeds this one brings along; the package pudu documents them.
type App struct {
	// Program is for every agent.
	lead.Program

	// Model answers where no name is given, and Sandbox opens the sandboxes; nil means those of the configuration.
	Model   model.ChatModel
	Sandbox sandbox.Provider
	// Log is written to; nil means slog.Default().
	Log *slog.Logger
	// Sections are pointers to what the configuration's sections of these names are read into.
	Sections map[string]any
	// Start is called with the data folder before there are runs, and may add to the App; Stop after the last one.
	Start func(ctx context.Context, a *App, dir string) error
	Stop  func(ctx context.Context) error
	// Work are kinds of jobs that tools and hooks ask for.
	Work []Work
	// Events sees the events of all runs.
	Events func(run store.Run, ev event.Event)
}

var _ cli.App = App{}

// Open sets everything up for runs. While another process holds the data folder it works through that one, if that
// listens, else it waits.
func (a App) Open(ctx context.Context, o cli.Options) (*cli.Session, error) {
	cfg, dir, notes, err := a.settings(o)
	if err != nil {
		return nil, err
	}
	if o.ReadOnly {
		return a.openReadOnly(ctx, cfg, dir, o)
	}
	e, err := a.assemble(ctx, cfg, dir, o)
	for told := false; errors.Is(err, store.ErrLocked); told = true {
		s, errThere := a.throughSocket(ctx, cfg, dir, o)
		if !errors.Is(errThere, store.ErrLocked) {
			return s, errThere
		}
		if !told && o.Note != nil {
			o.Note(fmt.Sprintf("waiting for %s, which works on %s (with pudu serve, several can work at once)",
				holder(dir), dir))
		}
		if err = pause(ctx, lockPause); err == nil {
			e, err = a.assemble(ctx, cfg, dir, o)
		}
	}
	if err != nil {
		return nil, err
	}
	s := e.session(notes)
	left, err := e.manager.Unfinished(ctx)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if len(left) > 0 {
		s.Notes = append(s.Notes, cli.Count(len(left), "unfinished run")+
			"; see pudu runs, and go on with pudu run --resume")
	}
	return s, nil
}

// lockPause is how long to wait before the data folder is tried again.
const lockPause = 100 * time.Millisecond

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// settings loads the configuration and finds the data folder.
func (a App) settings(o cli.Options) (*config.Config, string, []string, error) {
	cfg, warnings, err := config.Load(config.LoadOptions{Path: o.Config, Complete: catalog.Complete,
		Sections: a.Sections})
	if err != nil {
		return nil, "", nil, err
	}
	var notes []string
	for _, w := range warnings {
		notes = append(notes, w.String())
	}
	dir := o.Data
	if dir == "" {
		if dir, err = config.DataDir(cfg.Env, os.Getuid()); err != nil {
			return nil, "", nil, err
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, "", nil, fmt.Errorf("data folder: %w", err)
	}
	return cfg, dir, notes, nil
}

// openReadOnly opens the store for looking, beside a process that may own it.
func (a App) openReadOnly(ctx context.Context, cfg *config.Config, dir string, o cli.Options) (*cli.Session, error) {
	o.ReadOnly = true
	e, err := a.startCommands(ctx, cfg, dir, o)
	if err != nil {
		return nil, err
	}
	s := &cli.Session{List: e.mine(), Store: e.mine(), UserID: access.Default().ID(), API: e.api(), Close: e.close}
	s.Owner = func(ctx context.Context, run store.Run) (string, error) {
		if e.shared {
			return leaseholder(ctx, e.store, run)
		}
		return holderOf(dir, run), nil
	}
	s.Files = func(t store.Thread) (*sandbox.Files, error) {
		place, err := e.disk.Of(t)
		if err != nil {
			return nil, err
		}
		return place.Open(true)
	}
	return s, nil
}

// Keep stores a key in the credentials file.
func (App) Keep(name, value string) (string, error) {
	path := config.CredentialsPath(config.EnvFrom(os.LookupEnv))
	if path == "" {
		return "", errors.New("there is no home folder to keep it in; set the variable instead")
	}
	return path, config.SaveCredential(path, name, value)
}

// keyForms tells whose key a text looks like, the longer prefixes first.
var keyForms = []struct{ prefix, variable string }{
	{"sk-ant-", "ANTHROPIC_API_KEY"},
	{"sk-or-", "OPENROUTER_API_KEY"},
	{"sk-", "OPENAI_API_KEY"},
	{"AIza", "GEMINI_API_KEY"},
	{"gsk_", "GROQ_API_KEY"},
	{"xai-", "XAI_API_KEY"},
}

// Key implements cli.App. It also takes NAME=value.
func (App) Key(value string) string {
	for _, form := range keyForms {
		if strings.HasPrefix(value, form.prefix) && len(value) > 16 && !strings.ContainsAny(value, " \t") {
			return form.variable
		}
	}
	return ""
}

// TokensFile implements cli.App. The folder of the file is made if it is not there.
func (a App) TokensFile(o cli.Options) (string, error) {
	cfg, dir, _, err := a.settings(o)
	if err != nil {
		return "", err
	}
	path := cfg.TokensFile(dir)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("make the folder of the tokens: %w", err)
	}
	return path, nil
}

package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/secrets"
)

const (
	// quietTime is how long a configuration file must have stayed as it is, so that nobody is still writing it;
	// quietTimeout is how long that is waited for.
	quietTime    = 100 * time.Millisecond
	quietTimeout = 5 * time.Second
)

// Reload implements cli.App.
func (a App) Reload(ctx context.Context, o cli.Options) (notes, restart []string, err error) {
	if serverOf(o) != "" {
		return nil, nil,
			errors.New("a server elsewhere cannot be told to read its configuration: say pudu reload on its machine, " +
				"with its --data, or send it SIGHUP")
	}
	_, dir, _, err := a.settings(o)
	if err != nil { // the server tells better what is wrong with its configuration
		if dir = o.Data; dir == "" {
			dir, err = config.DataDir(config.EnvFrom(os.LookupEnv), os.Getuid())
		}
		if dir == "" {
			return nil, nil, err
		}
	}
	c, err := client.Dial(ctx, client.Config{Dir: dir})
	if err != nil {
		return nil, nil,
			fmt.Errorf("%w (a server that works on a PostgreSQL listens in no data folder: send it SIGHUP)", err)
	}
	defer c.Close()
	return c.Reload(ctx)
}

// reload reads the configuration again, for the runs that begin from now on. One that is broken changes nothing. notes
// are warnings about the new one, restart names what has changed and counts at the next start only.
func (e *engine) reload(ctx context.Context) (notes, restart []string, err error) {
	e.reloading.Lock()
	defer e.reloading.Unlock()
	old := e.now()
	if err := quiet(ctx, old.cfg.Path); err != nil {
		return nil, nil, err
	}
	again := e.own
	again.Sections = blank(e.own.Sections)
	cfg, dir, notes, err := again.settings(e.options)
	if err != nil {
		return nil, nil, err
	}
	if old.cfg.Path != "" && cfg.Path == "" {
		return nil, nil, fmt.Errorf("the configuration %s is not there any more", old.cfg.Path)
	}
	restart, err = e.changed(cfg, dir, again.Sections)
	if err != nil {
		return nil, nil, err
	}
	next, err := e.settingsFor(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	if next.model.missing != nil && old.model.missing == nil {
		return nil, nil, fmt.Errorf("runs would have no model any more: %w", next.model.missing)
	}
	e.current.Store(next)
	e.doors.renew(e)
	return slices.Concat(notes, next.notes), restart, nil
}

// quiet waits until nobody writes the file. An empty one is what a program that writes it anew leaves for a moment, or
// for good if it was cut off.
func quiet(ctx context.Context, path string) error {
	if path == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, quietTimeout)
	defer cancel()
	var before []byte
	for first := true; ; first = false {
		raw, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read configuration: %w", err)
		}
		if !first && bytes.Equal(raw, before) {
			if len(bytes.TrimSpace(raw)) == 0 {
				return fmt.Errorf("the configuration %s is empty", path)
			}
			return nil
		}
		before = raw
		if pause(ctx, quietTime) != nil {
			return fmt.Errorf("the configuration %s is still being written", path)
		}
	}
}

// blank are new values for the sections of a program: its own are in use.
func blank(sections map[string]any) map[string]any {
	fresh := make(map[string]any, len(sections))
	for name, into := range sections {
		if t := reflect.TypeOf(into); t != nil && t.Kind() == reflect.Pointer {
			into = reflect.New(t.Elem()).Interface()
		}
		fresh[name] = into
	}
	return fresh
}

// keepSections notes what the file says in the program's own sections, to tell a change of it.
func (e *engine) keepSections() error {
	if len(e.own.Sections) == 0 {
		return nil
	}
	a := App{Sections: blank(e.own.Sections)}
	_, _, _, err := a.settings(e.options) //nolint:dogsled // it is about the sections
	e.sections = a.Sections
	return err
}

// changed names what of the configuration is not as it was at the start, and cannot change while the process lives.
func (e *engine) changed(cfg *config.Config, dir string, sections map[string]any) (list []string, err error) {
	note := func(name string, was, is any) {
		if !reflect.DeepEqual(was, is) {
			list = append(list, name)
		}
	}
	server, err := cfg.ChooseServer(e.options.Addr, e.options.NATS)
	if err != nil {
		return nil, err
	}
	was, _ := e.cfg.ChooseServer(e.options.Addr, e.options.NATS)
	note("the address", was.Addr, server.Addr)
	note("PUDU_TOKEN", was.Token, server.Token)
	note("PUDU_NATS", was.NATS, server.NATS)
	note("GATEWAY_CORS_ORIGINS", was.Origins, server.Origins)
	note("PUDU_TRUSTED_PROXIES", was.Proxies, server.Proxies)
	note("PUDU_WEBHOOK_NETWORKS", was.Webhooks, server.Webhooks)
	note("PUDU_RATE_LIMITS", was.Rates, server.Rates)
	note("PUDU_LOG_FORMAT", was.JSONLog, server.JSONLog)
	database, err := cfg.ChooseDatabase(e.options.Database)
	if err != nil {
		return nil, err
	}
	before, _ := e.cfg.ChooseDatabase(e.options.Database)
	database.Line, before.Line = 0, 0
	note("database", before, database)
	note("the data folder", e.dir, dir)
	note("sandbox.use", e.cfg.Sandbox.Provider, cfg.Sandbox.Provider)
	note("sandbox.limits", e.cfg.Sandbox.Limits, cfg.Sandbox.Limits)
	past, files := e.cfg.FileHistory, cfg.FileHistory
	past.Line, files.Line = 0, 0
	note("file_history", past, files)
	note("log_level", e.cfg.LogLevel, cfg.LogLevel)
	note("PUDU_TOKENS_FILE", e.cfg.TokensFile(e.dir), cfg.TokensFile(e.dir))
	note("PUDU_SECRETS_KEY", e.cfg.Env.Get(secrets.Variable), cfg.Env.Get(secrets.Variable))
	for name, value := range sections {
		note("section "+name, e.sections[name], value)
	}
	slices.Sort(list)
	return list, nil
}

// renew has the doors answer for the present settings. Requests under way end as they began.
func (es edges) renew(e *engine) {
	for _, d := range es {
		c := d.config
		e.models(&c)
		d.gateway.set(gateway.New(c))
	}
}

// heed reloads the configuration with each SIGHUP.
func (e *engine) heed(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.hangups:
			_, _, _ = e.told(ctx, "SIGHUP")
		}
	}
}

// told reloads the configuration and has the log say what came of it.
func (e *engine) told(ctx context.Context, by string) (notes, restart []string, err error) {
	notes, restart, err = e.reload(ctx)
	if err != nil {
		e.log.Error("the configuration was refused, the present one stays", "by", by, "error", err)
		return nil, nil, err
	}
	e.audit.Record(ctx, audit.Of(operator(by), audit.Change, "configuration", ""))
	for _, note := range notes {
		e.log.Warn(note)
	}
	if len(restart) > 0 {
		e.log.Warn("changes that need a restart have no effect yet", "what", restart)
	}
	e.news.Notice("reloaded")
	e.log.Info("the configuration was read again: runs that begin now have it", "by", by, "file", e.now().cfg.Path)
	return notes, restart, nil
}

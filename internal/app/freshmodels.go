package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/models"
	"github.com/pudu-ai/pudu/internal/secrets"
)

// renewTimeout bounds how long new settings may take.
const renewTimeout = 30 * time.Second

// keeper is what changes the models that were added, for the gateway.
func (e *engine) keeper() *keeper {
	return &keeper{
		rows: e.added, script: e.box.demo(), fixed: e.own.fixedBy(e.options.Model), tests: e.tests,
		view: func(ctx context.Context) (modelView, error) {
			err := e.fresh(ctx)
			s := e.now()
			return modelView{s.base, s.cfg, s.added, s.model}, err
		},
		changed: func(ctx context.Context) error {
			if err := e.renew(ctx, true); err != nil {
				return fmt.Errorf("it is stored, and runs do not have it yet: %w", err)
			}
			return nil
		},
	}
}

// renew makes new settings of the present configuration and the models that were added, for the runs that begin from
// now on. Those that work keep theirs. Unless something is known to have changed it looks whether another call has done
// so meanwhile.
func (e *engine) renew(ctx context.Context, changed bool) error {
	e.reloading.Lock()
	defer e.reloading.Unlock()
	ctx, cancel := context.WithTimeout(ctx, renewTimeout)
	defer cancel()
	if !changed {
		if v, err := e.added.Version(ctx); err != nil || v == e.now().added.Version && !e.stale.Load() {
			return err
		}
	}
	e.stale.Store(true) // until it is done
	next, err := e.settingsFor(ctx, e.now().base)
	if err != nil {
		return err
	}
	e.current.Store(next)
	e.doors.renew(e)
	e.stale.Store(false)
	e.news.Notice("models")
	return nil
}

// fresh makes new settings if another process has changed the models that were added. Where no other process can, and
// nothing has failed, it does not look.
func (e *engine) fresh(ctx context.Context) error {
	if e.added == nil || !e.shared && !e.stale.Load() {
		return nil
	}
	v, err := e.added.Version(ctx)
	if err != nil || v == e.now().added.Version && !e.stale.Load() {
		return err
	}
	return e.renew(ctx, false)
}

// refresh is fresh before a request that starts runs or shows models. One that cannot look is answered with what is
// known.
func (e *engine) refresh(r *http.Request) {
	if r.Method != http.MethodPost && !strings.Contains(r.URL.Path, "models") &&
		!strings.HasSuffix(r.URL.Path, "/info") {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	if err := e.fresh(ctx); err != nil {
		e.log.WarnContext(r.Context(), "whether models were added or removed elsewhere is not known", "error", err)
	}
}

// addedTo is the configuration of a command with the models that were added to its data. Where they cannot be read it
// is without them, and the log says why.
func (a App) addedTo(ctx context.Context, o cli.Options) (*config.Config, error) {
	cfg, dir, _, err := a.settings(o)
	if err != nil { // such as without a place for data
		cfg, _, err = config.Load(config.LoadOptions{Path: o.Config, Sections: a.Sections})
		return cfg, err
	}
	return readAdded(ctx, cfg, o, dir), nil
}

func readAdded(ctx context.Context, cfg *config.Config, o cli.Options, dir string) *config.Config {
	st, err := openStore(ctx, cfg, o, dir, true)
	if errors.Is(err, fs.ErrNotExist) {
		return cfg
	}
	var kept models.Kept
	if err == nil {
		defer st.Close()
		var s *secrets.Secrets
		if s, err = secrets.Open(dir, cfg.Env.Get(secrets.Variable)); err == nil {
			kept, err = models.New(st, s).Load(ctx)
		}
	}
	if err != nil {
		slog.WarnContext(ctx, "the models that were added cannot be read", "error", err)
		return cfg
	}
	return withAdded(cfg, kept)
}

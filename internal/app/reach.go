package app

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"sync"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/session"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/store"
)

// Reach implements cli.App.
func (a App) Reach(ctx context.Context, o cli.Options, do func(*client.Client) error) error {
	c, err := connect(ctx, o)
	if err != nil {
		return err
	}
	if c == nil {
		return a.here(ctx, o, do)
	}
	defer c.Close()
	return do(c)
}

// here has do work with the data folder: through the server that holds it, else with a gateway of this process, which
// holds the folder meanwhile. To look it holds nothing, and works beside whoever does.
func (a App) here(ctx context.Context, o cli.Options, do func(*client.Client) error) error {
	cfg, dir, _, err := a.settings(o)
	if err == nil && !o.Begin && !o.ReadOnly {
		err = isThere(ctx, cfg, o, dir)
	}
	if err != nil {
		return err
	}
	e, err := a.startCommands(ctx, cfg, dir, o)
	if errors.Is(err, store.ErrLocked) {
		c, errServer := client.Dial(ctx, client.Config{Dir: dir})
		if errServer != nil {
			return err // whose holder does not listen
		}
		defer c.Close()
		return do(c)
	}
	if err != nil {
		return err
	}
	err = do(e.api()())
	return errors.Join(err, e.close()) //nolint:contextcheck // ctx may have ended
}

// startCommands starts what answers commands.
func (a App) startCommands(ctx context.Context, cfg *config.Config, dir string, o cli.Options) (*engine, error) {
	e, err := a.newEngine(cfg, dir, o)
	if err != nil {
		return nil, err
	}
	e.commands = true
	return e, e.start(ctx, e.forCommands())
}

// isThere is fs.ErrNotExist if there is no database yet.
func isThere(ctx context.Context, cfg *config.Config, o cli.Options, dir string) error {
	if !isShared(cfg, o) {
		return hasFile(dir)
	}
	st, err := openStore(ctx, cfg, o, dir, true) // which, unlike an owner, makes no folder
	if err != nil {
		return err
	}
	return st.Close()
}

// api are the routes as the user of this machine has them, made when they are asked for, and closed with the engine.
func (e *engine) api() func() *client.Client {
	return sync.OnceValue(func() *client.Client {
		e.asked = client.Inside(e.atHand())
		return e.asked
	})
}

// atHand is what answers the commands of the user of this machine where no server does.
func (e *engine) atHand() http.Handler {
	by := audit.Local()
	c := behindSocket(e.gatewayConfig(&cli.Session{}, config.Server{}), by.Via)
	c.AgentsOff, c.Browsers = false, &gateway.Guard{Token: "of a server", Named: ofServer{}}
	routes := gateway.New(c)
	mux := e.withOperator(routes, by)
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) { // nobody has indexed what has changed
		if err := newIndexer(e.store, e.disk, e.schema).Fill(r.Context(), by.User); err != nil {
			reply(w, nil, err)
			return
		}
		routes.ServeHTTP(w, r)
	})
	return mux
}

// ofServer are the named tokens of a server, which alone knows them: whether one of their sessions is over it finds out
// when that is used.
type ofServer struct{}

// Required implements [gateway.Tokens].
func (ofServer) Required() bool { return false }

// Name implements [gateway.Tokens].
func (ofServer) Name(string) (string, bool) { return "", false }

// Sum implements [gateway.Tokens].
func (ofServer) Sum(string) (session.Sum, bool) { return session.Sum{}, true }

// Record implements cli.App. Where there is no database yet there is no audit log.
func (a App) Record(ctx context.Context, o cli.Options, verb audit.Verb, kind, object string) {
	err := a.here(ctx, o, func(c *client.Client) error { return c.Record(ctx, string(verb), kind, object) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		slog.ErrorContext(ctx, "the audit log was not told", "verb", verb, "kind", kind, "object", object, "error", err)
	}
}

// Audit implements cli.App. A server may be at work.
func (a App) Audit(ctx context.Context, o cli.Options, f audit.Filter) ([]audit.Entry, error) {
	c, err := connect(ctx, o)
	if err != nil {
		return nil, err
	}
	if c != nil {
		defer c.Close()
		return c.Audit(ctx, f)
	}
	k, err := a.openKept(ctx, o, true)
	if err != nil {
		return nil, err
	}
	list, err := audit.New(k.store, nil, nil).List(ctx, f)
	return list, errors.Join(err, k.store.Close())
}

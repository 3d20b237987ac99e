package app

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"github.com/pudu-ai/pudu/internal/access/bearer"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/lib/resident"
)

// Serve implements cli.App. Where the log is JSON it has everything that there is to say, also why the server ends.
func (a App) Serve(ctx context.Context, o cli.Options, ready func(*cli.Session)) error {
	hangups := make(chan os.Signal, 1) // from now on a hangup does not end the process
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	asJSON, err := a.serve(ctx, o, hangups, ready)
	if err == nil || !asJSON {
		return err
	}
	defer logTo(os.Stderr, "", asJSON)()
	slog.Error("the server cannot go on", "error", err)
	return cli.Told(err)
}

func (a App) serve(ctx context.Context, o cli.Options, hangups <-chan os.Signal,
	ready func(*cli.Session)) (asJSON bool, err error) {
	asJSON = fromEnv("PUDU_LOG_FORMAT") == "json" // known before the configuration is
	cfg, dir, notes, err := a.settings(o)
	if err != nil {
		return asJSON, err
	}
	tokens, err := bearer.Watch(cfg.TokensFile(dir), nil)
	if err != nil {
		return asJSON, err
	}
	server, err := listening(cfg, o, tokens)
	if err != nil {
		return asJSON, err
	}
	defer logTo(os.Stderr, cfg.LogLevel, server.JSONLog)()
	if server.JSONLog {
		ready = logReady
	}
	o.NATS = server.NATS.Reveal()
	e, err := a.newEngine(cfg, dir, o)
	if err != nil {
		return server.JSONLog, err
	}
	e.watch.log, e.callers, e.hangups = e.log, tokens, hangups
	if err := e.keepSections(); err != nil {
		return server.JSONLog, err
	}
	return server.JSONLog, e.serve(ctx, server, notes, ready)
}

// ballast is how many bytes a server holds without ever touching them, so that they take no memory. The collector
// counts them, and lets as much garbage come together before it works: with the few megabytes that are in use in a
// server that has little to do it would else work all the time.
const ballast = 64 << 20

// serve goes on with unfinished runs and listens, for pudu run too, until ctx ends.
func (e *engine) serve(ctx context.Context, server config.Server, notes []string, ready func(*cli.Session)) error {
	held := make([]byte, ballast)
	defer runtime.KeepAlive(held)
	ctx, e.halt = context.WithCancel(ctx)
	defer e.halt()
	session := part{name: "session", start: func(context.Context) error { e.shown = e.session(notes); return nil }}
	if err := e.start(ctx, slices.Concat(e.forRuns(), parts{session}, e.forServer(server))); err != nil {
		return err
	}
	ready(e.shown)
	if err := resident.GiveBack(); err != nil {
		e.log.Warn("more memory is held than the server needs", "error", err)
	}
	e.bringTools(ctx)
	<-ctx.Done()
	return e.close() //nolint:contextcheck // ctx has ended
}

package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/access/bearer"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
)

// Serve implements cli.App. Where the log is JSON it has everything that there is to say, also why the server ends.
func (a App) Serve(ctx context.Context, o cli.Options, ready func(*cli.Session)) error {
	defer outliveHangups()()
	asJSON, err := a.serve(ctx, o, ready)
	if err == nil || !asJSON {
		return err
	}
	defer logTo(os.Stderr, "", asJSON)()
	slog.Error("the server cannot go on", "error", err)
	return cli.Told(err)
}

func (a App) serve(ctx context.Context, o cli.Options, ready func(*cli.Session)) (asJSON bool, err error) {
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
	h, err := a.assemble(ctx, cfg, dir, o)
	if err != nil {
		return server.JSONLog, err
	}
	h.watch.log, h.callers = h.log, tokens
	s := h.session(append(notes, h.notes...))
	return server.JSONLog, errors.Join(h.serve(ctx, s, server, func() { ready(s) }), s.Close())
}

// ballast is how many bytes a server holds without ever touching them, so that they take no memory. The collector counts
// them, and lets as much garbage come together before it works: with the few megabytes that are in use in a server that
// has little to do it would else work all the time.
const ballast = 64 << 20

// serve goes on with unfinished runs and listens, for pudu run too, until ctx ends.
func (h *house) serve(ctx context.Context, s *cli.Session, server config.Server, ready func()) error {
	doors, err := h.listen(ctx, s, server)
	if err != nil {
		return err
	}
	held := make([]byte, ballast)
	defer runtime.KeepAlive(held)
	ctx, stop := context.WithCancel(ctx)
	var background sync.WaitGroup
	defer background.Wait()
	defer stop()
	defer doors.close()
	background.Go(func() { h.manager.Serve(ctx, nil) })
	background.Go(func() { h.collect(ctx) })
	for _, door := range doors {
		background.Go(func() {
			if err := door.serve(); err != nil {
				h.log.Error("a listener has failed", "error", err)
				stop()
			}
		})
	}
	ready()
	<-ctx.Done()
	return nil
}

// collect drops what has outlived its use, every few hours until ctx ends.
func (h *house) collect(ctx context.Context) {
	const every = 6 * time.Hour
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			c := &collection{store: h.store.System(), dir: h.dir, disk: h.disk, keep: h.cfg.Retention, rests: leavings(h.cfg.ToolOutput), now: now}
			if err := c.run(ctx); err != nil && ctx.Err() == nil {
				h.log.Warn("cannot drop what has outlived its use", "error", err)
			}
		}
	}
}

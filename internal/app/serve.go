package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/local"
	"github.com/pudu-ai/pudu/sandbox"
)

// Serve implements cli.App.
func (a App) Serve(ctx context.Context, o cli.Options, ready func(*cli.Session)) error {
	cfg, dir, notes, err := settings(o)
	if err != nil {
		return err
	}
	server, err := listening(cfg, o)
	if err != nil {
		return err
	}
	restore := logTo(os.Stderr, cfg.LogLevel, server.JSONLog)
	defer restore()
	o.NATS = server.NATS.Reveal()
	h, err := assemble(ctx, cfg, dir, o)
	if err != nil {
		return err
	}
	s := h.session(append(notes, h.notes...))
	return errors.Join(h.serve(ctx, s, server, func() { ready(s) }), s.Close())
}

// serve goes on with unfinished runs, listens, and opens the door for pudu run.
func (h *house) serve(ctx context.Context, s *cli.Session, server config.Server, ready func()) error {
	edge, err := h.listen(ctx, s, server)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var background sync.WaitGroup
	defer background.Wait()
	defer stop()
	defer edge.close() //nolint:contextcheck // what is open is closed after ctx has ended
	background.Go(func() { h.manager.Serve(ctx, nil) })
	background.Go(func() { h.collect(ctx) })
	background.Go(func() {
		if err := edge.serve(); err != nil {
			slog.Error("the listener has failed", "error", err)
			stop()
		}
	})
	if h.shared { // pudu run works on the database by itself
		ready()
		<-ctx.Done()
		return nil
	}
	door := local.Server{
		Info:    local.Info{PID: os.Getpid(), Model: s.Model, Why: s.Why, Sandbox: s.Sandbox, Notes: s.Notes, NoModel: s.NoModel},
		Manager: h.manager, Store: h.upload,
	}
	return door.Serve(ctx, h.dir, ready)
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
			c := &collection{store: h.store, dir: h.dir, keep: h.cfg.Retention, now: now}
			if err := c.run(ctx); err != nil && ctx.Err() == nil {
				slog.Warn("cannot drop what has outlived its use", "error", err)
			}
		}
	}
}

// throughServer is a session that works through the server which holds the data folder; locked is the error if there is
// none that listens.
func throughServer(ctx context.Context, cfg *config.Config, dir string, o cli.Options, locked error) (*cli.Session, error) {
	s, err := openReadOnly(ctx, cfg, dir, o)
	if err != nil {
		return nil, errors.Join(locked, err)
	}
	c, err := local.Dial(ctx, dir, s.Store)
	if err != nil {
		return nil, errors.Join(locked, s.Close())
	}
	if o.Model != "" && o.Model != c.Info.Model || len(o.Mounts) > 0 {
		err := fmt.Errorf("the server (process %d) that holds %s has its own model (%s) and mounts; leave --model and --mount away, "+
			"or start it with them", c.Info.PID, dir, c.Info.Model)
		return nil, errors.Join(err, s.Close())
	}
	s.Runner, s.Model, s.Sandbox = c, c.Info.Model, c.Info.Sandbox
	s.Why = fmt.Sprintf("through the server, process %d", c.Info.PID)
	s.Files = func(threadID string) (*sandbox.Files, error) { return (&house{dir: dir}).files(threadID) }
	if c.Info.NoModel != "" {
		s.Scripted, s.Demo = true, demo()
		s.NoModel = fmt.Sprintf("The server (process %d) has no model; start it again when there is one. %s", c.Info.PID, c.Info.NoModel)
	}
	return s, nil
}

package app

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/pudu-ai/pudu/internal/config"
)

// part is one of the things that the program is made of. It owns what it begins: connections, files, goroutines.
type part struct {
	name string
	// start may leave nothing behind when it fails; nil has nothing to start.
	start func(ctx context.Context) error
	// stop ends what start began, also what it has handed on, and waits for it; nil has nothing to stop.
	stop func(ctx context.Context) error
}

// parts are started from top to bottom, and stopped from bottom to top.
type parts []part

// forRuns are the parts that carry out runs.
func (e *engine) forRuns() parts {
	return parts{
		{"database", e.openDatabase, e.closeDatabase},
		{"audit log", e.openAudit, e.closeAudit},
		{"secrets", e.openSecrets, nil},
		{"program", e.begin, e.end},
		{"outgoing", e.openOutgoing, e.closeOutgoing},
		{"sandboxes", e.openSandboxes, e.closeSandboxes},
		{"settings", e.configure, nil},
		{"data folder", e.checkFolder, nil},
		{"deletions", e.finishDeletions, nil},
		{"bus", e.openBus, e.closeBus},
		{"events", e.openHub, e.closeHub},
		{"runs", e.openRuns, e.closeRuns},
	}
}

// forCommands are the parts that answer commands where no server does. They begin nothing, and take nothing over.
func (e *engine) forCommands() parts {
	return parts{
		{"database", e.openDatabase, e.closeDatabase},
		{"audit log", e.openAudit, e.closeAudit},
		{"secrets", e.openSecrets, nil},
		{"files", e.openSandboxes, e.closeSandboxes},
		{"settings", e.outline, nil},
		{"events", e.openHub, e.closeHub},
	}
}

// forServer are the parts that a server has behind those for runs.
func (e *engine) forServer(s config.Server) parts {
	return parts{
		{"listeners", func(ctx context.Context) error { return e.listen(ctx, s) }, e.closeListeners},
		working("news", func(ctx context.Context) { e.news.Work(ctx) }),
		working("jobs", func(ctx context.Context) { e.jobs.Work(ctx) }),
		working("waiting runs", func(ctx context.Context) { e.manager.Serve(ctx, nil) }),
		{"gateway", e.answer, e.closeGateway},
		working("reload", e.heed),
	}
}

// forHandler are the parts that an embedded server, which listens nowhere, has behind those for runs.
func (e *engine) forHandler(stop func()) parts {
	return parts{
		working("news", func(ctx context.Context) { e.news.Work(ctx) }),
		working("jobs", func(ctx context.Context) { e.jobs.Work(ctx) }),
		working("waiting runs", func(ctx context.Context) { e.manager.Serve(ctx, nil) }),
		{"gateway", nil, func(context.Context) error { stop(); return nil }},
	}
}

// working is a part that is one goroutine, which returns when its context ends.
func working(name string, work func(ctx context.Context)) part {
	var (
		end  context.CancelFunc
		done sync.WaitGroup
	)
	return part{
		name: name,
		start: func(ctx context.Context) error {
			ctx, end = context.WithCancel(ctx) //nolint:gosec // stop calls it
			done.Go(func() { work(ctx) })
			return nil
		},
		stop: func(context.Context) error {
			end()
			done.Wait()
			return nil
		},
	}
}

// start starts all of them, or none: when one fails, those before it are stopped.
func (ps parts) start(ctx context.Context) error {
	for i, p := range ps {
		if p.start == nil {
			continue
		}
		if err := p.start(ctx); err != nil {
			return errors.Join(err, ps[:i].stop(ctx))
		}
	}
	return nil
}

// stop stops all of them, whatever becomes of one, also if ctx has ended.
func (ps parts) stop(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	var errs []error
	for _, p := range slices.Backward(ps) {
		if p.stop != nil {
			errs = append(errs, p.stop(ctx))
		}
	}
	return errors.Join(errs...)
}

package app

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/store"
)

// place is where a command does its work: at a server, or here with the store of the data folder. One of the two is
// there.
type place struct {
	*kept

	server *client.Client
}

// reach finds the place of a command: the server that is named, else here.
func (a App) reach(ctx context.Context, o cli.Options) (place, error) {
	c, err := connect(ctx, o)
	if c != nil || err != nil {
		return place{server: c}, err
	}
	return a.hold(ctx, o)
}

// settle is reach for a command that may be the first to work there: it makes the data folder.
func (a App) settle(ctx context.Context, o cli.Options) (place, error) {
	p, err := a.reach(ctx, o)
	if errors.Is(err, fs.ErrNotExist) {
		p.kept, err = a.openKept(ctx, o, false)
	}
	return p, err
}

// hold takes the data folder, or finds the server that holds it.
func (a App) hold(ctx context.Context, o cli.Options) (place, error) {
	k, err := a.openOwned(ctx, o)
	if !errors.Is(err, store.ErrLocked) {
		return place{kept: k}, err
	}
	_, dir, _, errServer := a.settings(o)
	var c *client.Client
	if errServer == nil {
		c, errServer = client.Dial(ctx, client.Config{Dir: dir})
	}
	if errServer != nil {
		return place{}, err // whose holder does not listen
	}
	return place{server: c}, nil
}

// close ends the work there; err is what came of it.
func (p place) close(err error) error {
	if p.server != nil {
		p.server.Close()
		return err
	}
	return errors.Join(err, p.store.Close())
}

// record has the audit log of this place tell what the command line has done. A server tells by itself of what it was
// asked for.
func (p place) record(ctx context.Context, verb audit.Verb, kind, object string) {
	if p.server == nil {
		audit.New(p.store, nil, nil).Record(ctx, audit.Of(audit.Local(), verb, kind, object))
	}
}

// Record implements cli.App. Where there is no database yet there is no audit log.
func (a App) Record(ctx context.Context, o cli.Options, verb audit.Verb, kind, object string) {
	p, err := a.hold(ctx, o)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err == nil && p.server != nil:
		err = p.server.Record(ctx, string(verb), kind, object)
	case err == nil:
		p.record(ctx, verb, kind, object)
	}
	if err == nil {
		err = p.close(nil)
	}
	if err != nil {
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

// Jobs implements cli.App.
func (a App) Jobs(ctx context.Context, o cli.Options, do func(cli.Jobs) error) error {
	p, err := a.reach(ctx, o)
	if err != nil {
		return err
	}
	if p.server != nil {
		return p.close(do(p.server.Jobs()))
	}
	return p.close(do(auditedJobs{job.NewQueue(p.store), p}))
}

// auditedJobs tells the audit log what a command does with jobs here.
type auditedJobs struct {
	*job.Queue

	place place
}

// Retry implements [cli.Jobs].
func (j auditedJobs) Retry(ctx context.Context, kind, key, user string) (int64, error) {
	n, err := j.Queue.Retry(ctx, kind, key, user)
	if n > 0 {
		j.place.record(ctx, audit.Change, "job", kind+"/"+key)
	}
	return n, err
}

// Drop implements [cli.Jobs].
func (j auditedJobs) Drop(ctx context.Context, kind, key, user string) (int64, error) {
	n, err := j.Queue.Drop(ctx, kind, key, user)
	if n > 0 {
		j.place.record(ctx, audit.Delete, "job", kind+"/"+key)
	}
	return n, err
}

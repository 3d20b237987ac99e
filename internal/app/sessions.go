package app

import (
	"context"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/session"
)

// maxSessions bounds a list of sessions.
const maxSessions = 1000

// Sessions implements cli.App: here, through the server that holds the data folder, or at a server elsewhere.
func (a App) Sessions(ctx context.Context, o cli.Options, do func(cli.Sessions) error) error {
	p, err := a.reach(ctx, o)
	switch {
	case err != nil:
		return err
	case p.server != nil:
		return p.close(do(client.Sessions{Client: p.server}))
	}
	return p.close(do(sessionsHere{session.New(p.store), p}))
}

// sessionsHere are the sessions of the user of the commands. Which tokens were revoked a server knows; whether one of their
// sessions is over, too, it finds out when that is used.
type sessionsHere struct {
	all *session.Sessions
	at  place
}

// List implements [cli.Sessions].
func (h sessionsHere) List(ctx context.Context) ([]session.Session, error) {
	list, err := h.all.List(ctx, access.Default(), maxSessions, time.Now())
	for i := range list {
		list[i].Token = strings.TrimSpace("session " + list[i].Token)
	}
	return list, err
}

// End implements [cli.Sessions].
func (h sessionsHere) End(ctx context.Context, id string) error {
	err := h.all.End(ctx, access.Default(), id)
	if err == nil {
		h.at.record(ctx, audit.Delete, "session", id)
	}
	return err
}

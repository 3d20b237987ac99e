package app

import (
	"context"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/middleware/guardrail"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/tool"
)

// grantsOf are the grants that a run works with: those of its user, and of the thread on whose files it works.
func (e *engine) grantsOf(run store.Run, thread string) guardrail.Grants {
	u := access.FromRow(run.UserID)
	return runGrants{approval.NewGrants(e.store).For(u), u, thread, e.audit}
}

// runGrants tells the audit log of each use.
type runGrants struct {
	mine   *approval.Mine
	user   access.User
	thread string
	audit  *audit.Log
}

// Use implements [guardrail.Grants].
func (r runGrants) Use(ctx context.Context, call *tool.Call, now time.Time) (approval.Grant, bool, error) {
	g, found, err := r.mine.Use(ctx, r.thread, call.Name, call.Args, now)
	if found {
		by := access.Principal{User: r.user, Via: "grant " + g.ID + " of " + g.Via}
		r.audit.Record(ctx, audit.Of(by, audit.Approve, "call", r.thread+"/"+call.ID))
	}
	return g, found, err
}

// Approvals implements cli.App: here, through the server that holds the data folder, or at a server elsewhere.
func (a App) Approvals(ctx context.Context, o cli.Options, do func(cli.Approvals) error) error {
	p, err := a.settle(ctx, o)
	switch {
	case err != nil:
		return err
	case p.server != nil:
		return p.close(do(client.Approvals{Client: p.server}))
	}
	return p.close(do(approvalsHere{approval.NewGrants(p.store).For(access.Default()), p}))
}

// approvalsHere are the grants of the user of the commands.
type approvalsHere struct {
	*approval.Mine

	at place
}

// Revoke takes a grant back.
func (h approvalsHere) Revoke(ctx context.Context, id string) error {
	err := h.Mine.Revoke(ctx, id, time.Now())
	if err == nil {
		h.at.record(ctx, audit.Delete, "approval", id)
	}
	return err
}

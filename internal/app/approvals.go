package app

import (
	"context"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
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

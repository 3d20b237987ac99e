package approvals

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/tool"
)

// grantJSON is a grant as clients see it.
type grantJSON struct {
	ID        string  `json:"approval_id"`
	Tool      string  `json:"tool"`
	Pattern   string  `json:"pattern"`
	Exact     bool    `json:"exact"`
	Scope     string  `json:"scope"`
	ThreadID  *string `json:"thread_id"`
	GivenVia  string  `json:"given_via"`
	CreatedAt string  `json:"created_at"`
	UsedAt    *string `json:"used_at"`
	Uses      int64   `json:"uses"`
	RevokedAt *string `json:"revoked_at"`
}

func grantOf(g approval.Grant) grantJSON {
	out := grantJSON{
		ID: g.ID, Tool: g.Tool, Pattern: g.Pattern.Text, Exact: g.Pattern.Exact, Scope: string(g.Scope()),
		GivenVia: g.Via, CreatedAt: shape.Stamp(g.GivenAt), UsedAt: stamp(g.UsedAt), Uses: g.Uses,
		RevokedAt: stamp(g.RevokedAt),
	}
	if g.ThreadID != "" {
		out.ThreadID = &g.ThreadID
	}
	return out
}

// stamp is null for the zero time.
func stamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := shape.Stamp(t)
	return &text
}

type listIn struct {
	Revoked bool `query:"revoked" doc:"also those that were revoked"`
	Limit   int  `query:"limit" default:"100" min:"1" max:"1000"`
	Offset  int  `query:"offset"`
}

// list lists grants, the newest first.
func (g *Group) list(ctx context.Context, in *listIn) (route.Page[grantJSON], error) {
	list, err := g.mine(ctx).List(ctx, in.Revoked, in.Limit+1, in.Offset)
	out := make([]grantJSON, len(list))
	for i, grant := range list {
		out[i] = grantOf(grant)
	}
	return route.PageOf(out, in.Limit, in.Offset), err
}

type createIn struct {
	Tool    string `body:"tool" max:"64" required:""`
	Pattern string `body:"pattern" max:"2000" required:"" doc:"a command of bash, or the arguments of another tool; a * at the end stands for what may follow"`
	Exact   bool   `body:"exact" doc:"a * at the end is none"`
	Scope   string `body:"scope" enum:"always,thread" doc:"for how many calls; always is the default"`
	Thread  string `body:"thread_id" max:"64" doc:"the thread of the scope thread"`
}

// grant is what is asked for.
func (in *createIn) grant() (g approval.Grant, err error) {
	g = approval.Grant{Tool: in.Tool, Pattern: approval.Pattern{Text: in.Pattern, Exact: true}, ThreadID: in.Thread}
	if err = tool.CheckName(in.Tool); err == nil && !in.Exact {
		g.Pattern, err = approval.ParsePattern(in.Tool, in.Pattern)
	}
	if err == nil && (in.Scope == string(approval.Thread)) != (in.Thread != "") {
		err = errors.New(`the scope "thread" goes with a thread_id, and "always" without`)
	}
	if err != nil {
		err = route.Failf(http.StatusUnprocessableEntity, "The approval cannot be given: %v", err)
	}
	return g, err
}

// create gives a grant before anybody asks. One that says the same is the answer instead.
func (g *Group) create(ctx context.Context, in *createIn) (grantJSON, error) {
	grant, err := in.grant()
	if err != nil {
		return grantJSON{}, err
	}
	by := route.Caller(ctx)
	grant.GivenAt, grant.Via = g.Now(), by.Via
	grant.ID = id.New(grant.GivenAt)
	given, err := g.mine(ctx).Add(ctx, grant)
	if errors.Is(err, store.ErrNotFound) {
		err = route.NotFound("Thread", route.Clip(in.Thread))
	}
	if err == nil && given.ID == grant.ID {
		g.Audit.Record(ctx, audit.Of(by, audit.Grant, "approval", given.ID))
	}
	return grantOf(given), err
}

type oneIn struct {
	ID string `path:"approval_id"`
}

// revoke takes a grant back.
func (g *Group) revoke(ctx context.Context, in *oneIn) (route.Status, error) {
	err := g.mine(ctx).Revoke(ctx, in.ID, g.Now())
	if errors.Is(err, store.ErrNotFound) {
		err = route.NotFound("Approval", route.Clip(in.ID))
	}
	return http.StatusNoContent, err
}

package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/approval"
)

// Approvals are what the user has approved of calls to come, at a server.
type Approvals struct{ *Client }

// approvalJSON is one as the server sends it.
type approvalJSON struct {
	ID        string     `json:"approval_id"`
	Tool      string     `json:"tool"`
	Pattern   string     `json:"pattern"`
	Exact     bool       `json:"exact"`
	ThreadID  string     `json:"thread_id"`
	Via       string     `json:"given_via"`
	CreatedAt time.Time  `json:"created_at"`
	UsedAt    *time.Time `json:"used_at"`
	Uses      int64      `json:"uses"`
	RevokedAt *time.Time `json:"revoked_at"`
}

// List returns grants, the newest first.
func (c Approvals) List(ctx context.Context, revoked bool, limit, offset int) ([]approval.Grant, error) {
	var list []approvalJSON
	err := c.get(ctx, fmt.Sprintf("/approvals?revoked=%t&limit=%d&offset=%d", revoked, limit, offset), &list)
	out := make([]approval.Grant, len(list))
	for i, g := range list {
		out[i] = approval.Grant{
			ID: g.ID, Tool: g.Tool, Pattern: approval.Pattern{Text: g.Pattern, Exact: g.Exact}, ThreadID: g.ThreadID,
			Via: g.Via, GivenAt: g.CreatedAt, UsedAt: orZero(g.UsedAt), Uses: g.Uses, RevokedAt: orZero(g.RevokedAt),
		}
	}
	return out, err
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// Revoke takes a grant back.
func (c Approvals) Revoke(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, "/approvals/"+url.PathEscape(id), nil, nil, nil)
}

package operations

import (
	"context"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/gateway/route"
)

// since is a time of RFC 3339.
type since struct{ time.Time }

// ReadFrom implements [route.Reader].
func (s *since) ReadFrom(in *route.Input, name string) {
	var err error
	if text := in.Str(name); text != "" {
		s.Time, err = time.Parse(time.RFC3339, text)
	}
	if err != nil {
		in.Add("datetime_parsing", "Input should be a time such as 2026-03-14T15:09:26Z", route.Quoted(in.Raw(name)),
			in.Loc(name)...)
	}
}

type auditIn struct {
	User   string `query:"user" max:"256"`
	Since  since  `query:"since"`
	Limit  int    `query:"limit" default:"100" min:"1" max:"1000"`
	Offset int    `query:"offset" max:"1073741824"`
}

// who lists the rows of the audit log.
func (g *Group) who(ctx context.Context, in *auditIn) (route.Page[audit.Entry], error) {
	f := audit.Filter{User: in.User, Since: in.Since.Time, Limit: in.Limit + 1, Offset: in.Offset}
	list, err := g.Audit.List(ctx, f)
	return route.PageOf(list, in.Limit, in.Offset), err
}

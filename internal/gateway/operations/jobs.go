package operations

import (
	"context"
	"net/http"

	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/job"
)

type jobsIn struct {
	Kind  string `query:"kind" max:"256"`
	User  string `query:"user" max:"256"`
	Limit int    `query:"limit" default:"1000" min:"1" max:"1000"`
}

// waiting lists jobs.
func (g *Group) waiting(ctx context.Context, in *jobsIn) ([]job.Entry, error) {
	list, err := g.Jobs.List(ctx, job.Filter{Kind: in.Kind, User: in.User, Limit: in.Limit})
	if list == nil {
		list = []job.Entry{}
	}
	return list, err
}

type jobIn struct {
	Kind string `path:"kind"`
	Key  string `path:"key"`
	User string `query:"user" max:"256"`
}

type jobsJSON struct {
	Jobs int64 `json:"jobs"`
}

func (g *Group) retry(ctx context.Context, in *jobIn) (jobsJSON, error) {
	n, err := g.Jobs.Retry(ctx, in.Kind, in.Key, in.User)
	return changed(n, err, "Job not found, or it runs")
}

func (g *Group) drop(ctx context.Context, in *jobIn) (jobsJSON, error) {
	n, err := g.Jobs.Drop(ctx, in.Kind, in.Key, in.User)
	return changed(n, err, "Job not found")
}

func changed(n int64, err error, missing string) (jobsJSON, error) {
	if err == nil && n == 0 {
		err = &route.Error{Status: http.StatusNotFound, Detail: missing}
	}
	return jobsJSON{n}, err
}

package client

import (
	"context"
	"errors"
	"net/url"
	"strconv"

	"github.com/pudu-ai/pudu/internal/feature/calls"
	"github.com/pudu-ai/pudu/internal/store"
)

// Calls are what models were sent in the user's runs at a server.
type Calls struct{ *Client }

// Find is the run with an id, or the last one of the thread with it.
func (c Calls) Find(ctx context.Context, id string) (thread, run string, err error) {
	var r runJSON
	if err = c.get(ctx, "/runs/"+url.PathEscape(id), &r); !errors.Is(err, store.ErrNotFound) {
		return r.ThreadID, r.RunID, err
	}
	list, err := c.ListRuns(ctx, store.RunFilter{ThreadID: id, Limit: 1})
	if err == nil && len(list) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return "", "", err
	}
	return id, list[0].ID, nil
}

// Timeline is a page of what happened in a run.
func (c Calls) Timeline(ctx context.Context, thread, run, after string, limit int) (t calls.Timeline, err error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if after != "" {
		query.Set("after", after)
	}
	err = c.get(ctx, threadPath(thread)+"/runs/"+url.PathEscape(run)+"/timeline?"+query.Encode(), &t)
	return t, err
}

// Call is one call of a model in a run.
func (c Calls) Call(ctx context.Context, thread, run string, n int) (out calls.Call, err error) {
	err = c.get(ctx, threadPath(thread)+"/runs/"+url.PathEscape(run)+"/calls/"+strconv.Itoa(n), &out)
	return out, err
}

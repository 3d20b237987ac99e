package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	"github.com/pudu-ai/pudu/internal/store"
)

// FileHistory is the history of the files of the user's threads at a server.
type FileHistory struct{ *Client }

// Runs are the ids of a thread's runs, the newest first.
func (c FileHistory) Runs(ctx context.Context, thread string, limit int) ([]string, error) {
	list, err := c.ListRuns(ctx, store.RunFilter{ThreadID: thread, Limit: limit})
	ids := make([]string, len(list))
	for i, r := range list {
		ids[i] = r.ID
	}
	return ids, err
}

func changesPath(thread, run string) string {
	return threadPath(thread) + "/runs/" + url.PathEscape(run) + "/workspace-changes"
}

// Changes tells what a run has changed.
func (c FileHistory) Changes(ctx context.Context, thread, run string) (r filehistory.Report, err error) {
	err = c.get(ctx, changesPath(thread, run), &r)
	return r, err
}

// Undo takes back what a run has changed.
func (c FileHistory) Undo(ctx context.Context, thread string, u filehistory.Undo) (out filehistory.Undone, err error) {
	in := struct {
		Paths []string `json:"paths"`
		Force bool     `json:"force"`
		Dry   bool     `json:"dry_run"`
	}{append([]string{}, u.Paths...), u.Force, u.Dry}
	err = c.call(ctx, http.MethodPost, changesPath(thread, u.Run)+"/undo", nil, in, &out)
	return out, err
}

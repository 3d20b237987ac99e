package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/lib/inert"
)

// What the socket of a data folder, and nothing else, takes.
const (
	ReloadPath = "/pudu/reload" // the word to read the configuration again
	AuditPath  = "/pudu/audit"  // what the command line has done
	UserPath   = "/pudu/users/" // and the user who is to be removed
)

// Reloaded is the answer to a reload.
type Reloaded struct {
	Notes   []string `json:"notes"`   // warnings about the configuration
	Restart []string `json:"restart"` // what has changed and counts at the next start only
}

// Reload has the server read its configuration again.
func (c *Client) Reload(ctx context.Context) (notes, restart []string, err error) {
	var r Reloaded
	err = c.call(ctx, http.MethodPost, ReloadPath, nil, nil, &r)
	for _, list := range [][]string{r.Notes, r.Restart} {
		for i := range list {
			list[i] = inert.Line(list[i])
		}
	}
	return r.Notes, r.Restart, err
}

// Done is something that the command line has done, for the audit log.
type Done struct {
	Verb   string `json:"verb"`
	Kind   string `json:"kind"`
	Object string `json:"object"`
}

// Record has the audit log tell what the command line has done.
func (c *Client) Record(ctx context.Context, verb, kind, object string) error {
	return c.call(ctx, http.MethodPost, AuditPath, nil, Done{verb, kind, object}, nil)
}

// Deleted counts what a removed user had.
type Deleted struct {
	Threads int64 `json:"threads"`
	Rows    int64 `json:"rows"`
}

// DeleteUser removes a user with all that is his.
func (c *Client) DeleteUser(ctx context.Context, user string) (threads, rows int64, err error) {
	var d Deleted
	err = c.call(ctx, http.MethodDelete, UserPath+url.PathEscape(user), nil, nil, &d)
	return d.Threads, d.Rows, err
}

// Jobs are those of all users.
func (c *Client) Jobs() Jobs { return Jobs{c} }

// Jobs are a server's jobs.
type Jobs struct{ c *Client }

// List returns jobs.
func (j Jobs) List(ctx context.Context, f job.Filter) (list []job.Entry, err error) {
	q := url.Values{"kind": {f.Kind}, "user": {f.User}}
	err = j.c.get(ctx, "/jobs?"+q.Encode(), &list)
	return list, err
}

// Retry has a job done at once.
func (j Jobs) Retry(ctx context.Context, kind, key, user string) (int64, error) {
	return j.change(ctx, http.MethodPost, kind, key, "/retry", user)
}

// Drop removes a job.
func (j Jobs) Drop(ctx context.Context, kind, key, user string) (int64, error) {
	return j.change(ctx, http.MethodDelete, kind, key, "", user)
}

func (j Jobs) change(ctx context.Context, method, kind, key, rest, user string) (int64, error) {
	path := "/jobs/" + url.PathEscape(kind) + "/" + url.PathEscape(key) + rest + "?" +
		url.Values{"user": {user}}.Encode()
	var n struct {
		Jobs int64 `json:"jobs"`
	}
	err := j.c.call(ctx, method, path, nil, nil, &n)
	return n.Jobs, err
}

// Audit returns rows of the audit log.
func (c *Client) Audit(ctx context.Context, f audit.Filter) ([]audit.Entry, error) {
	q := url.Values{"user": {f.User}, "limit": {strconv.Itoa(f.Limit)}, "offset": {strconv.Itoa(f.Offset)}}
	if !f.Since.IsZero() {
		q.Set("since", f.Since.Format(time.RFC3339Nano))
	}
	var list []audit.Entry
	return list, c.get(ctx, "/audit?"+q.Encode(), &list)
}

// Package filehistory is the group of routes of what was changed in a thread's files: by which run, how, and back
// again.
//
//	gateway -> filehistory -> the history of the caller's thread -> a list of changes, an undo, versions
package filehistory

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// Group are the routes, with what they work with. Every field is required.
type Group struct {
	*route.Env

	// History is that of a user's thread.
	History filehistory.Find
}

const (
	readRuns = "runs:read"
	read     = "files:read"
	write    = "files:write"
)

// Routes are those of changes and versions. A change is named by its run, or by the undo; that one of the id is known
// is not needed.
func (g *Group) Routes() []route.Route {
	const changes, versions = "/threads/{thread_id}/runs/{change_id}/workspace-changes",
		"/threads/{thread_id}/file-versions"
	return route.Under("file history",
		route.Get(changes, "List what a run has changed in the workspace and the outputs", g.changes).
			Access(access.Viewer, readRuns).Of(route.Thread).Rate(route.Costly).Body(route.None),
		route.Post(changes+"/undo", "Take back what a run has changed in the thread's files", g.undo).
			Access(access.Regular, write).Of(route.Thread).Rate(route.Costly).Body(route.Maybe).
			Audits(audit.Change, "files"),
		route.Get(versions, "List the versions of a file", g.versions).
			Access(access.Viewer, read).Of(route.Thread).Rate(route.Costly).Body(route.None),
		route.Get("/threads/{thread_id}/state/{checkpoint_id}/files",
			"List the files as they were at a checkpoint, each with its version", g.then).
			Access(access.Viewer, read).Of(route.Thread).Rate(route.Costly).Body(route.None),
		route.Get(versions+"/{version}/diff", "Compare a version of a file with an earlier one", g.diff).
			Access(access.Viewer, read).Of(route.Thread).Rate(route.Costly).Body(route.None),
	)
}

// past is the history of a thread of the caller's.
func (g *Group) past(ctx context.Context, thread string) (*filehistory.Thread, error) {
	return g.History(ctx, route.Caller(ctx).User, thread)
}

type changesIn struct {
	Thread store.Thread `of:"thread"`
	Run    string       `path:"change_id"`
	Files  bool         `query:"include_files" default:"true"`
	Diffs  bool         `query:"include_diff" default:"true"`
}

// changes lists what a run has changed. A run that nothing is known of has changed nothing.
func (g *Group) changes(ctx context.Context, in *changesIn) (out filehistory.Report, err error) {
	past, err := g.past(ctx, in.Thread.ID)
	if err != nil {
		return out, err
	}
	list, err := past.Changes(ctx, in.Run)
	return list.Report(in.Files, in.Diffs), err
}

type undoIn struct {
	Thread store.Thread `of:"thread"`
	Run    string       `path:"change_id"`
	Paths  []string     `body:"paths" max:"1000"`
	Force  bool         `body:"force"`
	Dry    bool         `body:"dry_run"`
}

// undo takes changes back. One that is not done, because of what was changed again since, says so.
func (g *Group) undo(ctx context.Context, in *undoIn) (out filehistory.Undone, err error) {
	past, err := g.past(ctx, in.Thread.ID)
	if err != nil {
		return out, err
	}
	out, err = past.Undo(ctx, filehistory.Undo{
		Run: in.Run, Paths: in.Paths, Force: in.Force, Dry: in.Dry, ID: id.New(time.Now()),
		Idle: func(ctx context.Context) error { return g.idle(ctx, in.Thread.ID) },
	})
	return out, pathError(err)
}

// idle refuses while a run of the thread is at work: it would find its files changed.
func (g *Group) idle(ctx context.Context, thread string) error {
	list, err := g.Mine(ctx).
		ListRuns(ctx, store.RunFilter{ThreadID: thread, Statuses: []string{event.StatusPending, event.StatusRunning},
			Limit: 1})
	if err == nil && len(list) > 0 {
		err = route.Failf(http.StatusConflict, "Thread has a run in flight. Undo after the run finishes.")
	}
	return err
}

// pathError is the answer to a path, or a version of it, that cannot be.
func pathError(err error) error {
	switch {
	case errors.Is(err, sandbox.ErrOutside), errors.Is(err, sandbox.ErrInvalidPath):
		return route.Failf(http.StatusUnprocessableEntity, "%s", route.Clip(err.Error()))
	case errors.Is(err, fs.ErrNotExist):
		return route.Failf(http.StatusNotFound, "The file has no such version")
	}
	return err
}

// versionJSON is a version of a file as clients see it.
type versionJSON struct {
	Version int64  `json:"version"`
	At      string `json:"created_at,omitempty"`
	// By is who has made it; empty is nobody who is known.
	filehistory.Origin

	Removed bool    `json:"removed"`
	Size    int64   `json:"size"`
	Sum     string  `json:"sha256"`
	Mode    string  `json:"mode"`
	Target  *string `json:"symlink_target"`
	Kept    bool    `json:"available"`
	Current bool    `json:"current"`
}

func versionOf(v filehistory.Version) versionJSON {
	e := v.Entry
	out := versionJSON{
		Version: v.Number, Origin: v.Origin, Removed: e.Kind == 0, Size: e.Size, Sum: e.Sum, Mode: e.Mode.String(),
		Kept: v.Kept, Current: v.Current,
	}
	if !v.At.IsZero() {
		out.At = shape.Stamp(v.At)
	}
	if e.Kind == filehistory.Link {
		out.Target = &e.Target
	}
	return out
}

type versionsIn struct {
	Thread store.Thread `of:"thread"`
	Path   string       `query:"path" max:"4096"`
}

type versionsJSON struct {
	Path     string        `json:"path"`
	Versions []versionJSON `json:"versions"`
}

// versions lists what a file was, the newest first.
func (g *Group) versions(ctx context.Context, in *versionsIn) (out versionsJSON, err error) {
	past, err := g.past(ctx, in.Thread.ID)
	if err != nil {
		return out, err
	}
	list, err := past.Versions(ctx, in.Path)
	out = versionsJSON{in.Path, make([]versionJSON, len(list))}
	for i, v := range list {
		out.Versions[i] = versionOf(v)
	}
	return out, pathError(err)
}

type thenIn struct {
	Thread     store.Thread `of:"thread"`
	Checkpoint string       `path:"checkpoint_id"`
}

// thenJSON is a file as it was.
type thenJSON struct {
	Path string `json:"path"`
	versionJSON
}

type filesThenJSON struct {
	Checkpoint string     `json:"checkpoint_id"`
	At         string     `json:"created_at"`
	Files      []thenJSON `json:"files"`
	// More says that there were more.
	More bool `json:"more"`
}

// then lists the files as they were when a checkpoint was written.
func (g *Group) then(ctx context.Context, in *thenIn) (out filesThenJSON, err error) {
	if !shape.IsCheckpoint(in.Checkpoint) || in.Checkpoint == store.Origin {
		return out, shape.NoCheckpoint(in.Checkpoint)
	}
	at, err := g.Mine(ctx).Checkpoints(ctx, in.Thread.ID, in.Checkpoint+"~", 1) // the last one that is not behind it
	if err == nil && (len(at) == 0 || at[0].ID != in.Checkpoint) {
		err = shape.NoCheckpoint(in.Checkpoint)
	}
	if err != nil {
		return out, err
	}
	cp := at[0]
	past, err := g.past(ctx, in.Thread.ID)
	if err != nil {
		return out, err
	}
	list, more, err := past.Then(ctx, cp.CreatedAt)
	out = filesThenJSON{Checkpoint: cp.ID, At: shape.Stamp(cp.CreatedAt), Files: make([]thenJSON, len(list)),
		More: more}
	for i, v := range list {
		out.Files[i] = thenJSON{v.Entry.Virtual(), versionOf(v)}
	}
	return out, err
}

type diffIn struct {
	Thread store.Thread `of:"thread"`
	Number string       `path:"version"`
	Path   string       `query:"path" max:"4096"`
	From   int          `query:"from" max:"1073741824"`
}

// diff compares a version with an earlier one.
func (g *Group) diff(ctx context.Context, in *diffIn) (out filehistory.FileLine, err error) {
	past, err := g.past(ctx, in.Thread.ID)
	if err != nil {
		return out, err
	}
	change, err := past.Compare(ctx, in.Path, int64(in.From), filehistory.Number(in.Number))
	if err != nil {
		return out, pathError(err)
	}
	return change.Line(), nil
}

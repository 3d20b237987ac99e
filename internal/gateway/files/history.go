package files

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path"

	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// note has the history of the thread's files tell what a person has done. What keeps it from that is logged: the work
// is done.
func (g *Group) note(ctx context.Context, threadID, by string, paths ...string) {
	past, err := g.History(ctx, route.Caller(ctx).User, threadID)
	if err == nil {
		err = past.Note(context.WithoutCancel(ctx), by, paths...)
	}
	if err != nil {
		g.Log.WarnContext(ctx, "a change of files cannot be noted", "thread", threadID, "by", by, "error", err)
	}
}

type versionIn struct {
	Thread   store.Thread `of:"thread"`
	Number   string       `path:"version"`
	Path     string       `query:"path" max:"4096"`
	Download bool         `query:"download"`
}

// getVersion sends what a file was.
func (g *Group) getVersion(w http.ResponseWriter, r *http.Request, in *versionIn) error {
	past, err := g.History(r.Context(), route.Caller(r.Context()).User, in.Thread.ID)
	if err != nil {
		return err
	}
	v, data, err := past.Version(r.Context(), in.Path, filehistory.Number(in.Number))
	switch {
	case errors.Is(err, sandbox.ErrOutside), errors.Is(err, sandbox.ErrInvalidPath):
		return route.Failf(http.StatusUnprocessableEntity, "%s", route.Clip(err.Error()))
	case errors.Is(err, filehistory.ErrNotKept):
		return route.Failf(http.StatusGone, "No copy of this version was kept")
	case errors.Is(err, fs.ErrNotExist):
		return route.Failf(http.StatusNotFound, "The file has no such version")
	case err != nil:
		return err
	}
	defer data.Close()
	return g.serve(w, r, content{name: path.Base(in.Path), size: v.Entry.Size, data: data}, in.Download)
}

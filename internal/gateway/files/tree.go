package files

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/threadfiles"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

type treeIn struct {
	Thread store.Thread `of:"thread"`
	Path   string       `query:"path"`
	Limit  int          `query:"limit" default:"1000" min:"1" max:"10001"`
	Offset int          `query:"offset" max:"100000"`
}

// tree lists the files of a thread, or of one of its folders.
func (g *Group) tree(ctx context.Context, in *treeIn) (out route.Page[threadfiles.Entry], err error) {
	files, err := g.open(ctx, in.Thread.ID)
	if err != nil {
		return out, err
	}
	defer files.Close()
	list, more, err := threadfiles.Tree(ctx, files, sandbox.UserData, in.Path, in.Limit, in.Offset)
	if err != nil {
		return out, artifactError(err, in.Path)
	}
	err = threadfiles.Fill(ctx, g.Makers, route.Caller(ctx).User, in.Thread.ID, list)
	return route.Page[threadfiles.Entry]{Entries: list, Offset: in.Offset, More: more}, err
}

type zipIn struct {
	Thread store.Thread `of:"thread"`
	Paths  []string     `query:"path" max:"1000"`
}

// zip sends some files of a thread, or all, as they are read. Once it has begun, the cut connection says that it is not
// whole.
func (g *Group) zip(w http.ResponseWriter, r *http.Request, in *zipIn) error {
	files, err := g.open(r.Context(), in.Thread.ID)
	if err != nil {
		return err
	}
	defer files.Close()
	return g.sendZip(w, r, zipped{files, sandbox.UserData, in.Paths, zipName(in), "thread " + in.Thread.ID})
}

// zipped says what is sent as a ZIP: what is at the paths in the root, under a name. of is for the log.
type zipped struct {
	files    *sandbox.Files
	root     string
	paths    []string
	name, of string
}

func (g *Group) sendZip(w http.ResponseWriter, r *http.Request, z zipped) error {
	archive, err := threadfiles.Choose(r.Context(), z.files, z.root, z.paths)
	switch {
	case errors.Is(err, threadfiles.ErrTooMany), errors.Is(err, threadfiles.ErrTooLarge):
		return route.Failf(http.StatusRequestEntityTooLarge, "The archive would have %v", err)
	case err != nil:
		return artifactError(err, route.Clip(strings.Join(z.paths, ", ")))
	}
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", "attachment; filename*=UTF-8''"+route.Percent(z.name))
	h.Set("Cache-Control", "private, no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Method == http.MethodHead {
		return nil // it would be made for nobody
	}
	if err := archive.Write(r.Context(), g.SteadyWriter(w)); err != nil {
		g.Log.WarnContext(r.Context(), "a download broke off", "of", z.of, "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

// zipName is what a browser saves it as: the one thing that is in it, else the title of the thread.
func zipName(in *zipIn) string {
	name := in.Thread.Title
	if len(in.Paths) == 1 {
		name = in.Paths[0][strings.LastIndexByte(in.Paths[0], '/')+1:]
	}
	return threadfiles.FileName(name, in.Thread.ID) + ".zip"
}

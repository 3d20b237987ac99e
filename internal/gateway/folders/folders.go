package folders

import (
	"context"
	"errors"
	"net/http"

	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/store"
)

// folderJSON is a folder as clients see it.
type folderJSON struct {
	FolderID     string   `json:"folder_id"`
	Name         string   `json:"name"`
	Colour       string   `json:"colour"`
	Instructions string   `json:"instructions"`
	CreatedAt    string   `json:"created_at"`
	UpdatedAt    string   `json:"updated_at"`
	ThreadCount  int      `json:"thread_count"`        // of those that are in lists
	ThreadIDs    []string `json:"thread_ids,omitzero"` // not in a list
}

func folderOf(f folders.Folder) folderJSON {
	return folderJSON{f.ID, f.Name, f.Colour, f.Instructions, shape.Stamp(f.CreatedAt), shape.Stamp(f.UpdatedAt),
		f.Count, f.Threads}
}

// tell says to the user's pages that the folders are others than before, unless something went wrong.
func (g *Group) tell(ctx context.Context, err error) {
	if err == nil {
		g.News.For(route.Caller(ctx).User).Notice("folders")
	}
}

// text is a member that need not be there.
type text struct{ value *string }

// ReadFrom implements [route.Reader].
func (t *text) ReadFrom(in *route.Input, name string) {
	if in.Raw(name) == nil {
		return
	}
	s := in.Text(name, folders.MaxInstructions)
	t.value = &s
	p := map[string]folders.Patch{"name": {Name: &s}, "colour": {Colour: &s}, "instructions": {Instructions: &s}}[name]
	if err := p.Check(); err != nil {
		in.Add("value_error", "Value error, "+err.Error(), route.Quoted(in.Raw(name)), in.Loc(name)...)
	}
}

func (t text) or(def string) string {
	if t.value == nil {
		return def
	}
	return *t.value
}

// changeIn is what a client sets of a folder.
type changeIn struct {
	Colour       text `body:"colour"`
	Instructions text `body:"instructions"`
}

type createIn struct {
	Name string `body:"name" max:"200" required:""`
	changeIn
}

// create makes a folder.
func (g *Group) create(ctx context.Context, in *createIn) (folderJSON, error) {
	now := g.Now()
	f := folders.Folder{
		ID: id.New(now), Name: in.Name, Colour: in.Colour.or(""), Instructions: in.Instructions.or(""), CreatedAt: now,
		UpdatedAt: now, Threads: []string{},
	}
	err := g.mine(ctx).Create(ctx, f)
	g.tell(ctx, err)
	return folderOf(f), err
}

type listIn struct {
	Limit  int `query:"limit" default:"100" min:"1" max:"1000"`
	Offset int `query:"offset"`
}

// list lists folders by name, without their threads.
func (g *Group) list(ctx context.Context, in *listIn) (route.Page[folderJSON], error) {
	list, err := g.mine(ctx).List(ctx, in.Limit+1, in.Offset)
	out := make([]folderJSON, len(list))
	for i, f := range list {
		out[i] = folderOf(f)
	}
	return route.PageOf(out, in.Limit, in.Offset), err
}

type oneIn struct {
	Folder string `path:"folder_id"`
}

// missing says that the folder is not there.
func missing(err error, folder string) error {
	if errors.Is(err, store.ErrNotFound) {
		return route.NotFound("Folder", route.Clip(folder))
	}
	return err
}

// shown is a folder as it is now, unless something went wrong before.
func (g *Group) shown(ctx context.Context, folder string, err error) (folderJSON, error) {
	var f folders.Folder
	if err == nil {
		f, err = g.mine(ctx).Folder(ctx, folder)
	}
	return folderOf(f), missing(err, folder)
}

// get shows a folder with its threads.
func (g *Group) get(ctx context.Context, in *oneIn) (folderJSON, error) {
	return g.shown(ctx, in.Folder, nil)
}

type patchIn struct {
	oneIn

	Name text `body:"name"`
	changeIn
}

// patch changes a folder.
func (g *Group) patch(ctx context.Context, in *patchIn) (folderJSON, error) {
	p := folders.Patch{Name: in.Name.value, Colour: in.Colour.value, Instructions: in.Instructions.value}
	err := g.mine(ctx).Update(ctx, in.Folder, p, g.Now())
	g.tell(ctx, err)
	return g.shown(ctx, in.Folder, err)
}

// remove removes a folder with its files. Its threads stay.
func (g *Group) remove(ctx context.Context, in *oneIn) (route.Status, error) {
	err := g.Delete(ctx, route.Caller(ctx).User, in.Folder)
	g.tell(ctx, err)
	return http.StatusNoContent, missing(err, in.Folder)
}

type threadIn struct {
	oneIn

	Thread store.Thread `of:"thread"`
}

// put puts a thread into a folder; it leaves the one that it was in.
func (g *Group) put(ctx context.Context, in *threadIn) (folderJSON, error) {
	return g.moved(ctx, in, g.mine(ctx).Put(ctx, in.Folder, in.Thread.ID, g.Now()))
}

// take takes a thread out of a folder; one that is not in it is a 404.
func (g *Group) take(ctx context.Context, in *threadIn) (folderJSON, error) {
	return g.moved(ctx, in, g.mine(ctx).Remove(ctx, in.Folder, in.Thread.ID))
}

// moved is the folder that a thread was put into or taken out of. The news tell of the thread, wherever somebody
// listens.
func (g *Group) moved(ctx context.Context, in *threadIn, err error) (folderJSON, error) {
	g.tell(ctx, err)
	if err == nil {
		err = g.News.For(route.Caller(ctx).User).Touch(ctx, in.Thread.ID, g.Now())
	}
	return g.shown(ctx, in.Folder, err)
}

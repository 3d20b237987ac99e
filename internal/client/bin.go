package client

import (
	"context"
	"fmt"
	"net/http"

	"github.com/pudu-ai/pudu/internal/feature/bin"
	"github.com/pudu-ai/pudu/internal/store"
)

// Bin is the bin and the marks of the user's threads at a server.
type Bin struct{ *Client }

func (c Bin) thread(ctx context.Context, method, path string, in any) (store.Thread, error) {
	var t threadJSON
	err := c.call(ctx, method, path, nil, in, &t)
	return t.thread(), err
}

// Trash puts a thread into the bin.
func (c Bin) Trash(ctx context.Context, id string) (store.Thread, error) {
	return c.thread(ctx, http.MethodPost, threadPath(id)+"/trash", nil)
}

// Restore takes a thread out of the bin.
func (c Bin) Restore(ctx context.Context, id string) (store.Thread, error) {
	return c.thread(ctx, http.MethodPost, threadPath(id)+"/restore", nil)
}

// List lists threads that stand in no other list.
func (c Bin) List(ctx context.Context, of store.Shelf, limit, offset int) (out []store.Thread, err error) {
	if of != store.InBin {
		return c.search(ctx, searchJSON{Limit: limit, Offset: offset, Archived: of == store.InArchive})
	}
	var list []threadJSON
	err = c.get(ctx, fmt.Sprintf("/trash?limit=%d&offset=%d", limit, offset), &list)
	for _, t := range list {
		out = append(out, t.thread())
	}
	return out, err
}

// Empty empties the bin.
func (c Bin) Empty(ctx context.Context) (int, error) {
	var gone struct {
		Deleted int `json:"deleted"`
	}
	err := c.call(ctx, http.MethodDelete, "/trash", nil, nil, &gone)
	return gone.Deleted, err
}

type marksJSON struct {
	Archived  *bool   `json:"archived,omitempty"`
	Temporary *bool   `json:"temporary,omitempty"`
	Pinned    *bool   `json:"pinned,omitempty"`
	Title     *string `json:"title,omitempty"`
}

// Mark changes the marks of a thread.
func (c Bin) Mark(ctx context.Context, id string, to bin.Marks) (store.Thread, error) {
	return c.thread(ctx, http.MethodPatch, threadPath(id)+"/marks",
		marksJSON{to.Archived, to.Temporary, to.Pinned, nil})
}

// Rename gives a thread a title.
func (c Bin) Rename(ctx context.Context, id, title string) error {
	_, err := c.thread(ctx, http.MethodPatch, threadPath(id)+"/marks", marksJSON{Title: &title})
	return err
}

package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/pudu-ai/pudu/internal/feature/folders"
)

// Folders are the folders of the user at a server.
type Folders struct{ *Client }

// folderJSON is a folder as the server sends and takes it.
type folderJSON struct {
	ID           string `json:"folder_id,omitempty"`
	Name         string `json:"name"`
	Colour       string `json:"colour"`
	Instructions string `json:"instructions"`
}

// List returns folders by name.
func (c Folders) List(ctx context.Context, limit, offset int) ([]folders.Folder, error) {
	var list []folderJSON
	err := c.get(ctx, fmt.Sprintf("/folders?limit=%d&offset=%d", limit, offset), &list)
	out := make([]folders.Folder, len(list))
	for i, f := range list {
		out[i] = folders.Folder{ID: f.ID, Name: f.Name, Colour: f.Colour, Instructions: f.Instructions}
	}
	return out, err
}

// Add makes a folder and returns its id.
func (c Folders) Add(ctx context.Context, f folders.Folder) (string, error) {
	var made folderJSON
	err := c.call(ctx, http.MethodPost, "/folders", nil, folderJSON{"", f.Name, f.Colour, f.Instructions}, &made)
	return made.ID, err
}

// Delete removes a folder.
func (c Folders) Delete(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, "/folders/"+url.PathEscape(id), nil, nil, nil)
}

// Put puts a thread into a folder; it leaves the one that it was in.
func (c Folders) Put(ctx context.Context, id, thread string) error {
	return c.call(ctx, http.MethodPut, threadIn(id, thread), nil, nil, nil)
}

// Remove takes a thread out of a folder.
func (c Folders) Remove(ctx context.Context, id, thread string) error {
	return c.call(ctx, http.MethodDelete, threadIn(id, thread), nil, nil, nil)
}

func threadIn(id, thread string) string {
	return "/folders/" + url.PathEscape(id) + "/threads/" + url.PathEscape(thread)
}

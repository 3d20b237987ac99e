package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/threadfiles"
	"github.com/pudu-ai/pudu/internal/store"
)

func filesOf(folder string) string { return "/folders/" + url.PathEscape(folder) + "/files" }

// pathIn is a path as a part of a URL.
func pathIn(name string) string {
	segments := strings.Split(strings.TrimPrefix(name, "/"), "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return strings.Join(segments, "/")
}

// Files lists the files of a folder.
func (c Folders) Files(ctx context.Context, folder string, limit int) ([]threadfiles.Entry, bool, error) {
	var list []threadfiles.Entry
	if err := c.get(ctx, filesOf(folder)+"?limit="+strconv.Itoa(limit+1), &list); err != nil {
		return nil, false, err
	}
	return list[:min(limit, len(list))], len(list) > limit, nil
}

// AddFile puts a file into a folder.
func (c Folders) AddFile(ctx context.Context, folder, into, name string, content io.Reader, size int64) error {
	return c.sendFile(ctx, filesOf(folder)+"?"+url.Values{"replace": {"true"}, "path": {into}}.Encode(), name, content,
		size)
}

// ReadFile writes a file of a folder.
func (c Folders) ReadFile(ctx context.Context, folder, name string, w io.Writer) error {
	return c.noFile(ctx, folder, name, c.download(ctx, filesOf(folder)+"/"+pathIn(name), w))
}

// RemoveFile removes a file of a folder.
func (c Folders) RemoveFile(ctx context.Context, folder, name string) error {
	return c.noFile(ctx, folder, name, c.call(ctx, http.MethodDelete, filesOf(folder)+"/"+pathIn(name), nil, nil, nil))
}

// noFile tells a file that is not there from a folder that is not.
func (c Folders) noFile(ctx context.Context, folder, name string, err error) error {
	if !errors.Is(err, store.ErrNotFound) || c.get(ctx, "/folders/"+url.PathEscape(folder), nil) != nil {
		return err
	}
	return fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

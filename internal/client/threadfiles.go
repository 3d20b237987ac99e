package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/pudu-ai/pudu/internal/feature/threadfiles"
	"github.com/pudu-ai/pudu/internal/feature/transcript"
)

// Tree lists the files of a thread below a path.
func (c *Client) Tree(ctx context.Context, thread, path string, limit, offset int) ([]threadfiles.Entry, bool, error) {
	var list []threadfiles.Entry
	query := url.Values{"path": {path}, "limit": {strconv.Itoa(limit + 1)}, "offset": {strconv.Itoa(offset)}}
	if err := c.get(ctx, threadPath(thread)+"/files?"+query.Encode(), &list); err != nil {
		return nil, false, err
	}
	more := len(list) > limit
	return list[:min(limit, len(list))], more, nil
}

// Zip writes a ZIP of the files and folders at the paths, or of all.
func (c *Client) Zip(ctx context.Context, thread string, paths []string, w io.Writer) error {
	return c.download(ctx, threadPath(thread)+"/files.zip?"+url.Values{"path": paths}.Encode(), w)
}

// Transcript writes the conversation of a thread in a format.
func (c *Client) Transcript(ctx context.Context, thread string, f transcript.Format, w io.Writer) error {
	return c.download(ctx, threadPath(thread)+"/export?"+url.Values{"format": {string(f)}}.Encode(), w)
}

// download writes what the server sends.
func (c *Client) download(ctx context.Context, path string, w io.Writer) error {
	req, err := c.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	res, err := c.send(c.http, req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err = io.Copy(w, res.Body); errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%s broke off; what was written is not whole: %w", c.name, err)
	}
	return err
}

package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// slowest is the rate, in bytes a second, that an upload must keep to.
const slowest = 16 << 10

// upload puts a file into the thread's uploads. One of the same name is replaced.
func (c *Client) upload(ctx context.Context, threadID, name string, content []byte) error {
	return c.sendFile(ctx, threadPath(threadID)+"/uploads?replace=true", name, bytes.NewReader(content),
		int64(len(content)))
}

// sendFile uploads a file of a size to a path.
func (c *Client) sendFile(ctx context.Context, path, name string, content io.Reader, size int64) error {
	var done struct {
		Files []struct {
			Filename string `json:"filename"`
		} `json:"files"`
	}
	if err := c.sendForm(ctx, path, name, content, size, &done); err != nil {
		return err
	}
	if len(done.Files) != 1 || done.Files[0].Filename != name {
		return fmt.Errorf("upload %q: %w: %s takes no file of this name; give it another one", name, errRefused, c.name)
	}
	return nil
}

// sendForm sends a form with one file of a size to a path, and reads the JSON of the answer.
func (c *Client) sendForm(ctx context.Context, path, name string, content io.Reader, size int64, into any) error {
	var head bytes.Buffer
	form := multipart.NewWriter(&head)
	if _, err := form.CreateFormFile("files", name); err != nil {
		return err
	}
	tail := "\r\n--" + form.Boundary() + "--\r\n"
	req, err := c.request(ctx, http.MethodPost, path, io.MultiReader(&head, io.LimitReader(content, size),
		strings.NewReader(tail)))
	if err != nil {
		return err
	}
	req.ContentLength = int64(head.Len()+len(tail)) + size
	req.Header.Set("Content-Type", form.FormDataContentType())
	patient := c.http
	if c.inside == nil {
		patient = wire.NewHTTPClient(&http.Client{Transport: c.transport}, c.cfg.Idle+
			time.Duration(size/slowest)*time.Second)
	}
	res, err := c.send(patient, req)
	if err != nil {
		return fmt.Errorf("upload %s: %w", name, err)
	}
	defer res.Body.Close()
	return c.decode(res.Body, into)
}

// ReadFile reads a file of a thread by the path that the agent knows, of at most limit bytes. One that is not there is
// fs.ErrNotExist, a larger one sandbox.ErrTooLarge.
func (c *Client) ReadFile(ctx context.Context, threadID, path string, limit int64) ([]byte, error) {
	req, err := c.request(ctx, http.MethodGet, threadPath(threadID)+"/artifacts/"+pathIn(path), nil)
	if err != nil {
		return nil, err
	}
	res, err := c.send(c.http, req)
	if errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.ContentLength > limit {
		return nil, fmt.Errorf("%s: %w: it has %d bytes", path, sandbox.ErrTooLarge, res.ContentLength)
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = sandbox.ErrTooLarge
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return raw, nil
}

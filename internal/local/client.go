package local

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

// Client hands runs to the server that holds a data folder.
type Client struct {
	dir   string
	store store.Store
	http  *http.Client
	// Info is what the server works with.
	Info Info
}

// Dial finds the server of a data folder. s is the folder's store, for reading.
func Dial(ctx context.Context, dir string, s store.Store) (*Client, error) {
	c := &Client{dir: dir, store: s, http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, dir) },
	}}}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	res, err := c.send(ctx, http.MethodGet, "/info", "", nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&c.Info); err != nil {
		return nil, fmt.Errorf("ask the server of %s: %w", dir, err)
	}
	return c, nil
}

func (c *Client) send(ctx context.Context, method, path, contentType string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://pudu"+path, body)
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the server of %s: %w", c.dir, err)
	}
	if res.StatusCode != http.StatusOK {
		defer res.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(res.Body, 1000)) // what there is
		return nil, fmt.Errorf("the server of %s says %s: %s", c.dir, res.Status, bytes.TrimSpace(text))
	}
	return res, nil
}

// Run hands in a request with its uploads and shows the run until it ends. Cancelling ctx ends the run as cancelled; it
// is followed to that end.
func (c *Client) Run(ctx context.Context, req runs.Request, uploads map[string][]byte, show func(event.Event)) (runs.Outcome, error) {
	body, contentType := encode(req, uploads)
	res, err := c.send(context.WithoutCancel(ctx), http.MethodPost, "/runs", contentType, body)
	if err != nil {
		return runs.Outcome{}, err
	}
	defer res.Body.Close()
	var f following
	stop := func() bool { return true }
	defer func() { stop() }()
	lines := bufio.NewReader(res.Body)
	for {
		l, err := readLine(lines)
		switch {
		case err != nil && f.run.ID == "":
			return runs.Outcome{}, fmt.Errorf("the server of %s went away: %w", c.dir, err)
		case err != nil:
			return c.follow(context.WithoutCancel(ctx), f.run, f.last, show)
		case l.Run != nil:
			f.run = *l.Run
			stop = c.cancelWith(ctx, f.run.ID)
		case l.Event != nil:
			show(*l.Event)
			f.saw(*l.Event)
		case l.End != nil:
			return runs.Ended(context.WithoutCancel(ctx), c.store, *l.End)
		case l.Error != nil:
			return runs.Outcome{Run: f.run}, l.Error.err()
		}
	}
}

// following is how far a client has come.
type following struct {
	run  store.Run
	last event.ID // of the last durable event
}

func (f *following) saw(ev event.Event) {
	if !ev.Data.Kind().Live() {
		f.last = ev.ID
	}
}

func (f *failure) err() error {
	if f.Conflict {
		return fmt.Errorf("%w: %s", store.ErrConflict, f.Message)
	}
	return errors.New(f.Message)
}

// Resume follows an unfinished run: the server goes on with it by itself.
func (c *Client) Resume(ctx context.Context, run store.Run, show func(event.Event)) (runs.Outcome, error) {
	defer c.cancelWith(ctx, run.ID)()
	return c.follow(context.WithoutCancel(ctx), run, event.ID{}, show)
}

func (c *Client) follow(ctx context.Context, run store.Run, after event.ID, show func(event.Event)) (runs.Outcome, error) {
	alive := func(store.Run) error {
		conn, err := dial(ctx, c.dir)
		if err != nil {
			return errors.New("the server stopped; the run goes on when it is started again")
		}
		return conn.Close()
	}
	return runs.Follow(ctx, c.store, run.ID, after, alive, show)
}

// cancelWith asks for the end of the run when ctx ends, unless stop is called before. That the run ended already is no error,
// and a server that is gone has nothing to cancel.
func (c *Client) cancelWith(ctx context.Context, runID string) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if res, err := c.send(ctx, http.MethodPost, "/runs/"+runID+"/cancel", "", nil); err == nil {
			_ = res.Body.Close()
		}
	})
}

// encode streams the request and the uploads as multipart.
func encode(req runs.Request, uploads map[string][]byte) (io.Reader, string) {
	r, w := io.Pipe()
	form := multipart.NewWriter(w)
	go func() {
		w.CloseWithError(writeForm(form, req, uploads))
	}()
	return r, form.FormDataContentType()
}

func writeForm(form *multipart.Writer, req runs.Request, uploads map[string][]byte) error {
	part, err := form.CreateFormField("request")
	if err == nil {
		err = json.NewEncoder(part).Encode(req)
	}
	for _, name := range slices.Sorted(maps.Keys(uploads)) {
		if err != nil {
			return err
		}
		if part, err = form.CreateFormFile("file", name); err == nil {
			_, err = part.Write(uploads[name])
		}
	}
	if err != nil {
		return err
	}
	return form.Close()
}

// readLine reads a line of the stream, of any length up to what a step can hold.
func readLine(r *bufio.Reader) (line, error) {
	const most = 128 << 20
	var raw []byte
	for {
		piece, err := r.ReadSlice('\n')
		raw = append(raw, piece...)
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line{}, err
		}
		if len(raw) > most {
			return line{}, fmt.Errorf("a line of more than %d bytes", most)
		}
	}
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return line{}, fmt.Errorf("read stream: %w", err)
	}
	return l, nil
}

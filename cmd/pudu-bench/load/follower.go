package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"sync/atomic"
	"time"
)

// follower starts a run and follows it to its end, from server to server.
type follower struct {
	plan        Plan
	thread, run string

	frames atomic.Int64 // so many have been seen
	done   atomic.Bool  // nothing more comes

	last     string // the id of the last frame
	ids      []frameID
	answered bool

	resumed time.Time // the first frame of another attempt than the first one seen
	ended   time.Time
	err     error // why it did not come to its end
}

var errCut = errors.New("the stream ended without an end event")

func (f *follower) follow(ctx context.Context, where *place) {
	defer f.done.Store(true)
	c, moved := where.now()
	f.err = f.begin(ctx, c)
	if !errors.Is(f.err, errCut) {
		return
	}
	select {
	case <-moved:
	case <-ctx.Done():
		return
	}
	c, _ = where.now()
	resp, err := c.attach(ctx, f.thread, f.run, orBegin(f.last))
	if err != nil {
		f.err = fmt.Errorf("attach again: %w", err)
		return
	}
	f.err = f.read(resp)
}

// orBegin asks for everything when nothing has been seen.
func orBegin(last string) string {
	if last == "" {
		return "-1"
	}
	return last
}

func (f *follower) begin(ctx context.Context, c *client) error {
	thread, err := c.newThread(ctx)
	if err != nil {
		return err
	}
	resp, err := c.start(ctx, thread, "stream", f.plan)
	if err != nil {
		return err
	}
	where := resp.Header.Get("Content-Location")
	if where == "" {
		resp.Body.Close()
		return errors.New("start a run: the answer has no Content-Location: its run cannot be found again")
	}
	f.thread, f.run = thread, path.Base(where)
	return f.read(resp)
}

// read reads a stream to its end event. Any other end is an error.
func (f *follower) read(resp *http.Response) error {
	defer resp.Body.Close()
	r := newFrameReader(resp.Body)
	defer r.release()
	for {
		fr, err := r.next()
		if err != nil {
			return fmt.Errorf("%w: %w", errCut, err)
		}
		switch string(fr.event) {
		case "end":
			f.ended = time.Now()
			return unless(f.answered, errUnanswered)
		case "error", "gap":
			return fmt.Errorf("the run's stream has an event %s: %.300s", fr.event, fr.data)
		case "values":
			f.answered = f.answered || bytes.Contains(fr.data, []byte(lastToken))
		}
		if len(fr.id) > 0 {
			if err := f.see(string(fr.id)); err != nil {
				return err
			}
		}
	}
}

func (f *follower) see(s string) error {
	id, err := parseFrameID(s)
	if err != nil {
		return err
	}
	if f.resumed.IsZero() && len(f.ids) > 0 && id.attempt > f.ids[0].attempt {
		f.resumed = time.Now()
	}
	f.ids, f.last = append(f.ids, id), s
	f.frames.Add(1)
	return nil
}

// readAgain reads the run from its beginning, as one who comes late.
func (f *follower) readAgain(ctx context.Context, where *place) ([]frameID, error) {
	c, _ := where.now()
	resp, err := c.attach(ctx, f.thread, f.run, "-1")
	if err != nil {
		return nil, fmt.Errorf("read it again: %w", err)
	}
	late := &follower{answered: true}
	if err := late.read(resp); err != nil {
		return nil, fmt.Errorf("read it again: %w", err)
	}
	return late.ids, nil
}

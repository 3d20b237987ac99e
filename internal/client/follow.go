package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// endJSON is how a run ended: what the last line of its log says.
type endJSON struct {
	runJSON

	Usage usageJSON `json:"usage"`
}

type usageJSON struct {
	Input         int `json:"input_tokens"`
	Output        int `json:"output_tokens"`
	Total         int `json:"total_tokens"`
	CacheRead     int `json:"cache_read"`
	CacheCreation int `json:"cache_creation"`
	Reasoning     int `json:"reasoning"`
}

func (u usageJSON) usage() message.Usage {
	return message.Usage{
		InputTokens: u.Input, OutputTokens: u.Output, TotalTokens: u.Total,
		CacheRead: u.CacheRead, CacheCreation: u.CacheCreation, Reasoning: u.Reasoning,
	}
}

// follow shows the events of a run until its end. It comes back for the rest when the connection breaks.
func (c *Client) follow(ctx context.Context, run store.Run, show func(event.Event),
	note func(string)) (endJSON, error) {
	l := &log{client: c, run: run, show: show}
	t := c.newTrouble(note)
	for {
		before := l.after
		end, err := l.read(ctx)
		if err == nil || !passing(err) {
			return end, err
		}
		if l.after != before {
			t = c.newTrouble(note) // it was of use until it broke
		}
		if err := t.wait(ctx, err); err != nil {
			if errors.Is(err, errStopped) {
				return end, fmt.Errorf("%w; the run goes on when it is started again", err)
			}
			return end, fmt.Errorf("%w; the run goes on there", err)
		}
	}
}

// log is how far a reader of a run has come.
type log struct {
	client *Client
	run    store.Run
	show   func(event.Event)
	after  event.ID // of the last event that was shown
}

// errCutOff: the log ended before the run did.
var errCutOff = errors.New("the connection was closed")

// read reads the log once, from where it has come to, until it ends.
func (l *log) read(ctx context.Context) (endJSON, error) {
	path := runPath(l.run) + "/log"
	if l.after != (event.ID{}) {
		path += "?after=" + l.after.String()
	}
	req, err := l.client.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return endJSON{}, err
	}
	res, err := l.client.send(l.client.http, req)
	if err != nil {
		return endJSON{}, err
	}
	defer res.Body.Close()
	lines := bufio.NewReaderSize(res.Body, 64<<10)
	for {
		raw, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			err = errCutOff
		}
		if err != nil {
			return endJSON{}, fmt.Errorf("%s: %w", l.client.name, err)
		}
		if len(raw) == 0 {
			continue
		}
		if end, ended, err := l.line(raw); ended || err != nil {
			return end, err
		}
	}
}

// line takes a line that is not empty: an event, or how the run ended.
func (l *log) line(raw []byte) (_ endJSON, ended bool, err error) {
	var ev event.Event
	if err = json.Unmarshal(raw, &ev); err == nil {
		if ev.ID.Compare(l.after) > 0 {
			l.after = ev.ID
			l.show(ev)
		}
		return endJSON{}, false, nil
	}
	var last struct {
		Run *endJSON `json:"run"`
	}
	if json.Unmarshal(raw, &last) == nil && last.Run != nil {
		return *last.Run, true, nil
	}
	return endJSON{}, false, fmt.Errorf("%s: %w: %w", l.client.name, errGarbled, err)
}

// readLine reads a line without its end, of any length up to what a step can hold. The line is good until the next one.
func readLine(r *bufio.Reader) ([]byte, error) {
	const most = 128 << 20
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		long := append([]byte(nil), line...)
		for errors.Is(err, bufio.ErrBufferFull) && len(long) <= most {
			line, err = r.ReadSlice('\n')
			long = append(long, line...)
		}
		line = long
	}
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, fmt.Errorf("%w: a line of more than %d bytes", errGarbled, most)
	}
	if err != nil {
		return nil, err
	}
	return line[:len(line)-1], nil
}

const (
	firstPause = 200 * time.Millisecond
	maxPause   = 10 * time.Second
)

// errStopped: the server of a data folder has gone.
var errStopped = errors.New("the server stopped")

// trouble is a server that does not answer.
type trouble struct {
	client *Client
	note   func(string)
	since  time.Time // zero: none yet
	pause  time.Duration
	told   bool
}

func (c *Client) newTrouble(note func(string)) *trouble {
	return &trouble{client: c, note: note, pause: firstPause}
}

// wait pauses before the next try, longer each time; its error says that there is none, because of err or of ctx.
func (t *trouble) wait(ctx context.Context, err error) error {
	c := t.client
	if t.since.IsZero() {
		t.since = time.Now()
	}
	if errors.Is(err, errNobody) {
		return errStopped
	}
	left := c.cfg.Patience - time.Since(t.since)
	if left <= 0 {
		return fmt.Errorf("%w (tried for %s)", err, c.cfg.Patience.Round(time.Second))
	}
	if !t.told && c.cfg.Dir == "" { // the one of this machine comes back at once, or not at all
		t.told = true
		t.note(fmt.Sprintf("… %s; trying again for %s", inert.Line(err.Error()), c.cfg.Patience.Round(time.Second)))
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(min(t.pause, left)):
	}
	t.pause = min(2*t.pause, maxPause)
	return nil
}

// persist does something that may be done twice, until it succeeds or its error does not pass.
func (c *Client) persist(ctx context.Context, note func(string), do func(ctx context.Context) error) error {
	t := c.newTrouble(note)
	for {
		err := do(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !passing(err):
			return err
		}
		if err := t.wait(ctx, err); err != nil {
			return err
		}
	}
}

package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/inert"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// runJSON is a run as the LangGraph API shows it.
type runJSON struct {
	RunID      string    `json:"run_id"`
	ThreadID   string    `json:"thread_id"`
	Status     string    `json:"status"`
	Attempt    int       `json:"attempt"`
	Error      string    `json:"error"`
	StopReason string    `json:"stop_reason"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

func (r runJSON) run() store.Run {
	return store.Run{
		ID: r.RunID, ThreadID: r.ThreadID, Status: r.Status, Attempt: r.Attempt, Error: r.Error,
		StopReason: r.StopReason, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
}

type threadJSON struct {
	ThreadID  string    `json:"thread_id"`
	Status    string    `json:"status"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Values    struct {
		Title string `json:"title"`
	} `json:"values"`
	Archived  bool      `json:"archived"`
	Temporary bool      `json:"temporary"`
	TrashedAt time.Time `json:"trashed_at"`
}

func (t threadJSON) thread() store.Thread {
	out := store.Thread{
		ID: inert.Line(t.ThreadID), Title: t.Values.Title, Status: t.Status, CreatedAt: t.CreatedAt,
		UpdatedAt: t.UpdatedAt, TrashedAt: t.TrashedAt,
	}
	for mark, on := range map[store.Marks]bool{
		store.Archived: t.Archived, store.Temporary: t.Temporary, store.Trashed: !t.TrashedAt.IsZero(),
	} {
		if on {
			out.Marks |= mark
		}
	}
	return out
}

// Knows reports whether a run can name the model. To name none is to take the server's.
func (c *Client) Knows(ctx context.Context, model string) (bool, error) {
	if model == "" || model == c.Info.Model {
		return true, nil
	}
	segments := strings.Split(model, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	err := c.get(ctx, "/models/"+strings.Join(segments, "/"), nil)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Thread returns a thread, without its state; [store.ErrNotFound] if there is none of the id.
func (c *Client) Thread(ctx context.Context, id string) (store.Thread, error) {
	found, err := c.search(ctx, searchJSON{IDs: []string{id}, Limit: 1})
	if err == nil && len(found) == 0 {
		found, err = c.search(ctx, searchJSON{IDs: []string{id}, Limit: 1, Trashed: true})
	}
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("thread %q: %w", id, store.ErrNotFound)
	}
	if err != nil {
		return store.Thread{}, err
	}
	return found[0], nil
}

// SearchThreads returns the threads that the filter selects by ids, status and page, the last updated first. Whose they
// are is known by the token.
func (c *Client) SearchThreads(ctx context.Context, f store.ThreadFilter) ([]store.Thread, error) {
	return c.search(ctx, searchJSON{IDs: f.IDs, Status: f.Status, Limit: cmp.Or(f.Limit, 100), Offset: f.Offset})
}

type searchJSON struct {
	IDs    []string `json:"ids,omitempty"`
	Status string   `json:"status,omitempty"`
	Limit  int      `json:"limit"`
	Offset int      `json:"offset,omitempty"`
	SortBy string   `json:"sort_by"`
	Select []string `json:"select"`

	Archived bool `json:"archived,omitempty"`
	Trashed  bool `json:"trashed,omitempty"`
}

func (c *Client) search(ctx context.Context, s searchJSON) ([]store.Thread, error) {
	s.Select = []string{"thread_id", "status", "created_at", "updated_at", "values", "archived", "temporary",
		"trashed_at"}
	s.SortBy = "state_updated_at" // by updated_at pinned threads would come first
	var list []threadJSON
	if err := c.call(ctx, http.MethodPost, "/threads/search", nil, s, &list); err != nil {
		return nil, err
	}
	out := make([]store.Thread, len(list))
	for i, t := range list {
		out[i] = t.thread()
	}
	return out, nil
}

// Questions are what the thread's calls ask a person before they are made, in the order of asking. An answer names one
// by its InterruptID; which call it is about is in its value.
func (c *Client) Questions(ctx context.Context, threadID string) ([]event.Interrupt, error) {
	var at struct {
		Interrupts []struct {
			ID    string          `json:"id"`
			Value json.RawMessage `json:"value"`
		} `json:"interrupts"`
	}
	err := c.get(ctx, threadPath(threadID)+"/state", &at)
	if err != nil {
		return nil, fmt.Errorf("read what the thread waits for: %w", err)
	}
	asked := make([]event.Interrupt, len(at.Interrupts))
	for i, q := range at.Interrupts {
		asked[i] = event.Interrupt{InterruptID: q.ID, Value: q.Value}
	}
	return asked, nil
}

// Messages is the conversation of a thread, or the last messages of it, if that is not 0.
func (c *Client) Messages(ctx context.Context, threadID string, last int) ([]message.Message, error) {
	if last > 0 {
		return c.lastMessages(ctx, threadID, last)
	}
	var at struct {
		Values struct {
			Messages []message.Message `json:"messages"`
		} `json:"values"`
	}
	err := c.get(ctx, threadPath(threadID)+"/state", &at)
	return at.Values.Messages, err
}

// lastMessages reads pages until there are as many messages as are wanted.
func (c *Client) lastMessages(ctx context.Context, threadID string, last int) (out []message.Message, err error) {
	const most = 200
	for before := ""; len(out) < last; {
		var page struct {
			Data []struct {
				Content message.Message `json:"content"`
			} `json:"data"`
			Next *int64 `json:"next_before_seq"`
		}
		path := fmt.Sprintf("%s/messages/page?limit=%d%s", threadPath(threadID), min(most, last-len(out)), before)
		if err = c.get(ctx, path, &page); err != nil {
			return nil, err
		}
		some := make([]message.Message, len(page.Data), len(page.Data)+len(out))
		for i, row := range page.Data {
			some[i] = row.Content
		}
		if out = append(some, out...); page.Next == nil {
			break
		}
		before = fmt.Sprintf("&before_seq=%d", *page.Next)
	}
	return out, nil
}

// DeleteThread removes a thread with its files.
func (c *Client) DeleteThread(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, threadPath(id), nil, nil, nil)
}

// ListRuns returns the runs that the filter selects, the newest first. Without a thread it looks at those threads that
// can have such a run, the last updated ones first. The offset does not count.
func (c *Client) ListRuns(ctx context.Context, f store.RunFilter) ([]store.Run, error) {
	f.Limit = cmp.Or(f.Limit, 100)
	threads, err := c.candidates(ctx, f)
	if err != nil {
		return nil, err
	}
	var out []store.Run
	for _, t := range threads {
		list, err := c.runsOf(ctx, t, f)
		if errors.Is(err, store.ErrNotFound) { // deleted meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	slices.SortStableFunc(out, func(a, b store.Run) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return out[:min(len(out), f.Limit)], nil
}

// candidates are the threads whose runs the filter can select.
func (c *Client) candidates(ctx context.Context, f store.RunFilter) ([]store.Thread, error) {
	if f.ThreadID != "" {
		t, err := c.Thread(ctx, f.ThreadID)
		return []store.Thread{t}, err
	}
	if f.Statuses == nil {
		return c.search(ctx, searchJSON{Limit: f.Limit})
	}
	var out []store.Thread
	for _, status := range threadStatuses(f.Statuses) {
		list, err := c.search(ctx, searchJSON{Status: status, Limit: f.Limit})
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// threadStatuses are those of threads that have a run of one of the statuses.
func threadStatuses(ofRuns []string) (out []string) {
	for _, s := range ofRuns {
		thread := store.ThreadIdle
		switch s {
		case event.StatusPending, event.StatusRunning:
			thread = store.ThreadBusy
		case event.StatusInterrupted:
			thread = store.ThreadInterrupted
		case event.StatusError:
			thread = store.ThreadError
		}
		if !slices.Contains(out, thread) {
			out = append(out, thread)
		}
	}
	return out
}

// runsOf are the runs of a thread. The API shows one that waits for a human as a success; its thread tells.
func (c *Client) runsOf(ctx context.Context, t store.Thread, f store.RunFilter) ([]store.Run, error) {
	var list []json.RawMessage
	if err := c.get(ctx, fmt.Sprintf("%s/runs?limit=%d", threadPath(t.ID), f.Limit), &list); err != nil {
		return nil, err
	}
	var out []store.Run
	for i, raw := range list {
		var r runJSON
		if err := json.Unmarshal(raw, &r); err != nil {
			return nil, fmt.Errorf("list runs: %w: %w", errGarbled, err)
		}
		if i == 0 && t.Status == store.ThreadInterrupted && r.Status == event.StatusSuccess {
			r.Status = event.StatusInterrupted
		}
		if f.Statuses == nil || slices.Contains(f.Statuses, r.Status) {
			out = append(out, r.run())
		}
	}
	return out, nil
}

// CreateThread makes a thread, temporary if its marks say so; store.ErrConflict if there is one of its id. The times
// are the server's.
func (c *Client) CreateThread(ctx context.Context, t store.Thread) error {
	body := struct {
		ID        string `json:"thread_id"`
		Temporary bool   `json:"temporary,omitempty"`
		IfExists  string `json:"if_exists"`
	}{t.ID, t.Temporary(), "raise"}
	return c.call(ctx, http.MethodPost, "/threads", nil, body, nil)
}

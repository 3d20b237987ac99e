package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/history"
	"github.com/pudu-ai/pudu/internal/feature/session"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// Metadata of a branch, as the gateway writes it.
type branchMetadata struct {
	Parent  string    `json:"branch_parent_thread_id"`
	Message string    `json:"branch_parent_message_id"`
	Made    time.Time `json:"branch_created_at"`
}

// maxBranches bounds a list of branches.
const maxBranches = 1000

// Branches are those of a thread, the last used first.
func (c *Client) Branches(ctx context.Context, thread string) ([]history.Branch, error) {
	if _, err := c.Thread(ctx, thread); err != nil {
		return nil, err
	}
	in := map[string]any{
		"metadata": map[string]string{"branch_parent_thread_id": thread}, "limit": maxBranches,
		"select": []string{"thread_id", "updated_at", "values", "metadata"},
	}
	var list []struct {
		threadJSON

		Metadata branchMetadata `json:"metadata"`
	}
	err := c.call(ctx, http.MethodPost, "/threads/search", nil, in, &list)
	out := make([]history.Branch, len(list))
	for i, t := range list {
		out[i] = history.Branch{Thread: t.thread().ID, Title: t.Values.Title, Message: t.Metadata.Message,
			Made: t.Metadata.Made}
	}
	return out, err
}

// errNothingSaid is that a thread has no message that is asked for.
var errNothingSaid = errors.New("nothing was said there yet")

// lastOf is the id of the last message of a kind that a thread shows: what a human said, or a whole answer.
func (c *Client) lastOf(ctx context.Context, thread string, kind message.Role) (string, error) {
	var page struct {
		Data []struct {
			Content json.RawMessage `json:"content"`
		} `json:"data"`
		Next *int64 `json:"next_before_seq"`
	}
	for before := ""; ; {
		if err := c.get(ctx, threadPath(thread)+"/messages/page?limit=50"+before, &page); err != nil {
			return "", err
		}
		for i := range page.Data {
			var m message.Message
			if err := json.Unmarshal(page.Data[len(page.Data)-1-i].Content, &m); err == nil && m.Role == kind &&
				len(m.ToolCalls) == 0 {
				return m.ID, nil
			}
		}
		if page.Next == nil {
			if _, err := c.Thread(ctx, thread); err != nil {
				return "", err
			}
			return "", fmt.Errorf("thread %s: %w", thread, errNothingSaid)
		}
		before, page.Next = fmt.Sprint("&before_seq=", *page.Next), nil
	}
}

// chosen is the message, or the last one of the kind.
func (c *Client) chosen(ctx context.Context, thread, id string, kind message.Role) (string, error) {
	if id != "" {
		return id, nil
	}
	return c.lastOf(ctx, thread, kind)
}

// Branch begins a thread that goes on from an answer of another one, the last one if none is named. files is "then" or
// "now"; empty is as the server has it. The new thread's id is returned.
func (c *Client) Branch(ctx context.Context, thread, answer, title, files string) (string, error) {
	answer, err := c.chosen(ctx, thread, answer, message.AI)
	if err != nil {
		return "", err
	}
	in := map[string]string{"message_id": answer}
	for name, value := range map[string]string{"title": title, "files": files} {
		if value != "" {
			in[name] = value
		}
	}
	var made struct {
		ThreadID string `json:"thread_id"`
	}
	err = c.call(ctx, http.MethodPost, threadPath(thread)+"/branches", nil, in, &made)
	return made.ThreadID, err
}

// Prepare returns the request for a run.
func (c *Client) Prepare(ctx context.Context, a runs.Again) (req runs.Request, err error) {
	kind, route, member := message.AI, "regenerate", "message_id"
	if a.Text != "" {
		kind, route, member = message.Human, "edit-regenerate", "human_message_id"
	}
	in := map[string]any{"any_turn": a.Message != ""}
	if in[member], err = c.chosen(ctx, a.Thread, a.Message, kind); err != nil {
		return req, err
	}
	for name, value := range map[string]string{"files": a.Files, "replacement_text": a.Text} {
		if value != "" {
			in[name] = value
		}
	}
	var out struct {
		Input struct {
			Messages []message.Message `json:"messages"`
			Title    string            `json:"title"`
		} `json:"input"`
		Checkpoint checkpointJSON  `json:"checkpoint"`
		Metadata   json.RawMessage `json:"metadata"`
	}
	if err := c.call(ctx, http.MethodPost, threadPath(a.Thread)+"/runs/"+route+"/prepare", nil, in, &out); err != nil {
		return req, err
	}
	req = runs.Request{ThreadID: a.Thread, Input: out.Input.Messages, Checkpoint: out.Checkpoint.ID,
		Metadata: out.Metadata}
	if out.Input.Title != "" {
		title, err := json.Marshal(out.Input.Title)
		if err != nil {
			return req, err
		}
		req.Values = map[string]json.RawMessage{"title": title}
	}
	return req, nil
}

type checkpointJSON struct {
	ID string `json:"checkpoint_id"`
}

// Sessions are those of the user's browsers at a server.
type Sessions struct{ *Client }

// List lists them, those that were used last first.
func (c Sessions) List(ctx context.Context) ([]session.Session, error) {
	var list []struct {
		ID      string    `json:"session_id"`
		Via     string    `json:"via"`
		Agent   string    `json:"user_agent"`
		Created time.Time `json:"created_at"`
		Ends    time.Time `json:"ends_at"`
	}
	err := c.get(ctx, "/sessions", &list)
	out := make([]session.Session, len(list))
	for i, s := range list {
		out[i] = session.Session{ID: s.ID, Token: s.Via, Agent: s.Agent, Begun: s.Created, Ends: s.Ends}
	}
	return out, err
}

// End ends one of them.
func (c Sessions) End(ctx context.Context, id string) error {
	err := c.call(ctx, http.MethodDelete, "/sessions/"+url.PathEscape(id), nil, nil, nil)
	if errors.Is(err, store.ErrNotFound) {
		err = session.ErrNone
	}
	return err
}

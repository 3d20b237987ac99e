package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"

	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

// Say says the request's input to the run at work on its thread, and returns the id that it has until that takes it. If
// the run has ended meanwhile it is the id of the run that comes.
func (c *Client) Say(ctx context.Context, req runs.Request) (string, error) {
	o, err := c.order(req)
	if err != nil {
		return "", err
	}
	o.Strategy, o.IfNotExists = store.Steer, "reject"
	var made struct {
		runJSON

		Steer string `json:"steer_id"`
	}
	key := http.Header{"Idempotency-Key": {rand.Text()}}
	err = c.persist(ctx, func(string) {}, func(ctx context.Context) error {
		return c.call(ctx, http.MethodPost, threadPath(req.ThreadID)+"/runs", key, o, &made)
	})
	id := cmp.Or(made.Steer, made.RunID)
	if err == nil && id == "" {
		err = fmt.Errorf("%w: it names no run", errGarbled)
	}
	return id, err
}

// Said is what became of it.
func (c *Client) Said(ctx context.Context, threadID, id string) (store.Run, error) {
	var run runJSON
	err := c.get(ctx, threadPath(threadID)+"/runs/"+url.PathEscape(id), &run)
	return run.run(), err
}

// TakeBack removes what was said and is not taken yet; [store.ErrConflict] if it is.
func (c *Client) TakeBack(ctx context.Context, threadID, id string) error {
	return c.call(ctx, http.MethodDelete, threadPath(threadID)+"/steers/"+url.PathEscape(id), nil, nil, nil)
}

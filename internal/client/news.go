package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/news"
)

// News are those of the user's threads at a server.
type News struct{ *Client }

// Newest returns the last changes, the oldest of them first.
func (c News) Newest(ctx context.Context, limit int) ([]news.Change, error) {
	var got struct {
		Threads []struct {
			Thread    string    `json:"thread_id"`
			State     string    `json:"state"`
			Title     string    `json:"title"`
			CreatedAt time.Time `json:"created_at"`
			UpdatedAt time.Time `json:"updated_at"`
		} `json:"threads"`
	}
	err := c.get(ctx, fmt.Sprintf("/news?limit=%d", limit), &got)
	out := make([]news.Change, len(got.Threads))
	for i, t := range got.Threads {
		out[i] = news.Change{Thread: t.Thread, State: t.State, Title: t.Title, CreatedAt: t.CreatedAt,
			UpdatedAt: t.UpdatedAt}
	}
	slices.Reverse(out)
	return out, err
}

// MarkRead says that the user has read a thread.
func (c News) MarkRead(ctx context.Context, thread string) error {
	return c.call(ctx, http.MethodPut, "/threads/"+url.PathEscape(thread)+"/read", nil, nil, nil)
}

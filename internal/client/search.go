package client

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/search"
	"github.com/pudu-ai/pudu/internal/lib/words"
)

// Search finds words in the user's threads at a server.
type Search struct{ *Client }

// hitJSON is a hit as the server sends it.
type hitJSON struct {
	ThreadID  string    `json:"thread_id"`
	Title     string    `json:"title"`
	Kind      string    `json:"kind"`
	MessageID string    `json:"message_id"`
	Path      string    `json:"path"`
	Role      string    `json:"role"`
	At        time.Time `json:"at"`
	Excerpt   []struct {
		Text   string `json:"text"`
		Marked bool   `json:"marked"`
	} `json:"excerpt"`
}

// Find returns a page of what was found, in a folder unless that is empty, and whether there is more.
func (c Search) Find(ctx context.Context, q search.Query, folder string) (hits []search.Hit, more bool, err error) {
	query := url.Values{"q": {q.Words}, "limit": {strconv.Itoa(q.Limit + 1)}, "offset": {strconv.Itoa(q.Offset)}}
	set := func(name, value string) {
		if value != "" {
			query.Set(name, value)
		}
	}
	set("folder", folder)
	for _, id := range q.Threads {
		set("thread_id", id)
	}
	for name, at := range map[string]time.Time{"since": q.Since, "until": q.Until} {
		if !at.IsZero() {
			set(name, at.Format(time.RFC3339))
		}
	}
	if q.Archived {
		set("archived", "true")
	}
	var list []hitJSON
	if err := c.get(ctx, "/search?"+query.Encode(), &list); err != nil {
		return nil, false, err
	}
	for _, h := range list[:min(len(list), q.Limit)] {
		hit := search.Hit{
			ThreadID: h.ThreadID, Title: h.Title, Form: h.Kind, Ref: h.MessageID + h.Path, Role: h.Role, At: h.At,
		}
		for _, p := range h.Excerpt {
			hit.Excerpt = append(hit.Excerpt, words.Part(p))
		}
		hits = append(hits, hit)
	}
	return hits, len(list) > q.Limit, nil
}

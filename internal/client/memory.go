package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/lib/words"
)

// Memory is what a server remembers of the user.
type Memory struct{ *Client }

// knownJSON is a fact as the server sends it.
type knownJSON struct {
	ID         string    `json:"fact_id"`
	Content    string    `json:"content"`
	Category   string    `json:"category"`
	Extension  string    `json:"category_extension"`
	Status     string    `json:"status"`
	Confidence float64   `json:"confidence"`
	Agent      string    `json:"agent"`
	Folder     string    `json:"folder_id"`
	Source     string    `json:"source"`
	Mark       string    `json:"mark"`
	Updated    time.Time `json:"updated_at"`
	Excerpt    []struct {
		Text   string `json:"text"`
		Marked bool   `json:"marked"`
	} `json:"excerpt"`
}

func (k knownJSON) fact() memory.Fact {
	return memory.Fact{
		ID: k.ID, Content: k.Content, Category: k.Category, Status: k.Status, Confidence: k.Confidence, Agent: k.Agent,
		Folder: k.Folder, UpdatedAt: k.Updated, Rest: memory.Rest{Extension: k.Extension, Source: k.Source,
			Mark: k.Mark},
	}
}

// Document is what is remembered.
func (c Memory) Document(ctx context.Context) (d memory.Document, err error) {
	err = c.get(ctx, "/memory", &d)
	return d, err
}

// list asks for facts.
func (c Memory) list(ctx context.Context, ask url.Values) (list []knownJSON, err error) {
	var page struct {
		Facts []knownJSON `json:"facts"`
	}
	err = c.get(ctx, "/memory/facts?"+ask.Encode(), &page)
	return page.Facts, err
}

// Facts lists facts by id; the server gives 1000 at once.
func (c Memory) Facts(ctx context.Context, status, after string, limit int) (out []memory.Fact, err error) {
	const most = 1000
	list, err := c.list(ctx,
		url.Values{"status": {status}, "after": {after}, "limit": {strconv.Itoa(min(limit, most))}})
	for _, k := range list {
		out = append(out, k.fact())
	}
	return out, err
}

// Search finds facts by their words.
func (c Memory) Search(ctx context.Context, q memory.Query) (out []memory.Hit, err error) {
	list, err := c.list(ctx, url.Values{"q": {q.Words}, "status": {q.Status}, "limit": {strconv.Itoa(q.Limit)}})
	for _, k := range list {
		h := memory.Hit{Fact: k.fact()}
		for _, p := range k.Excerpt {
			h.Excerpt = append(h.Excerpt, words.Part{Text: p.Text, Marked: p.Marked})
		}
		out = append(out, h)
	}
	return out, err
}

// Add adds a fact.
func (c Memory) Add(ctx context.Context, f memory.Fact) (memory.Fact, error) {
	in := struct {
		Content    string  `json:"content"`
		Category   string  `json:"category"`
		Confidence float64 `json:"confidence"`
		Agent      string  `json:"agent,omitempty"`
		Folder     string  `json:"folder_id,omitempty"`
	}{f.Content, f.Category, f.Confidence, f.Agent, f.Folder}
	if f.Extension != "" {
		in.Category = f.Extension
	}
	var d memory.Document
	err := c.call(ctx, http.MethodPost, "/memory/facts", nil, in, &d)
	for _, k := range d.Facts {
		if k.Content == strings.TrimSpace(f.Content) {
			f.ID = k.ID
		}
	}
	return f, err
}

// Forget forgets a fact and what was made of it.
func (c Memory) Forget(ctx context.Context, id string) (int, error) {
	before, err := c.Document(ctx)
	if err != nil {
		return 0, err
	}
	var d memory.Document
	err = c.call(ctx, http.MethodDelete, "/memory/facts/"+url.PathEscape(id), nil, nil, &d)
	return max(1, len(before.Facts)-len(d.Facts)), err
}

func (c Memory) decide(ctx context.Context, id, how string) (memory.Fact, error) {
	return memory.Fact{ID: id}, c.call(ctx, http.MethodPost, "/memory/facts/"+url.PathEscape(id)+"/"+how, nil, nil, nil)
}

// Accept keeps a proposed fact.
func (c Memory) Accept(ctx context.Context, id string) (memory.Fact, error) {
	return c.decide(ctx, id, "accept")
}

// Refuse gives one up.
func (c Memory) Refuse(ctx context.Context, id string) (memory.Fact, error) {
	return c.decide(ctx, id, "refuse")
}

// Undo takes back the last reading of a conversation.
func (c Memory) Undo(ctx context.Context) (int, error) {
	return 1, c.call(ctx, http.MethodPost, "/memory/undo", nil, nil, nil)
}

// Why are the facts that a run knew of, or the newest run of a thread.
func (c Memory) Why(ctx context.Context, id string) (out []memory.Told, err error) {
	thread, run, err := Calls(c).Find(ctx, id)
	if err != nil {
		return nil, err
	}
	var page struct {
		Facts []struct {
			ID      string `json:"fact_id"`
			Content string `json:"content"`
			Why     string `json:"why"`
			Run     string `json:"since_run_id"`
			Now     string `json:"now"`
		} `json:"facts"`
	}
	err = c.get(ctx, threadPath(thread)+"/runs/"+url.PathEscape(run)+"/memory/why", &page)
	for _, t := range page.Facts {
		out = append(out, memory.Told{ID: t.ID, Content: t.Content, Why: t.Why, Run: t.Run, Now: t.Now})
	}
	return out, err
}

// Import replaces what is remembered.
func (c Memory) Import(ctx context.Context, d memory.Document) error {
	return c.call(ctx, http.MethodPost, "/memory/import", nil, d, nil)
}

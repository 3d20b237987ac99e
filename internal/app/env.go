package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/items"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/outgoing"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// Bounds of what a tool gets by the guarded client.
const (
	maxAnswer    = 32 << 20 // bytes
	maxRedirects = 10
)

// envOf is what the tools and hooks of a run may use.
func (e *engine) envOf(s *settings, j runs.Job, c *lead.Config) tool.Env {
	var later func(tool.Job) error
	if len(e.own.Work) > 0 {
		later = e.later
	}
	run, by := j.Run, j.Request
	return tool.Env{
		Ref: tool.Ref{
			User: run.UserID, Thread: run.ThreadID, Run: run.ID, Agent: c.Agent.Name, Parent: run.Parent,
			Role: string(by.Role), Scopes: by.Scopes, Via: by.Via,
		},
		Services: tool.Services{
			Space: c.Thread.Space, HTTP: e.guard.Client(outgoing.Profile{MaxBytes: maxAnswer, Redirects: maxRedirects}),
			Items: userItems{items.New(e.store).For(access.FromRow(run.UserID))},
			Model: func(role string) (model.ChatModel, error) { return s.forRole(role, c) },
			Later: later,
		},
	}
}

// forRole is the model of a role for a run: its calls keep to the limits of the key, are tried again, and go on with
// fallbacks.
func (s *settings) forRole(role string, c *lead.Config) (model.ChatModel, error) {
	switch role {
	case tool.MainModel:
	case tool.CheapModel:
		if m, _ := s.models.named(s.cfg.Title.Model); m != nil {
			return m, nil
		}
	case tool.VisionModel:
		if c.Models.Main.Entry.SupportsVision {
			break
		}
		for _, entry := range s.cfg.Models {
			if m, _ := s.models.named(entry.Name); m != nil && entry.SupportsVision && entry.Err == nil {
				return m, nil
			}
		}
		return nil, fmt.Errorf("no configured model can look at images: give one supports_vision: true: %w",
			config.ErrNoModel)
	default:
		return nil, fmt.Errorf("%.40q is no role of a model: it is %s, %s or %s", role, tool.MainModel, tool.CheapModel,
			tool.VisionModel)
	}
	return lead.Aside(s.cfg.LLMCall, c.Models.Main, c.Models.Fallbacks), nil
}

// userItems are the items of the run's user, as tools see them.
type userItems struct{ mine *items.Mine }

var _ tool.Items = userItems{}

// Put implements [tool.Items].
func (u userItems) Put(ctx context.Context, i tool.Item) error {
	now := time.Now()
	return u.mine.Put(ctx, items.Item{Namespace: i.Namespace, Key: i.Key, Value: i.Value, CreatedAt: now,
		UpdatedAt: now})
}

// Get implements [tool.Items].
func (u userItems) Get(ctx context.Context, namespace []string, key string) (tool.Item, error) {
	i, err := u.mine.Item(ctx, namespace, key, items.Access{Now: time.Now()})
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w: %.40q", tool.ErrNoItem, key)
	}
	return shown(i), err
}

// Delete implements [tool.Items].
func (u userItems) Delete(ctx context.Context, namespace []string, key string) error {
	return u.mine.Delete(ctx, namespace, key)
}

// Search implements [tool.Items].
func (u userItems) Search(ctx context.Context, prefix []string, words string, limit int) ([]tool.Item, error) {
	found, err := u.mine.Search(ctx, items.Filter{Access: items.Access{Now: time.Now()}, Prefix: prefix, Query: words,
		Limit: limit})
	list := make([]tool.Item, len(found))
	for n, i := range found {
		list[n] = shown(i)
	}
	return list, err
}

func shown(i items.Item) tool.Item {
	return tool.Item{Namespace: i.Namespace, Key: i.Key, Value: i.Value, Updated: i.UpdatedAt, Score: i.Score}
}

package runs

import (
	"context"
	"errors"
	"net/http"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// ofSteers are the routes of what is said to runs at work. It comes in as a run, with multitask_strategy steer.
func (g *Group) ofSteers() []route.Route {
	const all = "/threads/{thread_id}/steers"
	return []route.Route{
		route.Get(all, "List what is said to the run at work and not taken yet, in order", g.steers).
			Access(access.Viewer, read).Of(route.Thread).Rate(route.Cheap).Body(route.None),
		route.Delete(all+"/{steer_id}", "Take back what the run at work has not taken yet", g.takeBack).
			Access(access.Regular, write).Of(route.Thread).Rate(route.Write).Body(route.None).
			Audits(audit.Delete, "steer"),
	}
}

// steerJSON is a message that waits, as clients see it.
type steerJSON struct {
	SteerID   string            `json:"steer_id"`
	RunID     string            `json:"run_id"`
	ThreadID  string            `json:"thread_id"`
	Messages  []message.Message `json:"messages"`
	CreatedAt string            `json:"created_at"`
}

type steersIn struct {
	Thread store.Thread `of:"thread"`
}

func (g *Group) steers(ctx context.Context, in *steersIn) ([]steerJSON, error) {
	list, err := g.Mine(ctx).Steers(ctx, in.Thread.ID)
	out := make([]steerJSON, 0, len(list))
	for i := 0; err == nil && i < len(list); i++ {
		var req runs.Request
		req, err = runs.RequestOf(list[i])
		out = append(out, steerJSON{
			SteerID: list[i].ID, RunID: list[i].Steers, ThreadID: list[i].ThreadID, Messages: req.Input,
			CreatedAt: shape.Stamp(list[i].CreatedAt),
		})
	}
	return out, err
}

type steerIn struct {
	steersIn

	ID string `path:"steer_id"`
}

func (g *Group) takeBack(ctx context.Context, in *steerIn) (route.Status, error) {
	err := g.Mine(ctx).TakeBack(ctx, in.Thread.ID, in.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		err = route.NotFound("Message", in.ID)
	case errors.Is(err, store.ErrConflict):
		err = route.Failf(http.StatusConflict, "Message %s is taken: a run has read it", in.ID)
	}
	return http.StatusNoContent, err
}

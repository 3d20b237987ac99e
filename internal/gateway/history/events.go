package history

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/history"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

type eventsIn struct {
	ID    string `path:"thread_id"`
	Run   string `path:"run_id"`
	Types string `query:"event_types" max:"1000"`
	Task  string `query:"task_id" max:"256"`
	Limit int    `query:"limit" default:"500" min:"1" max:"2000"`
	After int    `query:"after_seq" min:"1" max:"9007199254740991"`
}

// events lists what happened in a run, the oldest first: its beginning, its messages, its end. A run that is not there
// has nothing.
func (g *Group) events(ctx context.Context, in *eventsIn) ([]rowJSON, error) {
	run, err := g.Mine(ctx).Run(ctx, in.Run)
	if errors.Is(err, store.ErrNotFound) || err == nil && run.ThreadID != in.ID {
		return []rowJSON{}, nil
	}
	var msgs []history.Message
	if err == nil {
		msgs, err = g.messagesOf(ctx, run)
	}
	if err != nil {
		return nil, err
	}
	all, err := g.told(ctx, run, msgs)
	types := strings.Split(in.Types, ",")
	return first(in.Limit, slices.DeleteFunc(all, func(e rowJSON) bool {
		return e.Seq <= int64(in.After) || in.Types != "" && !slices.Contains(types, e.EventType) ||
			in.Task != "" && e.Metadata["task_id"] != in.Task
	})), err
}

func first[T any](n int, list []T) []T { return list[:min(n, len(list))] }

// messagesOf are the messages of a run, as many as an answer may have bytes.
func (g *Group) messagesOf(ctx context.Context, run store.Run) (all []history.Message, err error) {
	ask, size := history.Ask{Thread: run.ThreadID, After: 1, Limit: history.MaxPage}, 0
	for {
		p, err := g.mine(ctx).OfRun(ctx, run.ID, ask)
		if err != nil {
			return nil, err
		}
		for _, m := range p.Messages {
			size += len(m.Content)
		}
		if all = append(all, p.Messages...); !p.More || size > g.Limits.History {
			return all, nil
		}
		ask.After = all[len(all)-1].Seq
	}
}

// told are the events of a run.
func (g *Group) told(ctx context.Context, run store.Run, msgs []history.Message) ([]rowJSON, error) {
	r := g.rowsOf(ctx, store.Thread{ID: run.ThreadID})
	r.turns = false
	begin, end := int64(1), int64(1)
	if n := len(msgs); n > 0 {
		begin, end = msgs[0].Seq-1, msgs[n-1].Seq
	}
	about, err := g.about(run)
	if err != nil || run.Attempt == 0 {
		return []rowJSON{}, err
	}
	out := []rowJSON{r.event(run, "run.start", "trace", begin, map[string]any{"chain": "unknown"}, about)}
	out[0].CreatedAt = shape.Stamp(run.CreatedAt)
	out = append(out, r.list(msgs)...)
	tasks, err := g.tasks(ctx, r, run, msgs, begin)
	if err != nil || run.Active() {
		return append(out, tasks...), err
	}
	status := map[string]any{"status": statusOf(run)}
	if run.Status == event.StatusError && run.Error != store.Undelivered {
		out = append(out, r.event(run, "run.error", "error", end+1, run.Error,
			map[string]any{"error_type": "RunError"}))
	} else {
		out = append(out, r.event(run, "run.end", "outputs", end+1, map[string]any{}, status))
	}
	changes, err := g.changes(ctx, run)
	if end++; changes.Available {
		end++
		out = append(out, r.event(run, "workspace_changes", "workspace", end, changes.String(),
			map[string]any{"workspace_changes": changes.Record}))
	}
	// Behind a run there is room for two rows: the third one's place is also that of the next run's beginning.
	out = append(out, r.event(run, "run.delivery", "outputs", end+1, delivered(run, msgs, changes), nil))
	return append(out, tasks...), err
}

// statusOf is how a run came to its end: one that stopped to ask has succeeded, and one that only lacks a delivery.
func statusOf(run store.Run) string {
	if run.Error == store.Undelivered || run.Status == event.StatusInterrupted && run.StopReason == "" {
		return event.StatusSuccess
	}
	return run.Status
}

func (r *rows) event(run store.Run, typ, category string, seq int64, content any, metadata map[string]any) rowJSON {
	all := map[string]any{"content_is_json": true, "content_is_dict": true}
	if _, text := content.(string); text {
		all = map[string]any{}
	}
	maps.Copy(all, metadata)
	return rowJSON{
		ThreadID: r.thread, RunID: run.ID, UserID: r.user, EventType: typ, Category: category, Content: content,
		Seq: seq, CreatedAt: shape.Stamp(run.UpdatedAt), Metadata: all,
	}
}

// about is what the beginning of a run tells of it.
func (g *Group) about(run store.Run) (map[string]any, error) {
	req, err := runs.RequestOf(run)
	if err != nil {
		return nil, err
	}
	out := make(map[string]any)
	for name, v := range shape.Members(req.Metadata) {
		out[name] = v
	}
	options := shape.Members(req.Context)
	for _, name := range []string{"thinking_enabled", "reasoning_effort", "is_plan_mode", "subagent_enabled"} {
		out[name] = shape.Members(req.Config)[name]
		if v := options[name]; v != nil {
			out[name] = v
		}
	}
	agent := req.AssistantID
	if agent == "" || agent == shape.GraphID {
		agent = "default"
	}
	out["caller"], out["agent_name"], out["thread_id"] = caller, agent, run.ThreadID
	out["model_name"] = g.modelOf(req).Name
	return out, nil
}

// modelOf is the model that a request names, else the default one.
func (g *Group) modelOf(req runs.Request) shape.Model {
	if m, ok := shape.Find(g.Models, req.Model); ok || len(g.Models) == 0 {
		return m
	}
	return g.Models[0]
}

package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/history"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// rowJSON is something that happened in a run, as DeerFlow keeps it: a message, or an event.
type rowJSON struct {
	ThreadID  string         `json:"thread_id"`
	RunID     string         `json:"run_id"`
	UserID    string         `json:"user_id"`
	EventType string         `json:"event_type"`
	Category  string         `json:"category"`
	Content   any            `json:"content"`
	Seq       int64          `json:"seq"`
	CreatedAt string         `json:"created_at"`
	Metadata  map[string]any `json:"metadata"`
	// Feedback stands in lists of a thread's messages; nobody gives any yet.
	Feedback json.RawMessage `json:"feedback,omitempty"`
	// Versions are those of a message that has more than one.
	Versions *versionsJSON `json:"versions,omitempty"`
}

// versionsJSON says which version a message is, from 1, and of which.
type versionsJSON struct {
	Index      int      `json:"index"`
	Total      int      `json:"total"`
	MessageIDs []string `json:"message_ids"`
}

// rows makes rows of messages. turns says whether the last answer of each run tells how long that took.
type rows struct {
	*Group

	thread, user string
	seeded       string // how the runs of messages are called that no run made
	branchOf     string
	turns, all   bool
}

// rowsOf is how the messages of a thread are told.
func (g *Group) rowsOf(ctx context.Context, t store.Thread) rows {
	r := rows{Group: g, thread: t.ID, user: route.Caller(ctx).User.ID(), seeded: "checkpoint-seed-" + t.ID, turns: true}
	about := shape.Members(t.Metadata)
	if string(about[metaBranch]) == "true" {
		r.seeded = "branch-seed-" + t.ID
		r.branchOf, _ = rawjson.String(about[metaParent])
	}
	return r
}

func (r *rows) list(msgs []history.Message) []rowJSON {
	out := make([]rowJSON, len(msgs))
	last := make(map[string]int) // the last answer of each run
	for i, m := range msgs {
		if out[i] = r.row(m); m.Kind == message.AI {
			last[m.RunID] = i
		}
	}
	for run, i := range last {
		if m := msgs[i]; r.turns && run != "" && m.Status == event.StatusSuccess {
			out[i].Content = withDuration(m.Content, int(m.Ended.Sub(m.Began).Seconds()))
		}
	}
	return out
}

func (r *rows) row(m history.Message) rowJSON {
	out := rowJSON{
		ThreadID: r.thread, RunID: m.RunID, UserID: r.user, Category: "message", Content: m.Content, Seq: m.Seq,
		CreatedAt: shape.Stamp(m.At), Metadata: map[string]any{"content_is_json": true, "content_is_dict": true},
	}
	if r.all {
		out.Feedback = json.RawMessage("null")
	}
	switch m.Kind {
	case message.Human:
		out.EventType, out.Metadata["caller"] = "llm.human.input", caller
	case message.AI:
		members, _ := rawjson.Members(m.Content)
		out.EventType, out.Metadata["caller"] = "llm.ai.response", caller
		out.Metadata["usage"] = members["usage_metadata"]
		out.Metadata["latency_ms"], out.Metadata["llm_call_index"] = m.Took.Milliseconds(), m.Call
	default:
		out.EventType = "llm.tool.result"
	}
	if m.RunID == "" {
		out.RunID = fmt.Sprintf("%s-%d", r.seeded, m.Turn)
		if r.branchOf != "" {
			out.Metadata["branch_seed"], out.Metadata["branch_parent_thread_id"] = true, r.branchOf
		}
	}
	if v := m.Versions; v != nil {
		out.Versions = &versionsJSON{v.Index + 1, len(v.All), v.All}
	}
	return out
}

// caller is who asked the model.
const caller = "lead_agent"

// withDuration is a message that tells how many seconds its run took.
func withDuration(raw json.RawMessage, seconds int) json.RawMessage {
	members, ok := rawjson.Members(raw)
	if !ok {
		return raw
	}
	kwargs := shape.Members(members["additional_kwargs"])
	kwargs["turn_duration"] = json.RawMessage(strconv.Itoa(max(0, seconds)))
	members["additional_kwargs"] = route.Object(kwargs)
	return route.Object(members)
}

// window is which part of a list is wanted.
type window struct {
	Limit  int `query:"limit" default:"50" min:"1" max:"200"`
	Before int `query:"before_seq" min:"1" max:"9007199254740991"`
	After  int `query:"after_seq" min:"1" max:"9007199254740991"`
}

func (w window) of(thread string) history.Ask {
	return history.Ask{Thread: thread, Before: int64(w.Before), After: int64(w.After), Limit: w.Limit}
}

type messagesIn struct {
	ID string `path:"thread_id"`
	window
}

// messages lists messages of the branch that the thread is on: the newest, or the oldest behind a place. A thread that
// is not there has none.
func (g *Group) messages(ctx context.Context, in *messagesIn) ([]rowJSON, error) {
	list, _, err := g.read(ctx, in.of(in.ID))
	return list, err
}

// read is a page of a thread's messages.
func (g *Group) read(ctx context.Context, ask history.Ask) (list []rowJSON, more bool, err error) {
	t, err := g.Mine(ctx).Thread(ctx, ask.Thread)
	var p history.Page
	if err == nil {
		p, err = g.mine(ctx).Page(ctx, ask)
		if errors.Is(err, store.ErrNotFound) && ask.Checkpoint != "" {
			return nil, false, shape.NoCheckpoint(ask.Checkpoint)
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		return []rowJSON{}, false, nil
	}
	r := g.rowsOf(ctx, t)
	r.all = true
	return r.list(p.Messages), p.More, err
}

// backwards refuses a way forward.
type backwards bool

// ReadFrom implements [route.Reader].
func (b *backwards) ReadFrom(in *route.Input, name string) {
	*b = backwards(in.Request().URL.Query().Has(name))
}

type pageIn struct {
	ID         string    `path:"thread_id"`
	Limit      int       `query:"limit" default:"50" min:"1" max:"200"`
	Before     int       `query:"before_seq" min:"1" max:"9007199254740991"`
	After      backwards `query:"after_seq"`
	Checkpoint string    `query:"checkpoint_id"`
}

type pageJSON struct {
	Data []rowJSON `json:"data"`
	More bool      `json:"has_more"`
	Next *int64    `json:"next_before_seq"`
}

// page is messages, with what the next page begins at. With a checkpoint it is about the branch that ends there.
func (g *Group) page(ctx context.Context, in *pageIn) (out pageJSON, err error) {
	if in.After {
		return out, route.Failf(http.StatusUnprocessableEntity,
			"after_seq is not supported by this backward-only endpoint")
	}
	if in.Checkpoint != "" && !shape.IsCheckpoint(in.Checkpoint) {
		return out, shape.NoCheckpoint(in.Checkpoint)
	}
	ask := history.Ask{Thread: in.ID, Checkpoint: in.Checkpoint, Before: int64(in.Before), Limit: in.Limit}
	if out.Data, out.More, err = g.read(ctx, ask); err == nil && out.More {
		out.Next = &out.Data[0].Seq
	}
	return out, err
}

type runIn struct {
	ID  string `path:"thread_id"`
	Run string `path:"run_id"`
	window
}

type ofRunJSON struct {
	Data []rowJSON `json:"data"`
	More bool      `json:"has_more"`
}

// ofRun lists messages of a run, whichever branch they are on. A run that is not there has none.
func (g *Group) ofRun(ctx context.Context, in *runIn) (ofRunJSON, error) {
	p, err := g.mine(ctx).OfRun(ctx, in.Run, in.of(in.ID))
	r := g.rowsOf(ctx, store.Thread{ID: in.ID})
	return ofRunJSON{r.list(p.Messages), p.More}, err
}

type runAloneIn struct {
	Run store.Run `of:"run"`
	window
}

// ofRunAlone is ofRun for who knows the run's id alone.
func (g *Group) ofRunAlone(ctx context.Context, in *runAloneIn) (ofRunJSON, error) {
	p, err := g.mine(ctx).OfRun(ctx, in.Run.ID, in.of(in.Run.ThreadID))
	r := g.rowsOf(ctx, store.Thread{ID: in.Run.ThreadID})
	r.turns = false
	return ofRunJSON{r.list(p.Messages), p.More}, err
}

type versionsIn struct {
	Thread  store.Thread `of:"thread"`
	Message string       `path:"message_id"`
}

// versionJSON is one version of a message, as a row of it.
type versionJSON struct {
	rowJSON

	// MessageID is the version's, CheckpointID where its branch was left.
	MessageID    string `json:"message_id"`
	CheckpointID string `json:"checkpoint_id"`
	Current      bool   `json:"current"`
}

type versionListJSON struct {
	Data []versionJSON `json:"data"`
}

// versions lists the versions of a message, the oldest first.
func (g *Group) versions(ctx context.Context, in *versionsIn) (out versionListJSON, err error) {
	list, err := g.mine(ctx).Versions(ctx, in.Thread.ID, in.Message)
	if errors.Is(err, store.ErrNotFound) {
		return out, route.NotFound("Message", route.Clip(in.Message))
	}
	r := g.rowsOf(ctx, in.Thread)
	out.Data = make([]versionJSON, len(list))
	for i, v := range list {
		members, _ := rawjson.Members(v.Content)
		id, _ := rawjson.String(members["id"])
		out.Data[i] = versionJSON{r.row(v.Message), id, cmp.Or(v.Checkpoint, store.Origin), v.Current}
	}
	return out, err
}

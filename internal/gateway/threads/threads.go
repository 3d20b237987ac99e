package threads

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/frames"
)

// threadJSON is a thread as clients see it.
type threadJSON struct {
	ThreadID       string                     `json:"thread_id"`
	Status         string                     `json:"status"`
	CreatedAt      string                     `json:"created_at"`
	UpdatedAt      string                     `json:"updated_at"`
	StateUpdatedAt string                     `json:"state_updated_at"`
	Metadata       json.RawMessage            `json:"metadata"`
	Values         map[string]json.RawMessage `json:"values"`
	// Interrupts are the questions that wait for a human, by task.
	Interrupts map[string][]shape.Interrupt `json:"interrupts"`
	// Config and Error are those of the newest run; they are told of one thread alone.
	Config json.RawMessage `json:"config"`
	Error  *failureJSON    `json:"error,omitempty"`
	// FolderID is the folder that it is in, told of one thread, and in lists that select it.
	FolderID string `json:"folder_id,omitempty"`

	marksJSON
}

// marksJSON tells where a thread stands that is in no list.
type marksJSON struct {
	Archived  bool `json:"archived,omitempty"`
	Temporary bool `json:"temporary,omitempty"`
	// TrashedAt is since when it is in the bin, ExpiresAt when it is deleted for good.
	TrashedAt string `json:"trashed_at,omitempty"`
	ExpiresAt string `json:"expires_at,omitempty"`
}

// failureJSON says how a run failed.
type failureJSON struct {
	Error   string `json:"error"`
	Message string `json:"message"`
}

// briefThread is a thread without its state: of its values it has the title.
func (g *Group) briefThread(t store.Thread) threadJSON {
	out := threadJSON{
		marksJSON: g.marks(t),
		ThreadID:  t.ID, Status: t.Status, CreatedAt: shape.Stamp(t.CreatedAt), UpdatedAt: shape.Stamp(t.UpdatedAt),
		StateUpdatedAt: shape.Stamp(t.UpdatedAt), Metadata: shape.OrEmpty(t.Metadata), Config: shape.OrEmpty(nil),
		Values: make(map[string]json.RawMessage), Interrupts: make(map[string][]shape.Interrupt),
	}
	if out.Status == "" { // it was made a moment ago
		out.Status = store.ThreadIdle
	}
	addTitle(out.Values, t)
	return out
}

// addTitle gives values the thread's title if they have none.
func addTitle(values map[string]json.RawMessage, t store.Thread) {
	if name := threadstate.Title.Name(); values[name] == nil && t.Title != "" {
		values[name] = rawjson.AppendString(nil, t.Title)
	}
}

// fullThread is a thread with its state and what its newest run leaves to tell.
func (g *Group) fullThread(ctx context.Context, t store.Thread) (threadJSON, error) {
	out := g.briefThread(t)
	snap, err := g.runs(ctx).Snapshot(ctx, t.ID, "")
	if err != nil {
		return out, err
	}
	if out.Values, err = frames.VisibleValues(snap.State); err != nil {
		return out, err
	}
	addTitle(out.Values, t)
	out.Interrupts = interruptsByTask(snap)
	last, err := g.lastRun(ctx, t.ID)
	if err != nil || last.ID == "" {
		return out, err
	}
	req, err := runs.RequestOf(last)
	if err != nil {
		return out, err
	}
	out.Config = shape.OrEmpty(req.Config)
	if t.Status == store.ThreadError {
		out.Error = &failureJSON{"RunError", last.Error}
	}
	return out, nil
}

// lastRun is the newest run of a thread; the zero run if there is none.
func (g *Group) lastRun(ctx context.Context, threadID string) (store.Run, error) {
	list, err := g.Mine(ctx).ListRuns(ctx, store.RunFilter{ThreadID: threadID, Limit: 1})
	if err != nil || len(list) == 0 {
		return store.Run{}, err
	}
	return list[0], nil
}

type createIn struct {
	ID          route.ThreadID `body:"thread_id"`
	Metadata    route.Metadata `body:"metadata"`
	AssistantID string         `body:"assistant_id" max:"256"`
	IfExists    string         `body:"if_exists" enum:"do_nothing,raise"`
	Temporary   bool           `body:"temporary"`
	Supersteps  route.Rest     `body:"supersteps"`
}

// create makes a thread. One that the caller has already is answered as it is, unless if_exists is "raise": the web
// client creates its thread before each first message. With supersteps the thread begins with a state.
func (g *Group) create(ctx context.Context, in *createIn) (threadJSON, error) {
	now := g.Now()
	t := store.Thread{ID: string(in.ID), Metadata: json.RawMessage(in.Metadata), CreatedAt: now, UpdatedAt: now}
	if t.ID == "" {
		t.ID = id.New(now)
	}
	if in.Temporary {
		t.Marks = store.Temporary
	}
	updates, err := g.supersteps(in.Supersteps.Input)
	if err := errors.Join(in.Supersteps.Err(), err); err != nil {
		return threadJSON{}, err
	}
	err = g.Mine(ctx).CreateThread(ctx, t)
	if errors.Is(err, store.ErrConflict) {
		return g.existing(ctx, t.ID, in.IfExists == "raise")
	}
	if err != nil {
		return threadJSON{}, err
	}
	if len(updates) == 0 {
		return g.briefThread(t), nil
	}
	return g.begin(ctx, t.ID, updates)
}

func (g *Group) existing(ctx context.Context, id string, raise bool) (threadJSON, error) {
	t, err := g.Mine(ctx).Thread(ctx, id)
	if raise || errors.Is(err, store.ErrNotFound) { // it is another user's
		return threadJSON{}, route.Failf(http.StatusConflict, "Thread %s already exists", id)
	}
	return g.briefThread(t), err
}

// maxSupersteps bounds the updates that a thread is created with.
const maxSupersteps = 1000

// supersteps reads the updates that a new thread begins with: {"updates": [{"values", "command", "as_node"}]}, one
// after the other. Of a command only the update counts.
func (g *Group) supersteps(in *route.Input) ([]runs.StateUpdate, error) {
	var out []runs.StateUpdate
	for _, step := range in.Inputs("supersteps", maxSupersteps) {
		for _, u := range step.Inputs("updates", maxSupersteps) {
			raw := u.Raw("values")
			if raw == nil {
				raw = u.MembersOf("command")["update"]
			}
			changes, err := g.changes(u, raw)
			if err != nil {
				return nil, err
			}
			out = append(out, changes...)
			step.Take(u)
		}
		in.Take(step)
		if len(out) > maxSupersteps {
			in.Add("too_long", "List should have at most 1000 updates", nil, in.Loc("supersteps")...)
			return nil, nil
		}
	}
	return out, nil
}

// begin gives a new thread its state. If that fails there is no thread.
func (g *Group) begin(ctx context.Context, id string, updates []runs.StateUpdate) (threadJSON, error) {
	if err := g.update(ctx, id, updates); err != nil {
		return threadJSON{}, errors.Join(err, g.Delete(context.WithoutCancel(ctx), route.Caller(ctx).User, id))
	}
	return g.now(ctx, id)
}

// now is a thread as it is now.
func (g *Group) now(ctx context.Context, id string) (threadJSON, error) {
	t, err := g.Mine(ctx).Thread(ctx, id)
	if err != nil {
		return threadJSON{}, err
	}
	return g.fullThread(ctx, t)
}

// ofThread is a request about a thread.
type ofThread struct {
	Thread store.Thread `of:"thread"`
}

// get shows a thread with its state.
func (g *Group) get(ctx context.Context, in *ofThread) (threadJSON, error) {
	out, err := g.fullThread(ctx, in.Thread)
	if err != nil {
		return out, err
	}
	folder, err := g.Folders.For(route.Caller(ctx).User).Of(ctx, in.Thread.ID)
	out.FolderID = folder.ID
	return out, err
}

type patchIn struct {
	ofThread

	Metadata route.Metadata `body:"metadata"`
}

// patch changes members of a thread's metadata, each as a whole. To pin a thread does not count as an update of it.
func (g *Group) patch(ctx context.Context, in *patchIn) (threadJSON, error) {
	p := store.ThreadPatch{Metadata: json.RawMessage(in.Metadata), UpdatedAt: g.Now()}
	if onlyPin(p.Metadata) {
		p.UpdatedAt = time.Time{}
	}
	t, err := g.Mine(ctx).PatchThread(ctx, in.Thread.ID, p)
	return g.briefThread(t), err
}

func onlyPin(metadata json.RawMessage) bool {
	return string(metadata) == `{"deerflow_pinned":true}` || string(metadata) == `{"deerflow_pinned":false}`
}

type deleteIn struct {
	ID string `path:"thread_id"`
}

type deletedJSON struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

// remove removes a thread with its files. Any id can be named, so that whatever there is can be removed.
func (g *Group) remove(ctx context.Context, in *deleteIn) (out deletedJSON, err error) {
	if len(in.ID) > 256 || !utf8.ValidString(in.ID) || strings.ContainsRune(in.ID, 0) {
		return out, route.NotFound("Thread", route.Clip(in.ID))
	}
	err = g.Delete(ctx, route.Caller(ctx).User, in.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return out, route.NotFound("Thread", in.ID)
	case errors.Is(err, store.ErrConflict):
		return out, route.Failf(http.StatusConflict, "Thread has work in flight. Delete it after the work finishes.")
	case err != nil:
		return out, err
	}
	return deletedJSON{true, "Deleted local thread data for " + in.ID}, nil
}

// copy makes a thread with the metadata and the checkpoints of another one. Its files are not copied, nor are its runs:
// the new thread's status is idle.
func (g *Group) copy(ctx context.Context, in *ofThread) (threadJSON, error) {
	now := g.Now()
	to := store.Thread{ID: id.New(now), Title: in.Thread.Title, CreatedAt: now, UpdatedAt: now}
	to.Metadata = shape.With(in.Thread.Metadata, map[string]string{"thread_id": to.ID})
	if err := g.Mine(ctx).CopyThread(ctx, in.Thread.ID, "", to); err != nil {
		return threadJSON{}, err
	}
	return g.now(ctx, to.ID)
}

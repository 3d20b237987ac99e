package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
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
	Interrupts map[string][]interruptJSON `json:"interrupts"`
	// Config and Error are those of the newest run; they are told of one thread alone.
	Config json.RawMessage `json:"config"`
	Error  *failureJSON    `json:"error,omitempty"`
}

// failureJSON says how a run failed.
type failureJSON struct {
	Error   string `json:"error"`
	Message string `json:"message"`
}

// briefThread is a thread without its state: of its values it has the title.
func briefThread(t store.Thread) threadJSON {
	out := threadJSON{
		ThreadID: t.ID, Status: t.Status, CreatedAt: stamp(t.CreatedAt), UpdatedAt: stamp(t.UpdatedAt),
		StateUpdatedAt: stamp(t.UpdatedAt), Metadata: orEmpty(t.Metadata), Config: orEmpty(nil),
		Values: make(map[string]json.RawMessage), Interrupts: make(map[string][]interruptJSON),
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
func (s *Server) fullThread(ctx context.Context, t store.Thread) (threadJSON, error) {
	out := briefThread(t)
	snap, err := s.runs(ctx).Snapshot(ctx, t.ID, "")
	if err != nil {
		return out, err
	}
	if out.Values, err = s.values(snap.State); err != nil {
		return out, err
	}
	addTitle(out.Values, t)
	out.Interrupts = interruptsByTask(snap)
	last, err := s.lastRun(ctx, t.ID)
	if err != nil || last.ID == "" {
		return out, err
	}
	var req runs.Request
	if err := json.Unmarshal(last.Request, &req); err != nil {
		return out, err
	}
	out.Config = orEmpty(req.Config)
	if t.Status == store.ThreadError {
		out.Error = &failureJSON{"RunError", last.Error}
	}
	return out, nil
}

// lastRun is the newest run of a thread; the zero run if there is none.
func (s *Server) lastRun(ctx context.Context, threadID string) (store.Run, error) {
	list, err := s.mine(ctx).ListRuns(ctx, store.RunFilter{ThreadID: threadID, Limit: 1})
	if err != nil || len(list) == 0 {
		return store.Run{}, err
	}
	return list[0], nil
}

// createThread makes a thread. One that the caller has already is answered as it is, unless if_exists is "raise": the web
// client creates its thread before each first message. With supersteps the thread begins with a state.
func (s *Server) createThread(w http.ResponseWriter, r *http.Request) error {
	in, err := s.body(w, r, true)
	if err != nil {
		return err
	}
	now := s.Now()
	t := store.Thread{ID: in.threadID("thread_id"), Metadata: in.metadata("metadata"), CreatedAt: now, UpdatedAt: now}
	if t.ID == "" {
		t.ID = id.New(now)
	}
	_ = in.text("assistant_id", 256)
	raise := in.oneOf("if_exists", "do_nothing", "raise") == "raise"
	updates, err := s.supersteps(in)
	if err := errors.Join(in.err(), err); err != nil {
		return err
	}
	err = s.mine(r.Context()).CreateThread(r.Context(), t)
	if errors.Is(err, store.ErrConflict) {
		return s.existingThread(w, r, t.ID, raise)
	}
	if err != nil {
		return err
	}
	if len(updates) == 0 {
		return reply(w, http.StatusOK, briefThread(t))
	}
	return s.beginThread(w, r, t.ID, updates)
}

func (s *Server) existingThread(w http.ResponseWriter, r *http.Request, id string, raise bool) error {
	t, err := s.mine(r.Context()).Thread(r.Context(), id)
	if raise || errors.Is(err, store.ErrNotFound) { // it is another user's
		return failf(http.StatusConflict, "Thread %s already exists", id)
	}
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, briefThread(t))
}

// maxSupersteps bounds the updates that a thread is created with.
const maxSupersteps = 1000

// supersteps reads the updates that a new thread begins with: {"updates": [{"values", "command", "as_node"}]}, one after the
// other. Of a command only the update counts.
func (s *Server) supersteps(in *input) ([]runs.StateUpdate, error) {
	var out []runs.StateUpdate
	for _, step := range in.inputs("supersteps", maxSupersteps) {
		for _, u := range step.inputs("updates", maxSupersteps) {
			raw := u.raw("values")
			if raw == nil {
				raw = u.membersOf("command")["update"]
			}
			changes, err := s.changes(u, raw)
			if err != nil {
				return nil, err
			}
			out = append(out, changes...)
			step.faults = append(step.faults, u.faults...)
		}
		in.faults = append(in.faults, step.faults...)
		if len(out) > maxSupersteps {
			in.add("too_long", "List should have at most 1000 updates", nil, in.loc("supersteps")...)
			return nil, nil
		}
	}
	return out, nil
}

// beginThread gives a new thread its state. If that fails there is no thread.
func (s *Server) beginThread(w http.ResponseWriter, r *http.Request, id string, updates []runs.StateUpdate) error {
	err := s.update(r.Context(), id, updates)
	if err != nil {
		return errors.Join(err, s.DeleteThread(context.WithoutCancel(r.Context()), caller(r.Context()).User, id))
	}
	t, err := s.mine(r.Context()).Thread(r.Context(), id)
	if err != nil {
		return err
	}
	return s.replyThread(w, r, t)
}

func (s *Server) replyThread(w http.ResponseWriter, r *http.Request, t store.Thread) error {
	out, err := s.fullThread(r.Context(), t)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, out)
}

// getThread shows a thread with its state.
func (s *Server) getThread(w http.ResponseWriter, r *http.Request) error {
	t, err := s.ownThread(r)
	if err != nil {
		return err
	}
	return s.replyThread(w, r, t)
}

// patchThread changes members of a thread's metadata, each as a whole. To pin a thread does not count as an update of it.
func (s *Server) patchThread(w http.ResponseWriter, r *http.Request) error {
	if _, err := thread(r); err != nil {
		return err
	}
	in, err := s.body(w, r, false)
	if err != nil {
		return err
	}
	p := store.ThreadPatch{Metadata: in.metadata("metadata"), UpdatedAt: s.Now()}
	if err := in.err(); err != nil {
		return err
	}
	if onlyPin(p.Metadata) {
		p.UpdatedAt = time.Time{}
	}
	t, err := s.ownThread(r)
	if err != nil {
		return err
	}
	if t, err = s.mine(r.Context()).PatchThread(r.Context(), t.ID, p); err != nil {
		return err
	}
	return reply(w, http.StatusOK, briefThread(t))
}

func onlyPin(metadata json.RawMessage) bool {
	return string(metadata) == `{"deerflow_pinned":true}` || string(metadata) == `{"deerflow_pinned":false}`
}

// deleteThread removes a thread with its files. Any id can be named, so that whatever there is can be removed.
func (s *Server) deleteThread(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("thread_id")
	if len(id) > 256 || !utf8.ValidString(id) || strings.ContainsRune(id, 0) {
		return notFound("Thread", clip(id))
	}
	err := s.DeleteThread(r.Context(), caller(r.Context()).User, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return notFound("Thread", id)
	case errors.Is(err, store.ErrConflict):
		return failf(http.StatusConflict, "Thread has work in flight. Delete it after the work finishes.")
	case err != nil:
		return err
	}
	return reply(w, http.StatusOK, struct {
		Success bool   `json:"success"`
		Message string `json:"message"`
	}{true, "Deleted local thread data for " + id})
}

// copyThread makes a thread with the metadata and the checkpoints of another one. Its files are not copied, nor are its
// runs: the new thread's status is idle.
func (s *Server) copyThread(w http.ResponseWriter, r *http.Request) error {
	t, err := s.ownThread(r)
	if err != nil {
		return err
	}
	now := s.Now()
	to := store.Thread{ID: id.New(now), Title: t.Title, CreatedAt: now, UpdatedAt: now}
	members, _ := rawjson.Members(orEmpty(t.Metadata))
	members["thread_id"] = rawjson.AppendString(nil, to.ID)
	to.Metadata = object(members)
	if err := s.mine(r.Context()).CopyThread(r.Context(), t.ID, to); err != nil {
		return err
	}
	if to, err = s.mine(r.Context()).Thread(r.Context(), to.ID); err != nil {
		return err
	}
	return s.replyThread(w, r, to)
}

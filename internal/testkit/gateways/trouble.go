package gateways

import (
	"context"
	"encoding/json"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Trouble is what a request meets in the store: its n-th call fails, or what it reads is spoiled.
type Trouble struct {
	N     int64 // of the call that fails; 0 is none
	Calls atomic.Int64
	Spoil func(*store.Run)

	SpoilState func(*store.Checkpoint)
}

// Unsound has every state that is read hold a message that is no JSON.
func Unsound() *Trouble {
	bad := message.New(message.Human, "x")
	bad.ID, bad.Kwargs = "bad", message.Fields{"k": json.RawMessage("{")}
	return &Trouble{SpoilState: func(cp *store.Checkpoint) {
		next, _, err := cp.State.Apply(agent.Messages.Append(bad))
		if err != nil {
			panic(err)
		}
		cp.State = next
	}}
}

// TroubleKey is where the context of a request has its trouble.
type TroubleKey struct{}

// Troubled gives a request a trouble.
func Troubled(r *http.Request, t *Trouble) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), TroubleKey{}, t))
}

// faulty is a store with which only requests with a trouble have one. What they are refused is not done.
type faulty struct{ database.Store }

func ask(ctx context.Context, do func() error) error {
	_, err := askFor(ctx, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

func askFor[T any](ctx context.Context, do func() (T, error)) (T, error) {
	t, _ := ctx.Value(TroubleKey{}).(*Trouble)
	if t == nil {
		return do()
	}
	if t.Calls.Add(1) == t.N {
		var none T
		return none, store.ErrUnreachable
	}
	v, err := do()
	switch v := any(&v).(type) {
	case *store.Run:
		if t.Spoil != nil {
			t.Spoil(v)
		}
	case *[]store.Run:
		for i := range *v {
			if t.Spoil != nil {
				t.Spoil(&(*v)[i])
			}
		}
	case *store.Checkpoint:
		if t.SpoilState != nil && err == nil {
			t.SpoilState(v)
		}
	}
	return v, err
}

// faultyData is what a user has in a faulty store.
type faultyData struct{ store.UserData }

// For implements store.Store.
func (f faulty) For(u access.User) store.UserData { return faultyData{f.Store.For(u)} }

func (f faultyData) CreateThread(ctx context.Context, t store.Thread) error {
	return ask(ctx, func() error { return f.UserData.CreateThread(ctx, t) })
}

func (f faultyData) Thread(ctx context.Context, id string) (store.Thread, error) {
	return askFor(ctx, func() (store.Thread, error) { return f.UserData.Thread(ctx, id) })
}

func (f faultyData) Taken(ctx context.Context, id string) (bool, error) {
	return askFor(ctx, func() (bool, error) { return f.UserData.Taken(ctx, id) })
}

func (f faultyData) SearchThreads(ctx context.Context, of store.ThreadFilter) ([]store.Thread, error) {
	return askFor(ctx, func() ([]store.Thread, error) { return f.UserData.SearchThreads(ctx, of) })
}

func (f faultyData) CountThreads(ctx context.Context, of store.ThreadFilter) (int, error) {
	return askFor(ctx, func() (int, error) { return f.UserData.CountThreads(ctx, of) })
}

func (f faultyData) PatchThread(ctx context.Context, id string, p store.ThreadPatch) (store.Thread, error) {
	return askFor(ctx, func() (store.Thread, error) { return f.UserData.PatchThread(ctx, id, p) })
}

func (f faultyData) CopyThread(ctx context.Context, from, at string, to store.Thread) error {
	return ask(ctx, func() error { return f.UserData.CopyThread(ctx, from, at, to) })
}

func (f faultyData) DeleteThread(ctx context.Context, id string) error {
	return ask(ctx, func() error { return f.UserData.DeleteThread(ctx, id) })
}

func (f faultyData) Admit(ctx context.Context, a store.Admission) (store.Run, error) {
	return askFor(ctx, func() (store.Run, error) { return f.UserData.Admit(ctx, a) })
}

func (f faultyData) Run(ctx context.Context, id string) (store.Run, error) {
	return askFor(ctx, func() (store.Run, error) { return f.UserData.Run(ctx, id) })
}

func (f faultyData) ListRuns(ctx context.Context, of store.RunFilter) ([]store.Run, error) {
	return askFor(ctx, func() ([]store.Run, error) { return f.UserData.ListRuns(ctx, of) })
}

func (f faultyData) StopRun(ctx context.Context, id, action string, now time.Time) (store.Run, error) {
	return askFor(ctx, func() (store.Run, error) { return f.UserData.StopRun(ctx, id, action, now) })
}

func (f faultyData) DeleteRun(ctx context.Context, id string) error {
	return ask(ctx, func() error { return f.UserData.DeleteRun(ctx, id) })
}

func (f faultyData) Write(ctx context.Context, threadID string, s store.Step) (string, error) {
	return askFor(ctx, func() (string, error) { return f.UserData.Write(ctx, threadID, s) })
}

func (f faultyData) Checkpoint(ctx context.Context, schema state.Schema, threadID,
	id string) (store.Checkpoint, error) {
	return askFor(ctx, func() (store.Checkpoint, error) { return f.UserData.Checkpoint(ctx, schema, threadID, id) })
}

func (f faultyData) FirstCheckpoint(ctx context.Context, runID string) (store.Checkpoint, error) {
	return askFor(ctx, func() (store.Checkpoint, error) { return f.UserData.FirstCheckpoint(ctx, runID) })
}

func (f faultyData) Checkpoints(ctx context.Context, threadID, before string, limit int) ([]store.Checkpoint, error) {
	return askFor(ctx, func() ([]store.Checkpoint,
		error) {
		return f.UserData.Checkpoints(ctx, threadID, before, limit)
	})
}

// Events are the names of frames.
func (f faultyData) Events(ctx context.Context, runID string, after event.ID, limit int) ([]event.Event, error) {
	return askFor(ctx, func() ([]event.Event, error) { return f.UserData.Events(ctx, runID, after, limit) })
}

// Feature is what a feature has in a faulty store.
func (f faulty) Feature(name string) database.DB { return faultyDB{f.Store.Feature(name)} }

type faultyDB struct{ database.DB }

// For implements store.Store.
func (f faultyDB) For(u access.User) database.Bound { return faultyBound{f.DB.For(u)} }

// System implements database.DB. What is written by it is beside the request, such as rows of the audit log.
func (f faultyDB) System() database.Bound {
	all := f.DB.System()
	return struct {
		reader
		writer
	}{faultyBound{all}, all}
}

type (
	reader interface {
		Read(ctx context.Context, statement string, scan func(database.Row) (bool, error), args ...any) error
	}
	writer interface {
		Write(ctx context.Context, size int, do func(database.Tx) error) error
	}
)

type faultyBound struct{ database.Bound }

func (f faultyBound) Read(ctx context.Context, statement string, scan func(database.Row) (bool, error),
	args ...any) error {
	return ask(ctx, func() error { return f.Bound.Read(ctx, statement, scan, args...) })
}

func (f faultyBound) Write(ctx context.Context, size int, do func(database.Tx) error) error {
	return ask(ctx, func() error { return f.Bound.Write(ctx, size, do) })
}

package sqlstore_test

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
)

// attempt is something that a user tries by the ids of what may be somebody else's.
type attempt struct {
	name string
	// want is the error where the ids are somebody else's; nil if nothing is found, and nothing happens.
	want error
	try  func(ctx context.Context, of store.UserData) (found any, err error)
}

// anothers: whatever bob tries with the ids of what is ann's, he finds nothing, nothing of hers changes, and his
// attempts with ids that nobody has end in the same way.
func anothers(f *fixture) {
	hers := f.furnish()
	before := f.held(hers)
	bob := f.as("bob")
	for id, want := range map[string]bool{hers.thread: true, "nobody's": false} {
		for user, want := range map[store.UserData]bool{bob: want, f.UserData: false} {
			taken, err := user.Taken(f.Context(), id)
			f.must(err)
			f.equal("taken", taken, want)
		}
	}
	for _, a := range attempts(f, hers) {
		found, err := a.try(f.Context(), bob)
		if a.want != nil {
			f.want(err, a.want, "")
		} else {
			f.must(err)
		}
		if v := reflect.ValueOf(found); err == nil && v.IsValid() && !v.IsZero() {
			f.Errorf("%s: bob finds %+v", a.name, found)
		}
		f.equal("ann's after "+a.name, f.held(hers), before)
	}
	f.sound()
}

// nobodys: without a user nothing is found or done, whatever the ids are.
func nobodys(f *fixture) {
	hers := f.furnish()
	before := f.held(hers)
	for _, a := range attempts(f, hers) {
		_, err := a.try(f.Context(), f.For(access.User{}))
		f.want(err, access.ErrNoUser, "")
	}
	f.equal("ann's", f.held(hers), before)
}

// belongings are ids of what a user has.
type belongings struct {
	thread, first, run string // with its first checkpoint and a run that is at its end
	waiting            string // a run of the thread that waits
}

// furnish gives ann one of everything.
func (f *fixture) furnish() belongings {
	f.Helper()
	o := f.running("hers")
	first := o.say("hello")
	o.end()
	return belongings{
		thread: o.thread, first: first, run: o.fence.RunID, waiting: f.run("waiting", o.thread).ID,
	}
}

// held is what ann has of it.
func (f *fixture) held(of belongings) []any {
	f.Helper()
	t, err := f.Thread(f.Context(), of.thread)
	f.must(err)
	rs, err := f.ListRuns(f.Context(), store.RunFilter{})
	f.must(err)
	evs, err := f.Events(f.Context(), of.run, event.ID{}, 100)
	f.must(err)
	return []any{t, rs, evs, f.texts(of.thread, "")}
}

// attempts are all methods of a user's data, each with the ids.
func attempts(f *fixture, of belongings) []attempt {
	return slices.Concat(attemptsAtThreads(of), attemptsAtRuns(f, of), attemptsAtLogs(f, of))
}

func attemptsAtThreads(of belongings) []attempt {
	return []attempt{
		{"CreateThread", store.ErrConflict, func(ctx context.Context, d store.UserData) (any, error) {
			return nil, d.CreateThread(ctx, store.Thread{ID: of.thread})
		}},
		{"Thread", store.ErrNotFound,
			func(ctx context.Context, d store.UserData) (any, error) { return d.Thread(ctx, of.thread) }},
		{"SearchThreads without ids", nil, func(ctx context.Context, d store.UserData) (any, error) {
			return d.SearchThreads(ctx, store.ThreadFilter{})
		}},
		{"SearchThreads", nil, func(ctx context.Context, d store.UserData) (any, error) {
			return d.SearchThreads(ctx, store.ThreadFilter{IDs: []string{of.thread}})
		}},
		{"CountThreads", nil, func(ctx context.Context, d store.UserData) (any, error) {
			return d.CountThreads(ctx, store.ThreadFilter{})
		}},
		{"PatchThread", store.ErrNotFound, func(ctx context.Context, d store.UserData) (any, error) {
			return d.PatchThread(ctx, of.thread, store.ThreadPatch{Metadata: []byte(`{"a":2}`)})
		}},
		{"CopyThread", store.ErrNotFound, func(ctx context.Context, d store.UserData) (any, error) {
			return nil, d.CopyThread(ctx, of.thread, "", store.Thread{ID: "copy"})
		}},
		{"DeleteThread", store.ErrNotFound, func(ctx context.Context, d store.UserData) (any, error) {
			return nil, d.DeleteThread(ctx, of.thread)
		}},
		{"DumpThread", store.ErrNotFound, func(ctx context.Context, d store.UserData) (any, error) {
			var b bytes.Buffer
			n, err := d.DumpThread(ctx, of.thread, &b)
			return fmt.Sprint(b.String(), n), err
		}},
	}
}

func attemptsAtRuns(f *fixture, of belongings) []attempt {
	admit := func(run, thread string, mustExist bool, how store.Strategy) func(context.Context,
		store.UserData) (any, error) {
		return func(ctx context.Context, d store.UserData) (any, error) {
			return d.Admit(ctx,
				store.Admission{Run: store.Run{ID: run, ThreadID: thread, Owner: "node-1", CreatedAt: start},
					Thread: store.Thread{ID: thread, Title: "his", Metadata: []byte(`{"his":1}`)}, MustExist: mustExist,
					Strategy: how})
		}
	}
	return []attempt{
		{"Admit", store.ErrNotFound, admit("his", of.thread, true, store.Interrupt)},
		{"Admit with the thread", store.ErrNotFound, admit("his", of.thread, false, store.Rollback)},
		{"Admit with a run's id", store.ErrConflict, admit(of.run, "another", false, store.Reject)},
		{"Run", store.ErrNotFound,
			func(ctx context.Context, d store.UserData) (any, error) { return d.Run(ctx, of.run) }},
		{"ListRuns", nil, func(ctx context.Context, d store.UserData) (any,
			error) {
			return d.ListRuns(ctx, store.RunFilter{})
		}},
		{"ListRuns of the thread", nil, func(ctx context.Context, d store.UserData) (any, error) {
			return d.ListRuns(ctx, store.RunFilter{ThreadID: of.thread, Statuses: []string{event.StatusSuccess}})
		}},
		{"StopRun", store.ErrNotFound, func(ctx context.Context, d store.UserData) (any, error) {
			return d.StopRun(ctx, of.waiting, store.StopInterrupt, f.now)
		}},
		{"Position", store.ErrNotFound,
			func(ctx context.Context, d store.UserData) (any, error) { return d.Position(ctx, of.waiting) }},
		{"DeleteRun", store.ErrNotFound,
			func(ctx context.Context, d store.UserData) (any, error) { return nil, d.DeleteRun(ctx, of.run) }},
	}
}

func attemptsAtLogs(f *fixture, of belongings) []attempt {
	step := store.Step{Parent: of.first, Updates: []store.NodeUpdate{{Node: "his", Update: title.Put("his")}},
		Now: f.now}
	checkpoint := func(id string) func(context.Context, store.UserData) (any, error) {
		return func(ctx context.Context, d store.UserData) (any, error) {
			c, err := d.Checkpoint(ctx, schema(f.T), of.thread, id)
			return c.ID, err
		}
	}
	return []attempt{
		{"Write", store.ErrNotFound,
			func(ctx context.Context, d store.UserData) (any, error) { return d.Write(ctx, of.thread, step) }},
		{"Checkpoint", store.ErrNotFound, checkpoint(of.first)},
		{"Checkpoint of the head", store.ErrNotFound, checkpoint("")},
		{"Checkpoint of the origin", store.ErrNotFound, checkpoint(store.Origin)},
		{"FirstCheckpoint", store.ErrNotFound, func(ctx context.Context, d store.UserData) (any, error) {
			return d.FirstCheckpoint(ctx, of.run)
		}},
		{"Checkpoints", store.ErrNotFound, func(ctx context.Context, d store.UserData) (any, error) {
			return d.Checkpoints(ctx, of.thread, "", 10)
		}},
		{"Events", store.ErrNotFound, func(ctx context.Context, d store.UserData) (any, error) {
			return d.Events(ctx, of.run, event.ID{}, 10)
		}},
	}
}

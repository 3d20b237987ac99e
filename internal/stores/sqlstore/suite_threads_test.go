package sqlstore_test

import (
	"encoding/json"
	"fmt"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

func threadRoundTrip(f *fixture) {
	want := f.thread("t 1/ä'")
	got, err := f.Thread(f.Context(), want.ID)
	f.must(err)
	f.equal("thread", got, want)

	want.Title = "second"
	f.want(f.CreateThread(f.Context(), want), store.ErrConflict, want.ID)
	got, err = f.Thread(f.Context(), want.ID)
	f.must(err)
	f.equal("title after conflict", got.Title, "Title of "+want.ID)

	f.must(f.CreateThread(f.Context(), store.Thread{ID: "bare"}))
	got, err = f.Thread(f.Context(), "bare")
	f.must(err)
	f.equal("metadata of nil", string(got.Metadata), "{}")
	f.equal("zero time", got.CreatedAt.IsZero(), true)

	_, err = f.Thread(f.Context(), "nobody")
	f.want(err, store.ErrNotFound, "nobody")
}

func threadBadInput(f *fixture) {
	for _, t := range []store.Thread{{ID: ""}, {ID: "a\x00b"}, {ID: "m", Metadata: json.RawMessage(`[1]`)},
		{ID: "m", Metadata: json.RawMessage(`{`)}, {ID: "m", Metadata: json.RawMessage(`null`)}} {
		if err := f.CreateThread(f.Context(), t); err == nil {
			f.Errorf("CreateThread(%q, %s) took it", t.ID, t.Metadata)
		}
	}
}

func threadList(f *fixture) {
	var want []string
	for i := range 5 {
		want = append([]string{f.thread(fmt.Sprint("t", i)).ID}, want...)
	}
	f.must(f.as("bob").CreateThread(f.Context(), store.Thread{ID: "other"}))
	f.equal("all", f.threadIDs(1000, 0), want)
	f.equal("page", f.threadIDs(2, 1), want[1:3])
	f.equal("behind the end", f.threadIDs(2, 5), []string(nil))

	// A commit brings its thread to the front.
	f.run("r", "t0")
	o := &owner{f: f, thread: "t0", fence: f.claim("r", 0)}
	step := o.step(title.Put("x"))
	o.commit(step)
	f.equal("after a commit", f.threadIDs(1, 0), []string{"t0"})
	t, err := f.Thread(f.Context(), "t0")
	f.must(err)
	f.equal("updated", t.UpdatedAt, step.Now)
}

func (f *fixture) threadIDs(limit, offset int) []string {
	f.Helper()
	ts, err := f.SearchThreads(f.Context(), store.ThreadFilter{Limit: limit, Offset: offset})
	f.must(err)
	var ids []string
	for _, t := range ts {
		ids = append(ids, t.ID)
	}
	return ids
}

// threadMarks: the bin, what it says of when, and that who puts a thread away keeps it.
func threadMarks(f *fixture) {
	o := f.running("a")
	f.queue(store.Enqueue, store.Run{ID: "waits", ThreadID: o.thread})
	change := func(p store.ThreadPatch) store.Thread {
		f.Helper()
		got, err := f.PatchThread(f.Context(), o.thread, p)
		f.must(err)
		stored, err := f.Thread(f.Context(), o.thread)
		f.must(err)
		f.equal("as stored", stored, got)
		return got
	}
	at := f.tick()
	t := change(store.ThreadPatch{Set: store.Trashed, TrashedAt: at})
	f.equal("in the bin", t.Trashed(), true)
	f.equal("since", t.TrashedAt, at)
	f.equal("what waited", f.stored("waits").Status, event.StatusInterrupted)
	f.equal("what runs is told to stop", f.stored("run-a").Stop, store.StopInterrupt)
	t = change(store.ThreadPatch{Set: store.Trashed, TrashedAt: f.tick()})
	f.equal("still since", t.TrashedAt, at)
	t = change(store.ThreadPatch{Clear: store.Trashed})
	f.equal("restored", t.Trashed(), false)
	f.equal("restored: since", t.TrashedAt.IsZero(), true)

	change(store.ThreadPatch{Set: store.Temporary})
	t = change(store.ThreadPatch{Set: store.Archived})
	f.equal("put away", t.Marks, store.Archived)
}

func threadDelete(f *fixture) {
	keep := f.running("keep")
	kept := keep.say("stays")
	o := f.running("gone")
	id := o.say("goes")
	f.want(f.DeleteThread(f.Context(), o.thread), store.ErrConflict, o.thread)
	o.end()
	f.run("second", o.thread)
	f.want(f.DeleteThread(f.Context(), o.thread), store.ErrConflict, o.thread)
	second := &owner{f: f, thread: o.thread, fence: f.claim("second", 0)}
	second.end()
	f.must(f.DeleteThread(f.Context(), o.thread))

	f.want(f.DeleteThread(f.Context(), o.thread), store.ErrNotFound, o.thread)
	_, err := f.Thread(f.Context(), o.thread)
	f.want(err, store.ErrNotFound, "")
	_, err = f.UserData.Run(f.Context(), "second")
	f.want(err, store.ErrNotFound, "")
	_, err = f.Events(f.Context(), o.fence.RunID, event.ID{}, 10)
	f.want(err, store.ErrNotFound, o.fence.RunID)
	_, err = f.Checkpoint(f.Context(), schema(f.T), o.thread, id)
	f.want(err, store.ErrNotFound, id)
	_, err = f.Commit(f.Context(), o.fence, store.Step{Now: f.tick()})
	f.want(err, store.ErrFenced, o.fence.RunID)

	// The id is free again, and nothing of the old thread shows.
	f.thread(o.thread)
	cs, err := f.Checkpoints(f.Context(), o.thread, "", 10)
	f.must(err)
	f.equal("checkpoints of the new thread", len(cs), 0)
	c, err := f.Checkpoint(f.Context(), schema(f.T), keep.thread, "")
	f.must(err)
	f.equal("head of the other thread", c.ID, kept)
}

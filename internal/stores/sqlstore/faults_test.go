package sqlstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/assistants"
	"github.com/pudu-ai/pudu/internal/feature/items"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

// trial is something to do with a store, while one use of its database after the other fails.
type trial struct {
	prepare func(*trial) // what is there before; nil is nothing
	do      func(*trial) error
	reads   bool // it changes nothing that is in a dump
	pieces  bool // it may end between two of its transactions

	t    *testing.T
	s    *Store
	talk *talk
	n    int // counts the tries
}

// id is a new one for each try.
func (r *trial) id(name string) string { return fmt.Sprint(name, r.n) }

func (r *trial) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// admits makes a run that waits, on a thread of its own.
func (r *trial) admits(run string) {
	r.t.Helper()
	_, err := r.s.For(ann()).Admit(r.t.Context(), admission(run, run+" thread"))
	r.must(err)
}

// converses makes a thread with runs, checkpoints and snapshots.
func (r *trial) converses() {
	r.talk = newTalk(r.t, r.s, 1)
	r.talk.turn(300)
	r.talk.begin("hello")
	for i := range 12 {
		r.talk.commit(r.talk.step("model", "model", chats.Reset(chat{ID: "a", Content: r.talk.text(3000)}).
			With(turns.Put(i))))
	}
}

// branches leaves snapshots that nothing is read from.
func (r *trial) branches() {
	step := func(parent string) string {
		words := chats.Reset(chat{ID: r.talk.uuid(), Content: r.talk.text(1000)})
		c := forkOf(r.talk.fence, r.talk.step("model", "model", words), parent)
		r.must(r.s.commit(r.t.Context(), checkFence, c))
		return c.id
	}
	root := step("")
	for range 3 {
		step("")
		step(root)
	}
	c, err := r.s.Collect(r.t.Context(), store.Retention{Snapshots: r.talk.now.Add(time.Hour), DryRun: true})
	if err != nil || c.Snapshots == 0 {
		r.t.Fatalf("%+v, %v", c, err)
	}
}

func err1[T any](_ T, err error) error { return err }

// trials are the uses of a store, by what they are.
func trials() map[string]*trial {
	conversed := (*trial).converses
	collected := func(r *trial) { r.converses(); r.branches(); r.talk.ai("a few words", true) }
	now := time.UnixMicro(1_000_000)
	object := json.RawMessage(`{"a":1}`)
	item := items.Item{Namespace: []string{"space"}, Key: "key", Value: object, CreatedAt: now, UpdatedAt: now}
	assistant := assistants.Assistant{ID: "deer", GraphID: "graph", Name: "Deer", Metadata: object, CreatedAt: now,
		UpdatedAt: now}
	putItem := func(r *trial) { r.must(items.New(r.s).For(ann()).Put(r.t.Context(), item)) }
	assisted := func(r *trial) {
		r.must(assistants.New(r.s).For(ann()).Create(r.t.Context(), assistant))
		r.must(err1(assistants.New(r.s).For(ann()).Update(r.t.Context(), assistant)))
	}
	waits := func(r *trial) { r.admits("waits") }
	runs := func(r *trial) {
		r.admits("runs")
		r.must(err1(r.s.ClaimRun(r.t.Context(), "runs", "owner", 0, now)))
	}
	ended := func(r *trial) {
		r.admits("ended")
		r.must(err1(r.s.For(ann()).StopRun(r.t.Context(), "ended", store.StopInterrupt, now)))
	}
	return map[string]*trial{
		"create thread": {do: func(r *trial) error {
			return r.s.For(ann()).CreateThread(r.t.Context(), store.Thread{ID: "thread"})
		}},
		"thread": {reads: true, prepare: waits,
			do: func(r *trial) error { return err1(r.s.Thread(r.t.Context(), "waits thread")) }},
		"search threads": {reads: true, prepare: waits, do: func(r *trial) error {
			return err1(r.s.For(ann()).SearchThreads(r.t.Context(),
				store.ThreadFilter{Pinned: true, Status: store.ThreadBusy}))
		}},
		"search threads by metadata": {reads: true, prepare: func(r *trial) {
			for i := range 3 {
				r.must(r.s.For(ann()).CreateThread(r.t.Context(), store.Thread{ID: fmt.Sprint(i), Metadata: object}))
			}
		}, do: func(r *trial) error {
			return err1(r.s.For(ann()).SearchThreads(r.t.Context(),
				store.ThreadFilter{Metadata: map[string]json.RawMessage{"a": json.RawMessage("1")}}))
		}},
		"count threads": {reads: true, prepare: waits, do: func(r *trial) error {
			return err1(r.s.For(ann()).CountThreads(r.t.Context(),
				store.ThreadFilter{Metadata: map[string]json.RawMessage{"a": json.RawMessage("1")},
					Status: store.ThreadBusy}))
		}},
		"patch thread": {prepare: waits, do: func(r *trial) error {
			title := "Deer"
			return err1(r.s.For(ann()).PatchThread(r.t.Context(), "waits thread",
				store.ThreadPatch{Metadata: object, Title: &title, UpdatedAt: now}))
		}},
		"copy thread": {prepare: conversed, do: func(r *trial) error {
			return r.s.For(ann()).CopyThread(r.t.Context(), r.talk.thread, "", store.Thread{ID: "copy"})
		}},
		"delete thread": {prepare: ended,
			do: func(r *trial) error { return r.s.For(ann()).DeleteThread(r.t.Context(), "ended thread") }},

		"admit": {do: func(r *trial) error {
			return err1(r.s.For(ann()).Admit(r.t.Context(), admission("run", "thread")))
		}},
		"admit with a key": {do: func(r *trial) error {
			a := admission("run", "thread")
			a.Run.Key, a.MaxPending = "key", 10
			return err1(r.s.For(ann()).Admit(r.t.Context(), a))
		}},
		"admit behind": {prepare: runs, do: func(r *trial) error {
			a := admission("run", "runs thread")
			a.Strategy, a.Thread.Metadata = store.Interrupt, object
			return err1(r.s.For(ann()).Admit(r.t.Context(), a))
		}},
		"admit and begin": {prepare: ended, do: func(r *trial) error {
			a := admission("run", "ended thread")
			a.Run.Owner, a.MustExist = "owner", true
			a.Begin = &event.Event{ID: event.ID{Attempt: 1, N: 1}, Data: event.Run{Status: event.StatusRunning}}
			return err1(r.s.For(ann()).Admit(r.t.Context(), a))
		}},
		"run": {reads: true, prepare: waits,
			do: func(r *trial) error { return err1(r.s.Run(r.t.Context(), "waits")) }},
		"list runs": {reads: true, prepare: waits,
			do: func(r *trial) error { return err1(r.s.ListRuns(r.t.Context(), store.RunFilter{})) }},
		"claim": {prepare: waits,
			do: func(r *trial) error { return err1(r.s.ClaimRun(r.t.Context(), "waits", "owner", 0, now)) }},
		"stop": {prepare: waits, do: func(r *trial) error {
			return err1(r.s.For(ann()).StopRun(r.t.Context(), "waits", store.StopInterrupt, now))
		}},
		"stopping": {reads: true, prepare: runs,
			do: func(r *trial) error { return err1(r.s.Stopping(r.t.Context(), "owner", 10)) }},
		"waiting": {reads: true, prepare: waits,
			do: func(r *trial) error { return err1(r.s.Waiting(r.t.Context(), now, 10)) }},
		"position": {reads: true, prepare: waits,
			do: func(r *trial) error { return err1(r.s.For(ann()).Position(r.t.Context(), "waits")) }},
		"queue": {reads: true, prepare: waits,
			do: func(r *trial) error { return err1(r.s.Queue(r.t.Context(), now)) }},
		"delete run": {prepare: ended,
			do: func(r *trial) error { return r.s.For(ann()).DeleteRun(r.t.Context(), "ended") }},
		"abandoned": {reads: true, prepare: runs,
			do: func(r *trial) error { return err1(r.s.Abandoned(r.t.Context(), "other", 10)) }},

		"commit": {prepare: conversed, do: func(r *trial) error {
			state, n := r.talk.state, r.talk.n
			err := err1(r.s.Commit(r.t.Context(), r.talk.fence, r.talk.step("model", "end", turns.Put(7))))
			if err != nil {
				r.talk.state, r.talk.n = state, n
			}
			return err
		}},
		"commit of an end": {prepare: conversed, do: func(r *trial) error {
			title := "Deer"
			return err1(r.s.CommitAll(r.t.Context(), r.talk.fence, []store.Step{{Now: r.talk.now, Title: &title}, {
				Now: r.talk.now, Run: &store.RunChange{Status: event.StatusSuccess, Usage: object}}}))
		}},
		"write": {prepare: func(r *trial) {
			r.must(r.s.For(ann()).CreateThread(r.t.Context(), store.Thread{ID: "thread"}))
		}, do: func(r *trial) error {
			u := turns.Put(1)
			st, err := schema.Load(nil)
			r.must(err)
			st, _, err = st.Apply(u)
			r.must(err)
			return err1(r.s.For(ann()).Write(r.t.Context(), "thread", store.Step{Parent: store.Origin, OnHead: true,
				Updates: []store.NodeUpdate{{Node: "n", Update: u}}, State: st, Now: now}))
		}},
		"checkpoint": {reads: true, prepare: conversed, do: func(r *trial) error {
			r.s.cache.forgetThread(r.talk.thread)
			return err1(r.s.For(ann()).Checkpoint(r.t.Context(), schema, r.talk.thread, ""))
		}},
		"first checkpoint": {reads: true, prepare: conversed, do: func(r *trial) error {
			return err1(r.s.For(ann()).FirstCheckpoint(r.t.Context(), r.talk.fence.RunID))
		}},
		"checkpoints": {reads: true, prepare: conversed, do: func(r *trial) error {
			return err1(r.s.For(ann()).Checkpoints(r.t.Context(), r.talk.thread, "", 10))
		}},
		"events": {reads: true, prepare: conversed, do: func(r *trial) error {
			return err1(r.s.For(ann()).Events(r.t.Context(), r.talk.fence.RunID, event.ID{}, 10))
		}},

		"put item": {do: func(r *trial) error { return items.New(r.s).For(ann()).Put(r.t.Context(), item) }},
		"item": {reads: true, prepare: putItem, do: func(r *trial) error {
			return err1(items.New(r.s).For(ann()).Item(r.t.Context(), item.Namespace, item.Key, items.Access{Now: now}))
		}},
		"delete item": {prepare: putItem,
			do: func(r *trial) error {
				return items.New(r.s).For(ann()).Delete(r.t.Context(), item.Namespace, item.Key)
			}},
		"search items": {reads: true, prepare: putItem, do: func(r *trial) error {
			return err1(items.New(r.s).For(ann()).Search(r.t.Context(), items.Filter{Access: items.Access{Now: now}}))
		}},
		"query items": {reads: true, prepare: putItem, do: func(r *trial) error {
			return err1(items.New(r.s).For(ann()).
				Search(r.t.Context(), items.Filter{Query: "1", Access: items.Access{Now: now}}))
		}},
		"namespaces": {reads: true, prepare: putItem, do: func(r *trial) error {
			return err1(items.New(r.s).For(ann()).Namespaces(r.t.Context(), items.NamespaceFilter{Now: now}))
		}},

		"create assistant": {do: func(r *trial) error {
			return assistants.New(r.s).For(ann()).Create(r.t.Context(), assistant)
		}},
		"assistant": {reads: true, prepare: assisted, do: func(r *trial) error {
			return err1(assistants.New(r.s).For(ann()).Assistant(r.t.Context(), "deer"))
		}},
		"update assistant": {prepare: assisted,
			do: func(r *trial) error { return err1(assistants.New(r.s).For(ann()).Update(r.t.Context(), assistant)) }},
		"set latest": {prepare: assisted,
			do: func(r *trial) error {
				return err1(assistants.New(r.s).For(ann()).SetLatest(r.t.Context(), "deer", 1))
			}},
		"versions": {reads: true, prepare: assisted, do: func(r *trial) error {
			return err1(assistants.New(r.s).For(ann()).Versions(r.t.Context(), "deer", 10, 0))
		}},
		"search assistants": {reads: true, prepare: assisted, do: func(r *trial) error {
			return err1(assistants.New(r.s).For(ann()).
				Search(r.t.Context(),
					assistants.Filter{Metadata: map[string]json.RawMessage{"a": json.RawMessage("1")}}))
		}},
		"count assistants": {reads: true, prepare: assisted, do: func(r *trial) error {
			return err1(assistants.New(r.s).For(ann()).
				Count(r.t.Context(),
					assistants.Filter{Metadata: map[string]json.RawMessage{"a": json.RawMessage("1")}}))
		}},
		"delete assistant": {prepare: assisted,
			do: func(r *trial) error { return assistants.New(r.s).For(ann()).Delete(r.t.Context(), "deer") }},
		"setting": {reads: true,
			do: func(r *trial) error { return err1(r.s.Setting(r.t.Context(), r.id("key"), "value")) }},

		"dump": {reads: true, prepare: conversed, do: func(r *trial) error {
			return err1(r.s.For(ann()).DumpThread(r.t.Context(), r.talk.thread, &bytes.Buffer{}))
		}},
		"dump of all": {reads: true, prepare: func(r *trial) { r.converses(); putItem(r); assisted(r) },
			do: func(r *trial) error {
				return err1(r.s.Dump(r.t.Context(), &bytes.Buffer{}))
			}},
		"load": {do: func(r *trial) error {
			return err1(r.s.Load(r.t.Context(), strings.NewReader(`{"kind":"pudu","version":3}
{"kind":"item","user_id":"u","namespace":"\u0001a\u0001","key":"k","created_at":0,"updated_at":0,"ttl":0,"expires_at":0,"value":{}}
{"kind":"end","threads":0,"runs":0,"log":0,"snapshots":0,"items":1,"assistants":0}
`), nil))
		}},
		"verify": {reads: true, prepare: func(r *trial) { r.converses(); putItem(r); assisted(r) },
			do: func(r *trial) error {
				var found []store.Problem
				err := r.s.Verify(r.t.Context(), schema,
					store.Visitor{Problem: func(p store.Problem) { found = append(found, p) }})
				if err == nil && len(found) > 0 {
					err = fmt.Errorf("faults %+v", found)
				}
				return err
			}},
		"collect": {pieces: true, prepare: collected, do: func(r *trial) error {
			later := r.talk.now.Add(time.Hour)
			return err1(r.s.Collect(r.t.Context(), store.Retention{Chunks: later, Snapshots: later, Rows: later}))
		}},
		"collect, dry": {reads: true, prepare: collected, do: func(r *trial) error {
			later := r.talk.now.Add(time.Hour)
			return err1(r.s.Collect(r.t.Context(), store.Retention{Chunks: later, Snapshots: later, Rows: later,
				DryRun: true}))
		}},
	}
}

// TestNoFailureOfTheDatabaseIsSilent: whatever fails in the database, the caller is told, nothing is half done, and the
// next time all is well. So it is if a row comes without its values.
func TestNoFailureOfTheDatabaseIsSilent(t *testing.T) {
	for name, r := range trials() {
		for _, damaged := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", rows are damaged: ", damaged), func(t *testing.T) {
				r.t, r.s, r.n = t, open(t, t.TempDir()), 0
				defer r.s.Close()
				r.tryAll(damaged)
			})
		}
	}
}

// versions returns what tells a number of the database, which is another one after each transaction that has changed
// anything.
func (r *trial) versions() func() (n int64) {
	db, err := r.s.dialect.(sqlite).open(1, true)
	r.must(err)
	r.t.Cleanup(func() { db.Close() })
	return func() (n int64) {
		r.must(db.QueryRowContext(r.t.Context(), "PRAGMA data_version").Scan(&n))
		return n
	}
}

func (r *trial) tryAll(damaged bool) {
	if r.prepare != nil {
		r.prepare(r)
	}
	f := unreliable(r.t, r.s)
	before, version := dumpOf(r.t, r.s, ""), r.versions()
	unchanged := version()
	for r.n = 1; ; r.n++ {
		f.void.Store(damaged)
		f.breakAt(r.n)
		err := r.do(r)
		hit := f.heal()
		f.void.Store(false)
		if hit == "" {
			if err != nil || r.n == 1 && !damaged {
				r.t.Errorf("after %d failures: %v", r.n-1, err)
			}
			break
		}
		if err == nil || !damaged && !errors.Is(err, errBroken) {
			r.t.Errorf("use %d failed, of %.300s, and what came of it is: %v", r.n, hit, err)
		}
		if !r.reads && !r.pieces && version() != unchanged && dumpOf(r.t, r.s, "") != before {
			r.t.Fatalf("use %d failed, of %.300s, and the store is not what it was", r.n, hit)
		}
	}
	if changed := dumpOf(r.t, r.s, "") != before; changed == r.reads || changed && version() == unchanged {
		r.t.Errorf("it has changed the store: %t", changed)
	}
	if found := faults(r.t, r.s); len(found) > 0 {
		r.t.Errorf("the store has faults: %q", found)
	}
}

// TestNoFailureOfOpeningIsSilent: whatever fails while a database is made, migrated or checked is told, and it is
// opened the next time.
func TestNoFailureOfOpeningIsSilent(t *testing.T) {
	made, err := newDatabase()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"new": nil, "as it is": made,
		"of version 4": unzipped(t, "version4.db.gz")} {
		t.Run(name, func(t *testing.T) {
			d := sqlite{path: filepath.Join(t.TempDir(), FileName)}
			if err := os.WriteFile(d.path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			for n := 1; ; n += 1 + n/10 { // each of the first, which are Pudu's own
				f := newFlaky()
				f.breakAt(n)
				err := openThrough(t, f, d)
				hit := f.heal()
				if hit == "" {
					if err != nil || n == 1 {
						t.Errorf("after %d failures: %v", n-1, err)
					}
					break
				}
				goose := hit == "begin" || strings.Contains(hit, "WHERE version_id=") // it tries some of its own again
				if !errors.Is(err, errBroken) && (err != nil || !goose) {
					t.Errorf("use %d failed, of %.300s, and what came of it is: %v", n, hit, err)
				}
			}
			backups, err := filepath.Glob(d.path + ".v4-*.bak")
			if err != nil || (len(backups) > 0) != (name == "of version 4") {
				t.Errorf("backups %q, %v", backups, err)
			}
			s := open(t, filepath.Dir(d.path))
			defer s.Close()
			if found := faults(t, s); len(found) > 0 {
				t.Errorf("the store has faults: %q", found)
			}
		})
	}
}

// openThrough does with a database what Open does, through a flaky way to it.
func openThrough(t *testing.T, f flaky, d sqlite) error {
	t.Helper()
	db, err := d.open(1, false)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "PRAGMA synchronous = off"); err != nil {
		t.Fatal(err)
	}
	way := f.through(db, 1)
	defer way.Close()
	if err := prepare(t.Context(), way, d, Config{Features: feature.All(), Now: time.Now, CheckBytes: 64 << 20,
		Logger: discard}); err != nil {
		return err
	}
	w, err := newWriter(t.Context(), way, d, d.tuning(), newBacklog(nil, Config{}), newNewsroom(nil, time.Now))
	if err == nil {
		w.close()
	}
	return err
}

// TestAStepThatCannotBeEncoded writes nothing, and the run goes on.
func TestAStepThatCannotBeEncoded(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	tk := newTalk(t, s, 1)
	tk.begin("hello")
	before := dumpOf(t, s, "")
	nan := state.LastValue[float64]("note").Put(math.NaN())
	now, stands, n := tk.now, tk.state, tk.n
	for what, st := range map[string]store.Step{
		"encode update of model": {Now: now, Updates: []store.NodeUpdate{{Node: "model", Update: nan}}},
		"encode event 1-": {Now: now,
			Events: []event.Event{tk.event("model", event.Custom{Value: json.RawMessage("{")})}},
		"has no data": {Now: now, Events: []event.Event{{ID: event.ID{Attempt: 1, N: n + 1}}}},
	} {
		if _, err := s.Commit(t.Context(), tk.fence, st); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
		if dumpOf(t, s, "") != before {
			t.Errorf("%s: the store has changed", what)
		}
	}
	tk.now, tk.state, tk.n = now, stands, n
	tk.ai("fine", true)
}

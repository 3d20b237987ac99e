package sqlstore_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

// jsonMembers makes a filter from names and values in turn.
func jsonMembers(pairs ...string) map[string]json.RawMessage {
	m := make(map[string]json.RawMessage)
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return m
}

// threadWith creates a thread of ann with metadata.
func (f *fixture) threadWith(id, metadata string) {
	f.Helper()
	now := f.tick()
	f.must(f.CreateThread(f.Context(), store.Thread{ID: id, UserID: "ann", Metadata: json.RawMessage(metadata),
		CreatedAt: now, UpdatedAt: now}))
}

// found searches and returns the ids, joined. The count of the filter must agree with what is found.
func (f *fixture) found(filter store.ThreadFilter) string {
	f.Helper()
	ts, err := f.SearchThreads(f.Context(), filter)
	f.must(err)
	var ids []string
	for _, t := range ts {
		ids = append(ids, t.ID)
	}
	if filter.Limit == 0 && filter.Offset == 0 {
		n, err := f.CountThreads(f.Context(), filter)
		f.must(err)
		f.equal("count", n, len(ts))
	}
	return strings.Join(ids, " ")
}

func threadSearch(f *fixture) {
	for _, id := range []string{"b", "a", "c"} {
		f.threadWith(id, `{"k":1}`)
	}
	f.must(f.as("bob").CreateThread(f.Context(), store.Thread{ID: "other", CreatedAt: start, UpdatedAt: start}))
	ts, err := f.SearchThreads(f.Context(), store.ThreadFilter{IDs: []string{"a"}})
	f.must(err)
	one, err := f.Thread(f.Context(), "a")
	f.must(err)
	f.equal("thread", ts, []store.Thread{one})
	for _, tt := range []struct {
		name   string
		filter store.ThreadFilter
		want   string
	}{
		{"all", store.ThreadFilter{}, "c a b"},
		{"of ids", store.ThreadFilter{IDs: []string{"b", "nobody", "other", "", "a\x00", "b"}}, "b"},
		{"of impossible ids", store.ThreadFilter{IDs: []string{"\x00"}}, ""},
		{"ascending", store.ThreadFilter{Sort: "updated_at", Ascending: true}, "b a c"},
		{"by age", store.ThreadFilter{Sort: "created_at"}, "c a b"},
		{"by id", store.ThreadFilter{Sort: "thread_id", Ascending: true}, "a b c"},
		{"by id, descending", store.ThreadFilter{Sort: "thread_id"}, "c b a"},
		{"page", store.ThreadFilter{Limit: 1, Offset: 1}, "a"},
		{"behind the end", store.ThreadFilter{Offset: 3}, ""},
	} {
		f.equal(tt.name, f.found(tt.filter), tt.want)
	}
	for _, bad := range []store.ThreadFilter{
		{Limit: -1}, {Limit: 1002}, {Offset: -1}, {Sort: "title"}, {Sort: "t.id; --"}, {Status: "asleep"},
		{IDs: make([]string, 1001)}, {Metadata: jsonMembers("a", `{}`)}, {Metadata: jsonMembers("a", ` [1]`)},
		{Metadata: jsonMembers("a", `x`)}, {Metadata: jsonMembers("a", ``)},
	} {
		if ts, err := f.SearchThreads(f.Context(), bad); err == nil {
			f.Errorf("SearchThreads took %+v and found %v", bad, ts)
		}
	}
}

// threadMetadata: members are compared by their JSON value and type, whatever they are called.
func threadMetadata(f *fixture) {
	odd := `a".b' OR 1=1 -- $x[0] \ % _ é 🦌`
	name, err := json.Marshal(odd)
	f.must(err)
	for i, metadata := range []string{
		`{"k":true}`, `{"k":1}`, `{"k":"true"}`, `{ "k" : 1.0 }`, `{"k":null}`, `{}`, `{"k":"1"}`,
		`{"k":10e-1,"l":"x"}`, `{"k":false}`, `{"k":"a\u0000b"}`, `{"\u006b":"\u0061"}`, `{"k":"a"}`,
		`{"k":9007199254740993}`, `{"k":9007199254740992}`, `{"k":{"a":1}}`, `{"k":-0.0}`, `{"k":"1","k":0}`,
		`{"k":[1]}`, `{"x":{"k":1}}`, `{` + string(name) + `:"v"}`, `{"k":"%"}`, `{"K":"a"}`, `{"k":1e400}`,
	} {
		f.threadWith(fmt.Sprint(i), metadata)
	}
	for _, tt := range []struct {
		want   string
		filter []string
	}{
		{"0", []string{"k", "true"}}, {"8", []string{"k", "false"}}, {"1 3 7", []string{"k", "1"}},
		{"1 3 7", []string{"k", " 1.000 "}}, {"2", []string{"k", `"true"`}}, {"4", []string{"k", "null"}},
		{"6", []string{"k", `"1"`}}, {"9", []string{"k", `"a\u0000b"`}}, {"10 11", []string{"k", `"a"`}},
		{"12", []string{"k", "9007199254740993"}}, {"13", []string{"k", "9007199254740992.0"}},
		{"15 16", []string{"k", "0"}}, {"19", []string{odd, `"v"`}}, {"20", []string{"k", `"%"`}},
		{"21", []string{"K", `"a"`}}, {"7", []string{"l", `"x"`, "k", "1"}}, {"", []string{"l", `"x"`, "k", "2"}},
		{"", []string{"nobody", "null"}}, {"22", []string{"k", "10e399"}},
		{"", []string{"k", "1e99999999999999999999"}}, {"", []string{"a\x00b", "1"}},
	} {
		filter := store.ThreadFilter{Sort: "created_at", Ascending: true, Metadata: jsonMembers(tt.filter...)}
		f.equal(fmt.Sprint(tt.filter), f.found(filter), tt.want)
		filter.Pinned = true
		f.equal(fmt.Sprint(tt.filter, " with pinned first"), f.found(filter), tt.want)
	}
	f.sound()
}

// threadPages: every part of what is found, by any filter, is what stands there in the whole.
func threadPages(f *fixture) {
	for i := range 60 {
		f.threadWith(fmt.Sprintf("%02d", i*37%60), fmt.Sprintf(`{"even":%t,"n":%d,"deerflow_pinned":%t}`, i%2 == 0, i%7,
			i%9 == 0))
	}
	for _, filter := range []store.ThreadFilter{
		{}, {Pinned: true}, {Pinned: true, Ascending: true, Sort: "thread_id"}, {Metadata: jsonMembers("even", "true")},
		{Metadata: jsonMembers("even", "true", "n", "3"), Pinned: true},
		{Metadata: jsonMembers("n", "3"), Sort: "created_at"}, {Status: store.ThreadIdle, Pinned: true, Sort: "status"},
	} {
		filter.Limit = 1001
		all := strings.Fields(f.found(filter))
		n, err := f.CountThreads(f.Context(), filter)
		f.must(err)
		f.equal("count", n, len(all))
		for limit := 1; limit < 70; limit += 22 {
			for offset := 0; offset < 70; offset += 9 {
				filter.Limit, filter.Offset = limit, offset
				want := all[min(offset, len(all)):min(offset+limit, len(all))]
				f.equal(fmt.Sprintf("%+v", filter), f.found(filter), strings.Join(want, " "))
			}
		}
	}
}

// threadPinned: those with true, and nothing like it, come first.
func threadPinned(f *fixture) {
	for id, metadata := range []string{`{"deerflow_pinned":true}`, `{}`, `{"deerflow_pinned":"true"}`,
		`{ "deerflow_pinned" : true }`,
		`{"deerflow_pinned":false}`, `{"deerflow_pinned":1}`, `{"a":{"deerflow_pinned":true}}`,
		`{"deerflow_pinned":null}`} {
		f.threadWith(fmt.Sprint(id), metadata)
	}
	f.equal("pinned first", f.found(store.ThreadFilter{Pinned: true}), "3 0 7 6 5 4 2 1")
	f.equal("ascending", f.found(store.ThreadFilter{Pinned: true, Ascending: true}), "0 3 1 2 4 5 6 7")
	for id, p := range map[string]string{"0": `{"deerflow_pinned":false}`, "1": `{"deerflow_pinned":true}`} {
		_, err := f.PatchThread(f.Context(), id, store.ThreadPatch{Metadata: json.RawMessage(p)})
		f.must(err)
	}
	f.equal("after a change", f.found(store.ThreadFilter{Pinned: true}), "3 1 7 6 5 4 2 0")
	f.must(f.CopyThread(f.Context(), "5", "",
		store.Thread{ID: "copy", UserID: "ann", Metadata: json.RawMessage(`{"deerflow_pinned":true}`)}))
	f.equal("after a copy", f.found(store.ThreadFilter{Pinned: true}), "3 1 copy 7 6 5 4 2 0")
	f.sound()
}

// threadStatus: an active run, else the newest, tells the status.
func threadStatus(f *fixture) {
	status := func(want string) {
		f.Helper()
		t, err := f.Thread(f.Context(), "t")
		f.must(err)
		f.equal("status", t.Status, want)
		ts, err := f.SearchThreads(f.Context(), store.ThreadFilter{})
		f.must(err)
		f.equal("listed", ts[0], t)
		for _, s := range []string{store.ThreadIdle, store.ThreadBusy, store.ThreadInterrupted, store.ThreadError} {
			want := map[bool]string{true: "t"}[s == t.Status]
			f.equal("threads that are "+s, f.found(store.ThreadFilter{Status: s}), want)
		}
	}
	f.thread("t")
	status(store.ThreadIdle)
	for i, end := range []string{event.StatusSuccess, event.StatusError, event.StatusInterrupted, event.StatusSuccess,
		event.StatusError} {
		id := fmt.Sprint("r", i)
		f.run(id, "t")
		status(store.ThreadBusy)
		o := &owner{f: f, thread: "t", fence: f.claim(id, 0)}
		status(store.ThreadBusy)
		o.commit(store.Step{Run: &store.RunChange{Status: end}, Now: f.tick()})
		status(map[string]string{event.StatusSuccess: store.ThreadIdle, event.StatusError: store.ThreadError,
			event.StatusInterrupted: store.ThreadInterrupted}[end])
	}
	f.must(f.DeleteRun(f.Context(), "r4"))
	status(store.ThreadIdle)
	f.thread("u")
	f.run("u", "u")
	f.equal("by status", f.found(store.ThreadFilter{Sort: "status", Ascending: true}), "u t")
	f.equal("by status, descending", f.found(store.ThreadFilter{Sort: "status"}), "t u")
	f.must(f.CreateThread(f.Context(), store.Thread{ID: "s", Status: store.ThreadBusy}))
	f.equal("status that was given", f.found(store.ThreadFilter{Status: store.ThreadBusy}), "u")
}

func threadPatch(f *fixture) {
	f.threadWith("t", `{"a":1.50, "b":{"x" : [1,  2]},"c":"é\u00e9","d":true}`)
	before, err := f.Thread(f.Context(), "t")
	f.must(err)
	got, err := f.PatchThread(f.Context(), "t",
		store.ThreadPatch{Metadata: json.RawMessage(` {"d":null, "e":{"k": "\u0000"},"a\"":1e2}`)})
	f.must(err)
	f.equal("metadata", string(got.Metadata),
		`{"a":1.50,"a\"":1e2,"b":{"x" : [1,  2]},"c":"é\u00e9","d":null,"e":{"k": "\u0000"}}`)
	stored, err := f.Thread(f.Context(), "t")
	f.must(err)
	f.equal("as stored", stored, got)
	before.Metadata = got.Metadata
	f.equal("what else is", got, before)
	f.equal("found by null", f.found(store.ThreadFilter{Metadata: jsonMembers("d", "null")}), "t")
	f.equal("found by true", f.found(store.ThreadFilter{Metadata: jsonMembers("d", "true")}), "")

	title, later := "new\x00", start.Add(24*time.Hour+time.Nanosecond)
	got, err = f.PatchThread(f.Context(), "t", store.ThreadPatch{Title: &title, UpdatedAt: later})
	f.must(err)
	before.Title, before.UpdatedAt = "new\uFFFD", start.Add(24*time.Hour)
	f.equal("title and time", got, before)
	got, err = f.PatchThread(f.Context(), "t", store.ThreadPatch{})
	f.must(err)
	f.equal("nothing", got, before)

	_, err = f.PatchThread(f.Context(), "nobody", store.ThreadPatch{})
	f.want(err, store.ErrNotFound, "nobody")
	for _, bad := range []string{`[]`, `null`, `{`, `1`, ``} {
		if _, err := f.PatchThread(f.Context(), "t", store.ThreadPatch{Metadata: json.RawMessage(bad)}); err == nil {
			f.Errorf("PatchThread took %q", bad)
		}
	}
	large := func(n int) json.RawMessage { return json.RawMessage(`{"x":"` + strings.Repeat("x", n) + `"}`) }
	_, err = f.PatchThread(f.Context(), "t", store.ThreadPatch{Metadata: large(64 << 10)})
	f.want(err, store.ErrTooLarge, "65536")
	f.want(f.CreateThread(f.Context(), store.Thread{ID: "large", Metadata: large(64 << 10)}), store.ErrTooLarge,
		"large")
	f.must(f.CreateThread(f.Context(), store.Thread{ID: "large", Metadata: large(64<<10 - 8)}))
	_, err = f.PatchThread(f.Context(), "large", store.ThreadPatch{Metadata: json.RawMessage(`{"y":1}`)})
	f.want(err, store.ErrTooLarge, "large")
	stored, err = f.Thread(f.Context(), "t")
	f.must(err)
	f.equal("after what was refused", stored, before)
	f.sound()
}

// patchRace: patches at the same time change each its own member, also beside the steps of a run.
func patchRace(f *fixture) { patchesSideBySide(f, f) }

func patchesSideBySide(a, b *fixture) {
	o := a.running("x")
	_, errs := together(41, func(i int) (store.Thread, error) {
		if i == 40 {
			for range 20 {
				o.say("hello")
			}
			return store.Thread{}, nil
		}
		patch := store.ThreadPatch{Metadata: json.RawMessage(fmt.Sprintf(`{"m%d":%d}`, i, i))}
		return []*fixture{a, b}[i%2].PatchThread(a.Context(), o.thread, patch)
	})
	a.equal("done", winners(a, errs, nil), 41)
	t, err := b.Thread(b.Context(), o.thread)
	b.must(err)
	var members map[string]int
	b.must(json.Unmarshal(t.Metadata, &members))
	b.equal("members", len(members), 41)
	b.equal("steps", b.load(o.thread, "").Step, 20)
}

func threadCopy(f *fixture) {
	o := f.running("x")
	first := o.say("a")
	second := o.say(strings.Repeat("b", 100_000)) // with a snapshot
	o.commit(o.on(first, "c"))
	head := o.say("d")
	o.commit(store.Step{Events: []event.Event{o.event(custom(1))}, Now: f.tick()})
	now := f.tick()
	to := store.Thread{ID: "copy", UserID: "ann", Title: "A copy", Metadata: json.RawMessage(`{"of":"x"}`),
		CreatedAt: now, UpdatedAt: now}
	f.must(f.CopyThread(f.Context(), o.thread, "", to)) // while its run is active
	to.Head, to.Status = head, store.ThreadIdle
	got, err := f.Thread(f.Context(), "copy")
	f.must(err)
	f.equal("copy", got, to)
	olds, err := f.Checkpoints(f.Context(), o.thread, "", 10)
	f.must(err)
	news, err := f.Checkpoints(f.Context(), "copy", "", 10)
	f.must(err)
	f.equal("checkpoints", len(news), 4)
	for i, c := range olds {
		c.ThreadID, c.RunID, c.Attempt, c.First = "copy", "", 0, 0
		f.sameCheckpoint(news[i], c)
		f.equal("state", values(f.T, f.load("copy", c.ID).State), values(f.T, f.load(o.thread, c.ID).State))
	}

	// Each goes its own way.
	again, err := f.write("copy", second, "e")
	f.must(err)
	next := o.say("f")
	f.equal("texts of the copy", f.texts("copy", "")[2:], []string{"e"})
	f.equal("texts of the old", f.texts(o.thread, ""), []string{"a", "c", "d", "f"})
	for thread, id := range map[string]string{"copy": next, o.thread: again} {
		_, err = f.Checkpoint(f.Context(), schema(f.T), thread, id)
		f.want(err, store.ErrNotFound, id)
	}
	f.reopen()
	o.end()
	f.sound()
	f.equal("first checkpoint of the run", f.firstOf(o.fence.RunID), first)
	f.must(f.DeleteThread(f.Context(), o.thread))
	f.equal("texts without the old", f.texts("copy", first), []string{"a"})
	f.equal("texts of the head", f.texts("copy", "")[2:], []string{"e"})
	f.sound()
}

func (f *fixture) firstOf(run string) string {
	f.Helper()
	c, err := f.FirstCheckpoint(f.Context(), run)
	f.must(err)
	return c.ID
}

func threadCopyRefused(f *fixture) {
	f.thread("t")
	f.thread("there")
	f.want(f.CopyThread(f.Context(), "nobody", "", store.Thread{ID: "new"}), store.ErrNotFound, "nobody")
	f.want(f.CopyThread(f.Context(), "t", "", store.Thread{ID: "there"}), store.ErrConflict, "there")
	f.want(f.CopyThread(f.Context(), "t", "", store.Thread{ID: "t"}), store.ErrConflict, "t")
	for _, bad := range []store.Thread{{ID: ""}, {ID: "a\x00"}, {ID: "n", Metadata: json.RawMessage(`[]`)}} {
		if err := f.CopyThread(f.Context(), "t", "", bad); err == nil {
			f.Errorf("CopyThread took %+v", bad)
		}
	}
	f.must(f.CopyThread(f.Context(), "t", "", store.Thread{ID: "empty"}))
	f.equal("head of a copy without checkpoints", f.load("empty", "").ID, "")
	_, err := f.Thread(f.Context(), "new")
	f.want(err, store.ErrNotFound, "new")
}

// threadCopyRace: a copy made beside steps is a whole thread as it was at one moment.
func threadCopyRace(f *fixture) { copiesBesideSteps(f, f) }

func copiesBesideSteps(a, b *fixture) {
	o := a.running("x")
	_, errs := together(6, func(i int) (int, error) {
		if i > 0 {
			return 0, b.CopyThread(b.Context(), o.thread, "", store.Thread{ID: fmt.Sprint("copy", i)})
		}
		for range 40 {
			o.say(strings.Repeat("x", 4000))
		}
		return 0, nil
	})
	b.equal("done", winners(b, errs, nil), 6)
	for i := 1; i < 6; i++ {
		c := b.load(fmt.Sprint("copy", i), "")
		b.equal("messages", len(messages.Get(c.State)), c.Step)
	}
	b.sound()
}

func setting(f *fixture) {
	got, err := f.Setting(f.Context(), "key é", "first")
	f.must(err)
	f.equal("new", got, "first")
	got, err = f.Setting(f.Context(), "key é", "second")
	f.must(err)
	f.equal("kept", got, "first")
	f.reopen()
	got, err = f.Setting(f.Context(), "key é", "")
	f.must(err)
	f.equal("kept after opening again", got, "first")
	got, err = f.Setting(f.Context(), "empty", "")
	f.must(err)
	f.equal("empty", got, "")
	for _, bad := range [][2]string{{"", "v"}, {"a\x00", "v"}, {"k", "\x00"}, {strings.Repeat("k", 257), "v"},
		{"k", strings.Repeat("v", 257)}} {
		if _, err := f.Setting(f.Context(), bad[0], bad[1]); err == nil {
			f.Errorf("Setting took %.20q, %.20q", bad[0], bad[1])
		}
	}
}

// settingRace: all that ask at the same time agree.
func settingRace(f *fixture) { settingsOfBoth(f, f) }

func settingsOfBoth(a, b *fixture) {
	got, errs := together(16, func(i int) (string, error) {
		return []*fixture{a, b}[i%2].Setting(a.Context(), "key", fmt.Sprint(i))
	})
	a.equal("done", winners(a, errs, nil), 16)
	a.equal("answers", len(slices.Compact(got)), 1)
}

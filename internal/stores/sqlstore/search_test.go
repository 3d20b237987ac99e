package sqlstore

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/assistants"
	"github.com/pudu-ai/pudu/internal/feature/items"
	"github.com/pudu-ai/pudu/internal/store"
)

// testMigratedThreads: searches find what version 2 wrote about eve's threads, before and after it is changed.
func testMigratedThreads(t *testing.T, s *Store) {
	eve := access.FromRow("eve")
	found := func(f store.ThreadFilter) (ids string) {
		t.Helper()
		ts, err := s.For(eve).SearchThreads(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, th := range ts {
			ids += th.ID
		}
		return ids
	}
	one := store.ThreadFilter{Metadata: map[string]json.RawMessage{"n": json.RawMessage("1.0")}}
	none := store.ThreadFilter{Metadata: map[string]json.RawMessage{"n": json.RawMessage("2")}}
	got := []string{found(store.ThreadFilter{Pinned: true}), found(one), found(none)}
	if _, err := s.For(eve).PatchThread(t.Context(), "d",
		store.ThreadPatch{Metadata: json.RawMessage(`{"n":2,"deerflow_pinned":true}`)}); err != nil {
		t.Fatal(err)
	}
	got = append(got, found(store.ThreadFilter{Pinned: true}), found(one), found(none))
	if d := cmp.Diff([]string{"ced", "d", "", "dce", "", "d"}, got); d != "" {
		t.Errorf("found (-want +got):\n%s", d)
	}
}

// TestSearchPlans: the first page comes out of an index in its order, without a look at the other threads.
func TestSearchPlans(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	chosen := func(condition, order string) string {
		var sel selection
		sel.add("t.user_id = " + sel.param("ann"))
		sel.add(shown)
		return chooseThreads(sel.with(condition), order)
	}
	for name, tt := range map[string]struct{ query, index string }{
		"usual":      {chosen("TRUE", "t.updated_at DESC, t.id DESC"), "COVERING INDEX threads_by_user"},
		"ascending":  {chosen("TRUE", "t.updated_at ASC, t.id ASC"), "COVERING INDEX threads_by_user"},
		"by age":     {chosen("TRUE", "t.created_at DESC, t.id DESC"), "COVERING INDEX threads_by_age"},
		"pinned":     {chosen("t.pinned = 1", "t.updated_at DESC, t.id DESC"), "COVERING INDEX threads_pinned"},
		"not pinned": {chosen("t.pinned <> 1", "t.updated_at DESC, t.id DESC"), "COVERING INDEX threads_by_user"},
		"metadata": {chosen("(~t.signature & 7) < 1", "t.updated_at DESC, t.id DESC"),
			"COVERING INDEX threads_by_user"},
		"items": {s.features["items"].queries["search"].text, "INDEX items_by_time"},
	} {
		var plan string
		err := s.read(t.Context(), "EXPLAIN QUERY PLAN "+tt.query,
			[]any{"ann", 10, 0, "x", 10, 0}[:3+3*strings.Count(tt.query, "$6")],
			func(r *sql.Rows) (bool, error) {
				var id, parent, unused int
				var step string
				err := r.Scan(&id, &parent, &unused, &step)
				plan += step + "\n"
				return true, err
			})
		if err != nil || !strings.Contains(plan, tt.index) || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s: %v\n%s", name, err, plan)
		}
	}
}

func TestCopyOfManySteps(t *testing.T) {
	for name, cfg := range map[string]Config{"sqlite": {Dir: t.TempDir()}, "postgres": postgresAt(t, t.TempDir())} {
		t.Run(name, func(t *testing.T) {
			s := openWith(t, cfg)
			defer s.Close()
			tk := newTalk(t, s, 1)
			tk.begin("hello")
			var steps []store.Step
			for range 600 {
				steps = append(steps, tk.step("model", "model",
					chats.Append(chat{ID: tk.uuid(), Content: tk.text(300)})))
			}
			for at := 0; at < len(steps); at += 100 {
				if _, err := s.CommitAll(t.Context(), tk.fence, steps[at:at+100]); err != nil {
					t.Fatal(err)
				}
			}
			begun := time.Now()
			if err := s.For(ann()).CopyThread(t.Context(), tk.thread, "", store.Thread{ID: "copy"}); err != nil {
				t.Fatal(err)
			}
			t.Logf("took %v", time.Since(begun))
			c, err := s.For(ann()).Checkpoint(t.Context(), schema, "copy", "")
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(chats.Get(tk.state), chats.Get(c.State)); d != "" {
				t.Errorf("(-want +got):\n%.500s", d)
			}
			if found := faults(t, s); len(found) > 0 {
				t.Errorf("faults: %v", found)
			}
		})
	}
}

// equip writes what belongs to no thread.
func equip(t *testing.T, s *Store) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		must(items.New(s).For(ann()).Put(t.Context(), items.Item{
			Namespace: []string{"a", "b c"}, Key: fmt.Sprint(i), Value: []byte("{\n\"v\":1}"),
			TTL: time.Duration(i) * time.Hour,
		}))
	}
	a := assistants.Assistant{ID: "a", GraphID: "g", Name: "x", Config: []byte(`{"c": 1}`)}
	must(assistants.New(s).For(ann()).Create(t.Context(), a))
	_, err := assistants.New(s).For(ann()).Update(t.Context(), a)
	must(err)
	_, err = assistants.New(s).For(ann()).SetLatest(t.Context(), "a", 1)
	must(err)
	_, err = s.Setting(t.Context(), "installation", "this one")
	must(err)
}

// TestDumpBesideThreads: items and assistants are in a dump of all and in none of one thread; settings are in neither.
func TestDumpBesideThreads(t *testing.T) {
	from := open(t, t.TempDir())
	defer from.Close()
	equip(t, from)
	tk := newTalk(t, from, 1)
	all := dumpOf(t, from, "")
	if strings.Contains(all, "installation") {
		t.Error("a setting is in the dump")
	}
	if one := dumpOf(t, from, tk.thread); strings.Contains(one, `"kind":"item"`) ||
		strings.Contains(one, `"kind":"assistant"`) {
		t.Errorf("the dump of one thread has more:\n%s", one)
	}
	for name, cfg := range map[string]Config{"sqlite": {Dir: t.TempDir()}, "postgres": postgresAt(t, t.TempDir())} {
		to := openWith(t, cfg)
		defer to.Close()
		n, err := to.Load(t.Context(), strings.NewReader(all), nil)
		if want := (store.Holding{Threads: 1, Rows: 6}); n != want || err != nil {
			t.Errorf("%s: loaded %+v, %v", name, n, err)
		}
		if again := dumpOf(t, to, ""); again != all {
			t.Errorf("%s: the dump of what was loaded differs:\n%s", name, again)
		}
		if a, err := assistants.New(to).For(ann()).Assistant(t.Context(), "a"); a.Version != 1 || err != nil {
			t.Errorf("%s: version %d is in force, %v", name, a.Version, err)
		}
		if _, err := to.Load(t.Context(), strings.NewReader(all), nil); err == nil {
			t.Errorf("%s: loaded twice", name)
		}
	}
	to := open(t, t.TempDir())
	defer to.Close()
	equip(t, to)
	if _, err := to.Load(t.Context(), strings.NewReader(dumpOf(t, from, tk.thread)), nil); err == nil ||
		!strings.Contains(err.Error(), "3 items") {
		t.Errorf("loaded beside items: %v", err)
	}
}

// ofDump1 is a dump as the first version wrote it.
const ofDump1 = `{"kind":"pudu","version":1}
{"kind":"thread","id":"t","user_id":"ann","title":"","head":"","created_at":"2026-01-01T00:00:00.000000Z","updated_at":"2026-01-01T00:00:00.000000Z","metadata":{"deerflow_pinned":true,"n":1}}
{"kind":"run","id":"r","thread_id":"t","user_id":"ann","status":"error","attempt":1,"stalled":0,"created_at":"2026-01-01T00:00:00.000000Z","updated_at":"2026-01-01T00:00:00.000000Z","owner":"me","error":"x","stop_reason":"","usage":null,"request":null}
{"kind":"end","threads":1,"runs":1,"log":0,"snapshots":0}
`

func TestLoadOfVersion1(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	if _, err := s.Load(t.Context(), strings.NewReader(ofDump1), nil); err != nil {
		t.Fatal(err)
	}
	ts, err := s.For(ann()).
		SearchThreads(t.Context(), store.ThreadFilter{Metadata: map[string]json.RawMessage{"n": json.RawMessage("1")}})
	if err != nil || len(ts) != 1 || ts[0].Status != store.ThreadError {
		t.Errorf("%+v, %v", ts, err)
	}
	if r, err := s.Run(t.Context(), "r"); err != nil || !r.NotBefore.IsZero() {
		t.Errorf("%+v, %v", r, err)
	}
	if found := faults(t, s); len(found) > 0 {
		t.Errorf("faults: %v", found)
	}
}

// ofDump2 is an item as the second version wrote it.
const ofDump2 = `{"kind":"pudu","version":2}
{"kind":"item","user_id":"ann","namespace":"\u0001a\u0001","key":"k","created_at":"2026-01-01T00:00:00.000000Z","updated_at":"2026-01-01T00:00:00.000000Z","value":{"v":1}}
{"kind":"end","threads":0,"runs":0,"log":0,"snapshots":0,"items":1,"assistants":0}
`

func TestLoadOfVersion2(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	if _, err := s.Load(t.Context(), strings.NewReader(ofDump2), nil); err != nil {
		t.Fatal(err)
	}
	i, err := items.New(s).For(ann()).Item(t.Context(), []string{"a"}, "k", items.Access{Now: time.Now()})
	if err != nil || i.TTL != 0 || string(i.Value) != `{"v":1}` {
		t.Errorf("%+v, %v", i, err)
	}
}

func TestVerifyBesideThreads(t *testing.T) {
	for _, tt := range []struct{ damage, want string }{
		{"UPDATE threads SET pinned = 1", "not what searches take it for"},
		{"UPDATE threads SET signature = 0", "not what searches take it for"},
		{"UPDATE threads SET metadata = '[]'", "metadata is not a JSON object"},
		{"UPDATE items SET value = '{' WHERE key = '1'", "a.b c.1: value is not a JSON object"},
		{"UPDATE items SET namespace = 'a' WHERE key = '1'", "namespace"},
		{"UPDATE assistants SET config = '7' WHERE version = 2", " a: config is not a JSON object"},
		{"UPDATE assistants SET in_force = 0", "in force"},
		{"DELETE FROM assistants WHERE version = 1", "in force"},
	} {
		s := open(t, t.TempDir())
		equip(t, s)
		if err := s.For(ann()).CreateThread(t.Context(),
			store.Thread{ID: "t", Metadata: []byte(`{"n":1}`)}); err != nil {
			t.Fatal(err)
		}
		s.exec(t, tt.damage)
		if found := faults(t, s); len(found) != 1 || !strings.Contains(found[0], tt.want) {
			t.Errorf("%s: faults %q", tt.damage, found)
		}
		s.Close()
	}
}

// A store that is open for reading gives the settings that are there.
func TestSettingReadOnly(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	defer s.Close()
	equip(t, s)
	reader := openWith(t, Config{Dir: dir, ReadOnly: true})
	defer reader.Close()
	if v, err := reader.Setting(t.Context(), "installation", "another"); v != "this one" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	if v, err := reader.Setting(t.Context(), "new", "x"); err == nil {
		t.Errorf("%q", v)
	}
}

// A merge is one object with the members of both, those of the patch as it has them.
func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"a":1, "b":[ ]}`), []byte(`{"b":null}`))
	f.Add([]byte(`{}`), []byte(` {"a" : 1.0 ,"a":2}`))
	f.Add([]byte("{\"\\u0000\":\"\xff\"}"), []byte(`{"k\"":{}}`))
	f.Fuzz(func(t *testing.T, old, patch []byte) {
		if database.CheckObject("", old) != nil || database.CheckObject("", patch) != nil || old == nil ||
			patch == nil {
			return
		}
		merged, err := merge([]byte(database.Plain(string(old))), patch)
		if err != nil {
			return
		}
		var want, got map[string]json.RawMessage
		for _, raw := range [][]byte{[]byte(database.Plain(string(old))), []byte(database.Plain(string(patch)))} {
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
		}
		if err := json.Unmarshal(merged, &got); err != nil || database.CheckObject("", merged) != nil {
			t.Fatalf("%q: %v", merged, err)
		}
		for name, value := range want {
			if !bytes.Equal(got[name], value) {
				t.Errorf("%q of %q is %q, want %q", name, merged, got[name], value)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%q has %d members, want %d", merged, len(got), len(want))
		}
	})
}

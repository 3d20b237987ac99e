package assistants_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/assistants"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
)

func TestAssistants(t *testing.T) {
	var cases []databases.Case
	for _, c := range []struct {
		name string
		test func(*fixture)
	}{
		{"round trip", assistantRoundTrip}, {"versions", assistantVersions}, {"search", assistantSearch},
		{"race", assistantRace}, {"of others", assistantsOfOthers},
	} {
		cases = append(cases, databases.Case{Name: c.name, Test: func(f *databases.Fixture) { c.test(newFixture(f)) }})
	}
	databases.Run(t, []database.Feature{assistants.Feature()}, cases)
}

// fixture is what ann has.
type fixture struct {
	*databases.Fixture
	*assistants.Mine

	now time.Time
}

func newFixture(f *databases.Fixture) *fixture {
	return &fixture{f, assistants.New(f).For(f.Ann()), time.Date(2026, 3, 14, 15, 9, 26, 535897000, time.UTC)}
}

func (f *fixture) tick() time.Time {
	f.now = f.now.Add(time.Second)
	return f.now
}

func (f *fixture) as(user string) *assistants.Mine {
	return assistants.New(f.Store).For(access.FromRow(user))
}

func (f *fixture) reopen() {
	f.Reopen()
	f.Mine = assistants.New(f.Store).For(f.Ann())
}

// members makes a filter from names and values in turn.
func members(pairs ...string) map[string]json.RawMessage {
	m := make(map[string]json.RawMessage)
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return m
}

// assistantsOfOthers: by the ids of what is ann's bob finds nothing, and nothing of hers changes; nobody is refused.
func assistantsOfOthers(f *fixture) {
	hers := f.add("assistant", "lead", "one", `{"v":1}`)
	for user, want := range map[access.User]error{f.Bob(): store.ErrNotFound, {}: access.ErrNoUser} {
		his := assistants.New(f.Store).For(user)
		_, err := his.Assistant(f.Context(), hers.ID)
		f.Want(err, want, "")
		_, err = his.Update(f.Context(), assistants.Assistant{ID: hers.ID})
		f.Want(err, want, "")
		_, err = his.SetLatest(f.Context(), hers.ID, 1)
		f.Want(err, want, "")
		_, err = his.Versions(f.Context(), hers.ID, 10, 0)
		f.Want(err, want, "")
		f.Want(his.Delete(f.Context(), hers.ID), want, "")
		found, err := his.Search(f.Context(), assistants.Filter{})
		f.Equal("found", len(found), 0)
		f.Equal("searched", err == nil, user == f.Bob())
		n, err := his.Count(f.Context(), assistants.Filter{})
		f.Equal("counted", n, 0)
		f.Equal("count", err == nil, user == f.Bob())
		if user == f.Bob() {
			want = store.ErrConflict
		}
		f.Want(his.Create(f.Context(), assistants.Assistant{ID: hers.ID}), want, "")
	}
	f.Equal("hers", f.inForce(hers.ID), hers)
}

// assistant creates an assistant of ann.
func (f *fixture) add(id, graph, name, metadata string) assistants.Assistant {
	f.Helper()
	now := f.tick()
	a := assistants.Assistant{ID: id, GraphID: graph, Name: name, Description: "What " + id + " does", Version: 1,
		Config: json.RawMessage(`{"model": "m"}`), Context: json.RawMessage(`{}`), Metadata: json.RawMessage(metadata),
		CreatedAt: now, UpdatedAt: now}
	f.Must(f.Create(f.Context(), a))
	return a
}

// inForce reads an assistant.
func (f *fixture) inForce(id string) assistants.Assistant {
	f.Helper()
	a, err := f.Assistant(f.Context(), id)
	f.Must(err)
	return a
}

func assistantRoundTrip(f *fixture) {
	want := f.add("a 1/ä'", "lead", "Älgo <1>", `{"a": 1.0}`)
	f.Equal("assistant", f.inForce(want.ID), want)
	f.Want(f.Create(f.Context(), want), store.ErrConflict, want.ID)
	f.Must(f.Create(f.Context(), assistants.Assistant{ID: "bare", Version: 7, Name: "a\x00b"}))
	f.reopen()
	bare := f.inForce("bare")
	f.Equal("of nil", fmt.Sprint(string(bare.Config), string(bare.Context), string(bare.Metadata), bare.Version,
		bare.Name), "{}{}{}1a\uFFFDb")
	_, err := f.Assistant(f.Context(), "nobody")
	f.Want(err, store.ErrNotFound, "nobody")
	f.Must(f.Delete(f.Context(), "bare"))
	f.Want(f.Delete(f.Context(), "bare"), store.ErrNotFound, "bare")
	_, err = f.Assistant(f.Context(), "bare")
	f.Want(err, store.ErrNotFound, "bare")
	f.Equal("the other", f.inForce(want.ID), want)

	object := func(n int) json.RawMessage { return json.RawMessage(`{"v":"` + strings.Repeat("v", n-8) + `"}`) }
	for _, bad := range []assistants.Assistant{{}, {ID: "a\x00"}, {ID: "b", GraphID: "\x00"},
		{ID: "b", Config: json.RawMessage(`[]`)}, {ID: "b", Context: json.RawMessage(`1`)},
		{ID: "b", Metadata: json.RawMessage(`{`)}} {
		if err := f.Create(f.Context(), bad); err == nil {
			f.Errorf("Create took %+v", bad)
		}
	}
	f.Want(f.Create(f.Context(), assistants.Assistant{ID: "b", Metadata: object(64<<10 + 1)}), store.ErrTooLarge,
		"metadata")
	f.Want(f.Create(f.Context(), assistants.Assistant{ID: "b", Config: object(1 << 20), Name: "x"}), store.ErrTooLarge,
		"assistant")
	_, err = f.Update(f.Context(), assistants.Assistant{ID: want.ID, Config: object(1<<20 + 1)})
	f.Want(err, store.ErrTooLarge, want.ID)
	f.Must(f.Create(f.Context(), assistants.Assistant{ID: "b", Config: object(1 << 20)}))
	f.Sound()
}

func assistantVersions(f *fixture) {
	first := f.add("a", "lead", "one", `{"v":1}`)
	change := assistants.Assistant{ID: "a", GraphID: "other", Name: "two\x00", UpdatedAt: f.tick(), Version: 9}
	second, err := f.Update(f.Context(), change)
	f.Must(err)
	want := assistants.Assistant{ID: "a", GraphID: "other", Name: "two\uFFFD", Version: 2, CreatedAt: f.now,
		UpdatedAt: f.now,
		Config:    json.RawMessage(`{}`), Context: json.RawMessage(`{}`), Metadata: json.RawMessage(`{}`)}
	f.Equal("second", second, want)
	f.Equal("in force", f.inForce("a"), second)
	got, err := f.SetLatest(f.Context(), "a", 1)
	f.Must(err)
	f.Equal("set", got, first)
	f.Equal("in force again", f.inForce("a"), first)
	f.Equal("found by the version in force", f.found(assistants.Filter{GraphID: "other"}), "")
	change.UpdatedAt = f.tick()
	third, err := f.Update(f.Context(), change)
	f.Must(err)
	f.Equal("number", third.Version, 3)
	versions, err := f.Versions(f.Context(), "a", 10, 0)
	f.Must(err)
	f.Equal("versions", versions, []assistants.Assistant{third, second, first})
	versions, err = f.Versions(f.Context(), "a", 1, 1)
	f.Must(err)
	f.Equal("page", versions, []assistants.Assistant{second})
	versions, err = f.Versions(f.Context(), "a", 1, 3)
	f.Must(err)
	f.Equal("behind the end", len(versions), 0)

	_, err = f.SetLatest(f.Context(), "a", 4)
	f.Want(err, store.ErrNotFound, "4")
	_, err = f.SetLatest(f.Context(), "nobody", 1)
	f.Want(err, store.ErrNotFound, "nobody")
	_, err = f.Update(f.Context(), assistants.Assistant{ID: "nobody"})
	f.Want(err, store.ErrNotFound, "nobody")
	_, err = f.Versions(f.Context(), "nobody", 10, 0)
	f.Want(err, store.ErrNotFound, "nobody")
	for _, bad := range [][2]int{{0, 0}, {1001, 0}, {1, -1}} {
		if _, err := f.Versions(f.Context(), "a", bad[0], bad[1]); err == nil {
			f.Errorf("Versions took %v", bad)
		}
	}
	f.Equal("in force after what was refused", f.inForce("a"), third)
	f.Sound()
}

// assistants searches and returns the ids. The count of the filter must agree.
func (f *fixture) found(filter assistants.Filter) string {
	f.Helper()
	as, err := f.Search(f.Context(), filter)
	f.Must(err)
	var ids []string
	for _, a := range as {
		ids = append(ids, a.ID)
	}
	n, err := f.Count(f.Context(), filter)
	f.Must(err)
	if filter.Limit == 0 && filter.Offset == 0 {
		f.Equal("count", n, len(as))
	}
	return strings.Join(ids, " ")
}

func assistantSearch(f *fixture) {
	f.add("3", "lead", "Das Große ÉLAN", `{"k":1,"created_by":"system"}`)
	f.add("1", "lead", "alpha_1", `{"k":"1"}`)
	f.add("2", "other", "Beta 100%", `{"k":true}`)
	f.Must(f.as("bob").Create(f.Context(), assistants.Assistant{ID: "4", GraphID: "lead", Name: "Beta"}))
	_, err := f.Update(f.Context(), assistants.Assistant{ID: "1", GraphID: "lead", Name: "alpha_1",
		Metadata: json.RawMessage(`{"k":"1"}`), UpdatedAt: f.tick()})
	f.Must(err)
	for _, tt := range []struct {
		name   string
		filter assistants.Filter
		want   string
	}{
		{"all", assistants.Filter{}, "1 2 3"},
		{"of a graph", assistants.Filter{GraphID: "lead"}, "1 3"},
		{"by name", assistants.Filter{Name: "große élan"}, "3"},
		{"by part of a name", assistants.Filter{Name: "BETA"}, "2"},
		{"by odd name", assistants.Filter{Name: "0%"}, "2"},
		{"number", assistants.Filter{Metadata: members("k", "1.0")}, "3"},
		{"text", assistants.Filter{Metadata: members("k", `"1"`)}, "1"},
		{"by id", assistants.Filter{Sort: "assistant_id", Ascending: true}, "1 2 3"},
		{"by name's bytes", assistants.Filter{Sort: "name", Ascending: true}, "2 3 1"},
		{"by update", assistants.Filter{Sort: "updated_at"}, "1 2 3"},
		{"by age", assistants.Filter{Sort: "created_at", Ascending: true}, "3 2 1"},
		{"page", assistants.Filter{Limit: 2, Offset: 1}, "2 3"},
		{"page by name", assistants.Filter{Name: "a", Sort: "assistant_id", Limit: 2, Offset: 1}, "2 1"},
	} {
		f.Equal(tt.name, f.found(tt.filter), tt.want)
	}
	for _, bad := range []assistants.Filter{{Limit: -1}, {Limit: 1002}, {Offset: -1}, {Sort: "graph_id"},
		{Metadata: members("k", "{}")}} {
		if _, err := f.Search(f.Context(), bad); err == nil {
			f.Errorf("Search took %+v", bad)
		}
	}
}

// assistantRace: updates at the same time make a version each, and one is in force.
func assistantRace(f *fixture) {
	f.add("a", "lead", "one", `{}`)
	f.Equal("done", f.Together(24, nil, func(i int) (err error) {
		if i%6 == 5 {
			_, err = f.SetLatest(f.Context(), "a", 1)
		} else {
			_, err = f.Update(f.Context(), assistants.Assistant{ID: "a", Name: fmt.Sprint(i)})
		}
		return err
	}), 24)
	versions, err := f.Versions(f.Context(), "a", 100, 0)
	f.Must(err)
	for i, v := range versions {
		f.Equal("version", v.Version, 21-i)
	}
	f.Equal("versions", len(versions), 21)
	f.inForce("a")
	f.Sound()
}

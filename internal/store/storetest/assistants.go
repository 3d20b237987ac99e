package storetest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/internal/store"
)

// assistant creates an assistant of ann.
func (f *fixture) assistant(id, graph, name, metadata string) store.Assistant {
	f.Helper()
	now := f.tick()
	a := store.Assistant{ID: id, GraphID: graph, Name: name, Description: "What " + id + " does", Version: 1,
		Config: json.RawMessage(`{"model": "m"}`), Context: json.RawMessage(`{}`), Metadata: json.RawMessage(metadata), CreatedAt: now, UpdatedAt: now}
	f.must(f.CreateAssistant(f.Context(), a))
	return a
}

// inForce reads an assistant.
func (f *fixture) inForce(id string) store.Assistant {
	f.Helper()
	a, err := f.Assistant(f.Context(), id)
	f.must(err)
	return a
}

func assistantRoundTrip(f *fixture) {
	want := f.assistant("a 1/ä'", "lead", "Älgo <1>", `{"a": 1.0}`)
	f.equal("assistant", f.inForce(want.ID), want)
	f.want(f.CreateAssistant(f.Context(), want), store.ErrConflict, want.ID)
	f.must(f.CreateAssistant(f.Context(), store.Assistant{ID: "bare", Version: 7, Name: "a\x00b"}))
	f.reopen()
	bare := f.inForce("bare")
	f.equal("of nil", fmt.Sprint(string(bare.Config), string(bare.Context), string(bare.Metadata), bare.Version, bare.Name), "{}{}{}1a\uFFFDb")
	_, err := f.Assistant(f.Context(), "nobody")
	f.want(err, store.ErrNotFound, "nobody")
	f.must(f.DeleteAssistant(f.Context(), "bare"))
	f.want(f.DeleteAssistant(f.Context(), "bare"), store.ErrNotFound, "bare")
	_, err = f.Assistant(f.Context(), "bare")
	f.want(err, store.ErrNotFound, "bare")
	f.equal("the other", f.inForce(want.ID), want)

	object := func(n int) json.RawMessage { return json.RawMessage(`{"v":"` + strings.Repeat("v", n-8) + `"}`) }
	for _, bad := range []store.Assistant{{}, {ID: "a\x00"}, {ID: "b", GraphID: "\x00"},
		{ID: "b", Config: json.RawMessage(`[]`)}, {ID: "b", Context: json.RawMessage(`1`)}, {ID: "b", Metadata: json.RawMessage(`{`)}} {
		if err := f.CreateAssistant(f.Context(), bad); err == nil {
			f.Errorf("CreateAssistant took %+v", bad)
		}
	}
	f.want(f.CreateAssistant(f.Context(), store.Assistant{ID: "b", Metadata: object(64<<10 + 1)}), store.ErrTooLarge, "metadata")
	f.want(f.CreateAssistant(f.Context(), store.Assistant{ID: "b", Config: object(1 << 20), Name: "x"}), store.ErrTooLarge, "assistant")
	_, err = f.UpdateAssistant(f.Context(), store.Assistant{ID: want.ID, Config: object(1<<20 + 1)})
	f.want(err, store.ErrTooLarge, want.ID)
	f.must(f.CreateAssistant(f.Context(), store.Assistant{ID: "b", Config: object(1 << 20)}))
	f.sound()
}

func assistantVersions(f *fixture) {
	first := f.assistant("a", "lead", "one", `{"v":1}`)
	change := store.Assistant{ID: "a", GraphID: "other", Name: "two\x00", UpdatedAt: f.tick(), Version: 9}
	second, err := f.UpdateAssistant(f.Context(), change)
	f.must(err)
	want := store.Assistant{ID: "a", GraphID: "other", Name: "two\uFFFD", Version: 2, CreatedAt: f.now, UpdatedAt: f.now,
		Config: json.RawMessage(`{}`), Context: json.RawMessage(`{}`), Metadata: json.RawMessage(`{}`)}
	f.equal("second", second, want)
	f.equal("in force", f.inForce("a"), second)
	got, err := f.SetLatest(f.Context(), "a", 1)
	f.must(err)
	f.equal("set", got, first)
	f.equal("in force again", f.inForce("a"), first)
	f.equal("found by the version in force", f.assistants(store.AssistantFilter{GraphID: "other"}), "")
	change.UpdatedAt = f.tick()
	third, err := f.UpdateAssistant(f.Context(), change)
	f.must(err)
	f.equal("number", third.Version, 3)
	versions, err := f.Versions(f.Context(), "a", 10, 0)
	f.must(err)
	f.equal("versions", versions, []store.Assistant{third, second, first})
	versions, err = f.Versions(f.Context(), "a", 1, 1)
	f.must(err)
	f.equal("page", versions, []store.Assistant{second})
	versions, err = f.Versions(f.Context(), "a", 1, 3)
	f.must(err)
	f.equal("behind the end", len(versions), 0)

	_, err = f.SetLatest(f.Context(), "a", 4)
	f.want(err, store.ErrNotFound, "4")
	_, err = f.SetLatest(f.Context(), "nobody", 1)
	f.want(err, store.ErrNotFound, "nobody")
	_, err = f.UpdateAssistant(f.Context(), store.Assistant{ID: "nobody"})
	f.want(err, store.ErrNotFound, "nobody")
	_, err = f.Versions(f.Context(), "nobody", 10, 0)
	f.want(err, store.ErrNotFound, "nobody")
	for _, bad := range [][2]int{{0, 0}, {1001, 0}, {1, -1}} {
		if _, err := f.Versions(f.Context(), "a", bad[0], bad[1]); err == nil {
			f.Errorf("Versions took %v", bad)
		}
	}
	f.equal("in force after what was refused", f.inForce("a"), third)
	f.sound()
}

// assistants searches and returns the ids. The count of the filter must agree.
func (f *fixture) assistants(filter store.AssistantFilter) string {
	f.Helper()
	as, err := f.SearchAssistants(f.Context(), filter)
	f.must(err)
	var ids []string
	for _, a := range as {
		ids = append(ids, a.ID)
	}
	n, err := f.CountAssistants(f.Context(), filter)
	f.must(err)
	if filter.Limit == 0 && filter.Offset == 0 {
		f.equal("count", n, len(as))
	}
	return strings.Join(ids, " ")
}

func assistantSearch(f *fixture) {
	f.assistant("3", "lead", "Das Große ÉLAN", `{"k":1,"created_by":"system"}`)
	f.assistant("1", "lead", "alpha_1", `{"k":"1"}`)
	f.assistant("2", "other", "Beta 100%", `{"k":true}`)
	f.must(f.as("bob").CreateAssistant(f.Context(), store.Assistant{ID: "4", GraphID: "lead", Name: "Beta"}))
	_, err := f.UpdateAssistant(f.Context(), store.Assistant{ID: "1", GraphID: "lead", Name: "alpha_1", Metadata: json.RawMessage(`{"k":"1"}`), UpdatedAt: f.tick()})
	f.must(err)
	for _, tt := range []struct {
		name   string
		filter store.AssistantFilter
		want   string
	}{
		{"all", store.AssistantFilter{}, "1 2 3"},
		{"of a graph", store.AssistantFilter{GraphID: "lead"}, "1 3"},
		{"by name", store.AssistantFilter{Name: "große élan"}, "3"},
		{"by part of a name", store.AssistantFilter{Name: "BETA"}, "2"},
		{"by odd name", store.AssistantFilter{Name: "0%"}, "2"},
		{"number", store.AssistantFilter{Metadata: jsonMembers("k", "1.0")}, "3"},
		{"text", store.AssistantFilter{Metadata: jsonMembers("k", `"1"`)}, "1"},
		{"by id", store.AssistantFilter{Sort: "assistant_id", Ascending: true}, "1 2 3"},
		{"by name's bytes", store.AssistantFilter{Sort: "name", Ascending: true}, "2 3 1"},
		{"by update", store.AssistantFilter{Sort: "updated_at"}, "1 2 3"},
		{"by age", store.AssistantFilter{Sort: "created_at", Ascending: true}, "3 2 1"},
		{"page", store.AssistantFilter{Limit: 2, Offset: 1}, "2 3"},
		{"page by name", store.AssistantFilter{Name: "a", Sort: "assistant_id", Limit: 2, Offset: 1}, "2 1"},
	} {
		f.equal(tt.name, f.assistants(tt.filter), tt.want)
	}
	for _, bad := range []store.AssistantFilter{{Limit: -1}, {Limit: 1002}, {Offset: -1}, {Sort: "graph_id"}, {Metadata: jsonMembers("k", "{}")}} {
		if _, err := f.SearchAssistants(f.Context(), bad); err == nil {
			f.Errorf("SearchAssistants took %+v", bad)
		}
	}
}

// assistantRace: updates at the same time make a version each, and one is in force.
func assistantRace(f *fixture) { assistantsOfBoth(f, f) }

func assistantsOfBoth(a, b *fixture) {
	a.assistant("a", "lead", "one", `{}`)
	_, errs := together(24, func(i int) (store.Assistant, error) {
		f := []*fixture{a, b}[i%2]
		if i%6 == 5 {
			return f.SetLatest(f.Context(), "a", 1)
		}
		return f.UpdateAssistant(f.Context(), store.Assistant{ID: "a", Name: fmt.Sprint(i)})
	})
	a.equal("done", winners(a, errs, nil), 24)
	versions, err := b.Versions(b.Context(), "a", 100, 0)
	b.must(err)
	for i, v := range versions {
		b.equal("version", v.Version, 21-i)
	}
	b.equal("versions", len(versions), 21)
	b.inForce("a")
	b.sound()
}

package memory_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
)

func TestMemory(t *testing.T) {
	databases.Run(t, feature.All(), []databases.Case{
		{Name: "facts", Test: keepsFacts}, {Name: "bounds", Test: bounds}, {Name: "eviction", Test: evicts},
		{Name: "forgotten with what was made of it", Test: forgets}, {Name: "documents", Test: documents},
		{Name: "search", Test: searches},
		{Name: "search among many", Test: searchesAmongMany},
		{Name: "of others", Test: ofOthers}, {Name: "folders", Test: goesWithItsFolder},
		{Name: "two at once", Test: twoAtOnce}, {Name: "copied, restored and deleted", Test: kept},
		{Name: "proposed", Test: proposed},
	})
}

var now = time.Date(2026, 3, 14, 15, 9, 26, 535897000, time.UTC)

// newMemory is one whose clock goes on by a second each time that it is looked at.
func newMemory(f *databases.Fixture, change func(*config.Memory)) *memory.Memory {
	clock := now
	return memory.New(memory.Config{
		Store: f.Store, Now: func() time.Time { clock = clock.Add(time.Second); return clock },
		Settings: func() config.Memory {
			c := config.Default().Memory
			if change != nil {
				change(&c)
			}
			return c
		},
	})
}

func fact(content, category string) memory.Fact {
	f := memory.Fact{Content: content, Confidence: 0.8}
	f.SetCategory(category)
	return f
}

// contents are those of the active facts.
func contents(f *databases.Fixture, m *memory.Mine) string {
	f.Helper()
	list, err := m.Facts(f.Context(), memory.Active, "", 1000)
	f.Must(err)
	var out []string
	for _, x := range list {
		out = append(out, x.Content)
	}
	return strings.Join(sorted(out), ", ")
}

func keepsFacts(f *databases.Fixture) {
	m := newMemory(f, nil).For(f.Ann())
	tea, err := m.Add(f.Context(), fact("  Likes\x00 tea ", ""))
	f.Must(err)
	f.Equal("content", tea.Content, "Likes\uFFFD tea")
	pet, err := m.Add(f.Context(), fact("Has a cat", "pets"))
	f.Must(err)
	f.Equal("category", []string{pet.Category, pet.Extension}, []string{"other", "pets"})
	_, err = m.Add(f.Context(), fact("has  A cat", ""))
	f.Want(err, memory.ErrDuplicate, "")
	_, err = m.Add(f.Context(), fact(" ", ""))
	f.Want(err, memory.ErrEmpty, "")

	green, none := "Likes green tea", ""
	changed, err := m.Change(f.Context(), tea.ID, memory.Patch{Content: &green})
	f.Must(err)
	f.Equal("revision", changed.Revision, 2)
	_, err = m.Change(f.Context(), tea.ID, memory.Patch{Content: &none})
	f.Want(err, memory.ErrEmpty, "")
	_, err = m.Change(f.Context(), tea.ID, memory.Patch{})
	f.Must(err)
	_, err = m.Change(f.Context(), "nope", memory.Patch{Content: &green})
	f.Want(err, store.ErrNotFound, "")
	d, err := m.Document(f.Context())
	f.Must(err)
	f.Equal("revision of all", d.Revision, 3) // a change of nothing is none

	f.Reopen()
	m = newMemory(f, nil).For(f.Ann())
	got, err := m.Fact(f.Context(), tea.ID)
	f.Must(err)
	f.Equal("read", []any{got.Content, got.Confidence, got.CreatedAt.Equal(tea.CreatedAt), got.Source},
		[]any{green, 0.8, true, "manual"})
	story, err := m.Story(f.Context(), tea.ID)
	f.Must(err)
	f.Equal("history", []string{story.History[0].Act, story.History[1].Act},
		[]string{memory.ActChanged, memory.ActAdded})
	f.Equal("before", story.History[0].Before.Content, "Likes\uFFFD tea")
	f.Must(m.Clear(f.Context()))
	f.Equal("cleared", contents(f, m), "")
	list, err := m.History(f.Context(), "", 0, 10)
	f.Must(err)
	f.Equal("what is left of them", len(list), 1)
	f.Sound()
}

func bounds(f *databases.Fixture) {
	m := newMemory(f, nil).For(f.Ann())
	for _, change := range []func(*memory.Fact){
		func(x *memory.Fact) { x.Content = strings.Repeat("x", memory.MaxContent+1) },
		func(x *memory.Fact) { x.Confidence = 1.1 }, func(x *memory.Fact) { x.Agent = strings.Repeat("a", 300) },
		func(x *memory.Fact) { x.SetCategory(strings.Repeat("a", 300)) }, func(x *memory.Fact) { x.Folder = "none" },
	} {
		x := fact("a", "goal")
		if change(&x); true {
			if _, err := m.Add(f.Context(), x); err == nil {
				f.Errorf("Add took %.100s", fmt.Sprint(x))
			}
		}
	}
	if _, err := m.Facts(f.Context(), "", "", 20_001); err == nil {
		f.Error("Facts took any limit")
	}
	if _, err := m.Search(f.Context(), memory.Query{Words: "a", Limit: 101}); err == nil {
		f.Error("Search took any limit")
	}
	d := memory.Document{Facts: make([]memory.FactDoc, memory.MaxImport+1)}
	f.Want(m.Import(f.Context(), d), store.ErrTooLarge, "10000")
}

func evicts(f *databases.Fixture) {
	m := newMemory(f, func(c *config.Memory) { c.Backend.MaxFacts = 10 }).For(f.Ann())
	for i := range 10 {
		_, err := m.Add(f.Context(), fact(fmt.Sprint("fact ", i), ""))
		f.Must(err)
	}
	weak := fact("three", "")
	weak.Confidence = 0.1
	_, err := m.Add(f.Context(), weak)
	f.Want(err, memory.ErrEvicted, "")
	strong := fact("four", "")
	strong.Confidence = 1
	_, err = m.Add(f.Context(), strong)
	f.Must(err)
	if got := contents(f, m); strings.Contains(got, "fact 0,") || !strings.Contains(got, "four") ||
		strings.Count(got, ",") != 9 {
		f.Errorf("facts: %s", got)
	}
	own := fact("of an agent", "")
	own.Agent, own.Confidence = "writer", 0
	_, err = m.Add(f.Context(), own) // which has room of its own
	f.Must(err)
	gone, err := m.Facts(f.Context(), memory.Gone, "", 10)
	f.Must(err)
	f.Equal("gone", gone[0].Content, "fact 0")
	_, err = m.Restore(f.Context(), gone[0].ID)
	f.Must(err)
}

func forgets(f *databases.Fixture) {
	m := newMemory(f, nil).For(f.Ann())
	var ids []string
	for i, c := range []string{"a", "b", "c"} {
		x := fact(c, "")
		if i > 0 {
			x.From = []string{ids[i-1]}
		}
		made, err := m.Add(f.Context(), x)
		f.Must(err)
		ids = append(ids, made.ID)
	}
	n, err := m.Forget(f.Context(), ids[1])
	f.Must(err)
	f.Equal("forgotten", n, 2)
	f.Equal("left", contents(f, m), "a")
	_, err = m.Fact(f.Context(), ids[2])
	f.Want(err, store.ErrNotFound, ids[2])
	list, err := m.History(f.Context(), ids[2], 0, 10)
	f.Must(err)
	f.Equal("what is left in the history", []any{len(list), list[0].Act, list[0].Before == nil},
		[]any{1, memory.ActForgotten, true})
	_, err = m.Forget(f.Context(), ids[2])
	f.Want(err, store.ErrNotFound, "")
}

func documents(f *databases.Fixture) {
	all := newMemory(f, nil)
	m := all.For(f.Ann())
	d, err := m.Document(f.Context())
	f.Must(err)
	f.Equal("before the first write", []any{d.Version, d.Revision, len(d.Facts)}, []any{"1.0", 0, 0})
	d, err = memory.ParseDocument([]byte(`{"version":"1.0","user":{"workContext":{"summary":"Writes Go","updatedAt":"2026-01-01T00:00:00Z"}},
		"facts":[{"id":"fact_a","content":"A","category":"goal","confidence":0.4,"createdAt":"2026-01-01T00:00:00Z","source":"thread-1"},
		{"id":"fact_b","content":"B","source":{"type":"conversation","threadId":"t-2"},"extra":1,"scope":{"agentName":"Writer","projectId":"none"}},
		{"id":"fact_c","content":"A","category":"knowledge"}]}`))
	f.Must(err)
	_, err = m.Add(f.Context(), fact("replaced", ""))
	f.Must(err)
	f.Must(m.Import(f.Context(), d))
	got, err := m.Document(f.Context())
	f.Must(err)
	a := got.Facts[0]
	f.Equal("imported", []any{got.Version, got.User.Work.Summary, len(got.Facts), a.CreatedAt, string(a.Source),
		*a.Confidence, a.UpdatedAt},
		[]any{"2.0", "Writes Go", 3, "2026-01-01T00:00:00Z", "thread-1", 0.4, "2026-01-01T00:00:00Z"})
	f.Equal("scope", got.Facts[1].Scope, memory.ScopeDoc{UserID: "ann", AgentName: "writer"})
	f.Equal("other", []string{got.Facts[2].Category, got.Facts[2].CategoryExtension, got.Facts[2].CreatedAt},
		[]string{"other", "knowledge", ""})
	files, err := got.Files()
	f.Must(err)
	back, err := memory.ReadFolder(mapFS(files))
	f.Must(err)
	other := all.For(f.Bob())
	f.Must(other.Import(f.Context(), back))
	again, err := other.Document(f.Context())
	f.Must(err)
	for i := range again.Facts {
		again.Facts[i].Scope.UserID = "ann"
	}
	f.Equal("written and read as files", again.Facts, got.Facts)
	f.Equal("sections", again.Sections, got.Sections)
	f.Must(m.Import(f.Context(), memory.Document{}))
	got, err = m.Document(f.Context())
	f.Must(err)
	f.Equal("of nothing", []any{len(got.Facts), got.User.Work.Summary, got.Revision}, []any{0, "", 3})
	d.Facts = append(d.Facts, d.Facts[0])
	f.Want(m.Import(f.Context(), d), store.ErrConflict, "fact_a")
}

func searches(f *databases.Fixture) {
	m := newMemory(f, nil).For(f.Ann())
	for _, c := range []string{"Prefers green tea", "喜欢绿茶，不喝咖啡", "The CRM exports use semicolons",
		"Tea at four, green or not"} {
		_, err := m.Add(f.Context(), fact(c, "preference"))
		f.Must(err)
	}
	for query, want := range map[string]string{
		"green tea ": "Prefers green tea|Tea at four, green or not",
		"te":         "Tea at four, green or not|Prefers green tea", "绿茶": "喜欢绿茶，不喝咖啡", "茶": "喜欢绿茶，不喝咖啡",
		`"green tea"`: "Prefers green tea", "tea -four": "Prefers green tea", "semi": "The CRM exports use semicolons",
		"nothing": "", "": "", "'; DROP TABLE memory_facts; --": "", "preference crm": "The CRM exports use semicolons",
	} {
		hits, err := m.Search(f.Context(), memory.Query{Words: query, Status: memory.Active, Limit: 10})
		f.Must(err)
		var got []string
		for _, h := range hits {
			got = append(got, h.Content)
		}
		if query == "te" {
			got = sorted(got)
			want = "Prefers green tea|Tea at four, green or not"
		}
		f.Equal("found by "+query, strings.Join(got, "|"), want)
	}
	hits, err := newMemory(f, nil).For(f.Bob()).Search(f.Context(), memory.Query{Words: "tea", Limit: 10})
	f.Must(err)
	f.Equal("another's", len(hits), 0)
}

// searchesAmongMany: words that thousands of facts have are looked for in another way than rare ones.
func searchesAmongMany(f *databases.Fixture) {
	const n = 2100
	m := newMemory(f, func(c *config.Memory) { c.Backend.MaxFacts = n }).For(f.Ann())
	d := memory.Document{Facts: make([]memory.FactDoc, n)}
	for i := range d.Facts {
		d.Facts[i] = memory.FactDoc{ID: fmt.Sprint("fact_", i),
			Content: fmt.Sprintf("Word%d stands on page%d of the book", i%2, i), Category: "context"}
	}
	f.Must(m.Import(f.Context(), d))
	for query, want := range map[string]int{"boo": 100, "pag": 100, "page2099": 1, "page209": 11, "page17 boo": 1,
		"word1 pag": 100, "pagf": 0, "page -book": 0} {
		hits, err := m.Search(f.Context(), memory.Query{Words: query, Status: memory.Active, Limit: memory.MaxFound})
		f.Must(err)
		f.Equal("found by "+query, len(hits), want)
	}
}

func ofOthers(f *databases.Fixture) {
	all := newMemory(f, nil)
	made, err := all.For(f.Ann()).Add(f.Context(), fact("secret", ""))
	f.Must(err)
	bob := all.For(f.Bob())
	c := "mine"
	_, err = bob.Fact(f.Context(), made.ID)
	f.Want(err, store.ErrNotFound, "")
	_, err = bob.Change(f.Context(), made.ID, memory.Patch{Content: &c})
	f.Want(err, store.ErrNotFound, "")
	_, err = bob.Forget(f.Context(), made.ID)
	f.Want(err, store.ErrNotFound, "")
	_, err = bob.Accept(f.Context(), made.ID)
	f.Want(err, store.ErrNotFound, "")
	f.Must(bob.Clear(f.Context()))
	f.Equal("ann's", contents(f, all.For(f.Ann())), "secret")
	_, err = all.For(access.User{}).Document(f.Context())
	f.Want(err, access.ErrNoUser, "")
	f.Want(all.For(access.User{}).Clear(f.Context()), access.ErrNoUser, "")
}

func goesWithItsFolder(f *databases.Fixture) {
	m, mine := newMemory(f, nil).For(f.Ann()), folders.New(f).For(f.Ann())
	f.Must(mine.Create(f.Context(), folders.Folder{ID: "p", Name: "Project", CreatedAt: now, UpdatedAt: now}))
	x := fact("of the project", "")
	x.Folder = "p"
	made, err := m.Add(f.Context(), x)
	f.Must(err)
	_, err = m.Add(f.Context(), fact("of all", ""))
	f.Must(err)
	f.Must(mine.Delete(f.Context(), "p"))
	f.Equal("left", contents(f, m), "of all")
	list, err := m.History(f.Context(), made.ID, 0, 10)
	f.Must(err)
	f.Equal("its history", len(list), 0)
	f.Sound()
}

func twoAtOnce(f *databases.Fixture) {
	all := newMemory(f, nil)
	n := f.Together(6, memory.ErrChanged, func(i int) error {
		_, err := memory.New(memory.Config{Store: f.Store}).For(f.Ann()).
			Add(f.Context(), fact(fmt.Sprint("fact ", i), ""))
		return err
	})
	f.Equal("facts", strings.Count(contents(f, all.For(f.Ann()))+",", ","), n)
	d, err := all.For(f.Ann()).Document(f.Context())
	f.Must(err)
	f.Equal("revision", d.Revision, n)
}

func kept(f *databases.Fixture) {
	m := newMemory(f, nil).For(f.Ann())
	made, err := m.Add(f.Context(), fact("Likes tea", "preference"))
	f.Must(err)
	var b strings.Builder
	_, err = f.Store.System().Dump(f.Context(), &b)
	f.Must(err)
	_, err = f.Store.System().DeleteUser(f.Context(), f.Ann())
	f.Must(err)
	f.Equal("deleted", contents(f, m), "")
	list, err := m.History(f.Context(), "", 0, 10)
	f.Must(err)
	f.Equal("its history", len(list), 0)
	f.Must(load(f, b.String()))
	got, err := m.Fact(f.Context(), made.ID)
	f.Must(err)
	f.Equal("restored", got, made)
	hits, err := m.Search(f.Context(), memory.Query{Words: "tea", Limit: 1})
	f.Must(err)
	f.Equal("found again", len(hits), 1)
	f.Sound()
}

func proposed(f *databases.Fixture) {
	m := newMemory(f, nil).For(f.Ann())
	f.Must(m.Import(f.Context(), memory.Document{Facts: []memory.FactDoc{
		{ID: "a", Content: "said by a page", Status: "proposed"}, {ID: "b", Content: "no", Status: "proposed"},
		{ID: "c", Content: "NO"},
	}}))
	f.Equal("active", contents(f, m), "NO")
	got, err := m.Accept(f.Context(), "a")
	f.Must(err)
	f.Equal("accepted", got.Status, memory.Active)
	_, err = m.Accept(f.Context(), "a")
	f.Want(err, store.ErrNotFound, "")
	got, err = m.Accept(f.Context(), "b")
	f.Must(err)
	f.Equal("known already", got.Status, memory.Gone)
	_, err = m.Refuse(f.Context(), "c")
	f.Want(err, store.ErrNotFound, "")
}

var _ database.Store = (*databases.Fixture)(nil)

package memory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
)

func TestTouched(t *testing.T) {
	databases.Run(t, feature.All(), []databases.Case{
		{Name: "no twins", Test: noTwins}, {Name: "of an agent", Test: goesWithItsAgent},
		{Name: "hybrid", Test: evictsByMore}, {Name: "no history", Test: withoutHistory},
	})
}

// noTwins is that no way leads to two active facts that say the same.
func noTwins(f *databases.Fixture) {
	m := newMemory(f, nil).For(f.Ann())
	f.Must(m.Import(f.Context(),
		memory.Document{Facts: []memory.FactDoc{{ID: "a", Content: "Likes tea"}, {ID: "b", Content: "Has a cat"}}}))
	// a can come back
	f.Must(m.Import(f.Context(), memory.Document{Facts: []memory.FactDoc{{ID: "b", Content: "Has a cat"}}}))
	_, err := m.Add(f.Context(), fact("likes  TEA", ""))
	f.Must(err)
	_, err = m.Restore(f.Context(), "a")
	f.Want(err, memory.ErrDuplicate, "")
	tea := "Likes tea"
	_, err = m.Change(f.Context(), "b", memory.Patch{Content: &tea})
	f.Want(err, memory.ErrDuplicate, "")
	for _, marks := range []string{"!!!", "..."} { // which have no word
		_, err = m.Add(f.Context(), fact(marks, ""))
		f.Must(err)
	}
	_, err = m.Add(f.Context(), fact("!!!", "goal"))
	f.Want(err, memory.ErrDuplicate, "")
	f.Equal("facts", contents(f, m), "!!!, ..., Has a cat, likes  TEA")
	other := fact("likes tea", "")
	other.Agent = "writer"
	_, err = m.Add(f.Context(), other) // which another agent is told
	f.Must(err)
	hits, err := m.Search(f.Context(), memory.Query{Words: "=", Limit: 10})
	f.Must(err)
	f.Equal("found by no word", len(hits), 0)
}

func goesWithItsAgent(f *databases.Fixture) {
	m, others := newMemory(f, nil).For(f.Ann()), newMemory(f, nil).For(f.Bob())
	for _, mine := range []*memory.Mine{m, others} {
		f.Must(mine.Import(f.Context(), memory.Document{Facts: []memory.FactDoc{
			{ID: "a", Content: "of the writer", Scope: memory.ScopeDoc{AgentName: "Writer"}},
			{ID: "b", Content: "made of it", ConsolidatedFrom: []string{"a"}},
			{ID: "c", Content: "of all"},
			{ID: "d", Content: "of the writer's friend", Scope: memory.ScopeDoc{AgentName: "writers"}},
		}}))
	}
	n, err := m.ForgetAgent(f.Context(), "writer")
	f.Must(err)
	f.Equal("gone", n, 2)
	f.Equal("left", contents(f, m), "of all, of the writer's friend")
	f.Equal("another user's", strings.Count(contents(f, others), ","), 3)
	before, err := m.Document(f.Context())
	f.Must(err)
	for _, agent := range []string{"", "nobody", "%"} {
		n, err = m.ForgetAgent(f.Context(), agent)
		f.Must(err)
		f.Equal("gone with "+agent, n, 0)
	}
	after, err := m.Document(f.Context())
	f.Must(err)
	f.Equal("a write of nothing", after.Revision, before.Revision)
	_, err = newMemory(f, nil).For(access.User{}).ForgetAgent(f.Context(), "writer")
	f.Want(err, access.ErrNoUser, "")
	f.Sound()
}

// evictsByMore is that the weakest go among many, by what they are worth together and by the confidence alone.
func evictsByMore(f *databases.Fixture) {
	for _, policy := range []string{"confidence", "hybrid-v1"} {
		m := newMemory(f, func(c *config.Memory) { c.Backend.MaxFacts, c.Backend.Eviction = 10, policy }).For(f.Ann())
		f.Must(m.Clear(f.Context()))
		for i := range 15 {
			x := fact(fmt.Sprintf("fact %02d", i), "")
			x.Confidence = []float64{0.9, 0.5, 0.7}[i%3]
			_, err := m.Add(f.Context(), x)
			f.Must(err)
		}
		weak := fact("weaker", "")
		weak.Confidence = 0.1
		_, err := m.Add(f.Context(), weak)
		f.Want(err, memory.ErrEvicted, "")
		f.Equal(policy, contents(f, m),
			"fact 00, fact 02, fact 03, fact 05, fact 06, fact 08, fact 09, fact 11, fact 12, fact 14")
	}
}

// withoutHistory is that a new fact has a number of its own where the history of the others has outlived its use.
func withoutHistory(f *databases.Fixture) {
	m := newMemory(f, nil).For(f.Ann())
	_, err := m.Add(f.Context(), fact("one", ""))
	f.Must(err)
	f.Must(f.Store.Feature("memory").For(f.Ann()).Write(f.Context(), 0, func(tx database.Tx) error {
		_, err := tx.Exec("clearhistory")
		return err
	}))
	_, err = m.Add(f.Context(), fact("two", ""))
	f.Must(err)
	f.Equal("facts", contents(f, m), "one, two")
}

// spends is that the tokens of readings are counted, and that pages are told.
func spends(f *databases.Fixture) {
	r := newReader(f)
	r.hear("human: I like tea.")
	f.Equal("read", r.read(one("Likes tea", "I like tea.", "")), "done")
	r.hear("ai: Fine.", "human: And I like cake.")
	f.Equal("read again", r.read(one("Likes cake", "I like cake.", "")), "done")
	got, err := r.mine.Spent(f.Context(), "t")
	f.Must(err)
	f.Equal("spent", got, map[string]memory.Spent{"test/reader": {Input: 140, Output: 14, Total: 154}})
	none, err := r.all.For(f.Bob()).Spent(f.Context(), "t")
	f.Must(err)
	f.Equal("another user's", len(none), 0)
	r.mu.Lock()
	defer r.mu.Unlock()
	f.Equal("told", r.done, []access.User{f.Ann(), f.Ann()})
}

// showsWhatMatters is that of many facts the model sees an old one that the person speaks of, the oldest, and the
// newest.
func showsWhatMatters(f *databases.Fixture) {
	r := newReader(f)
	r.set.Backend.MaxFacts = 1000
	d := memory.Document{}
	for i := range 600 {
		text := fmt.Sprintf("Was told number %d by the person", i)
		if i == 200 {
			text = "Plays the bassoon"
		}
		d.Facts = append(d.Facts, memory.FactDoc{ID: fmt.Sprintf("f%03d", i), Content: text})
	}
	f.Must(r.mine.Import(f.Context(), d))
	r.hear("human: I have given up the bassoon.")
	f.Equal("read", r.read("{}"), "done")
	asked := r.asked[0]
	for id, want := range map[string]bool{"f200": true, "f000": true, "f599": true, "f300": false} {
		if strings.Contains(asked, `"`+id+`"`) != want {
			f.Errorf("shown %s: %v", id, !want)
		}
	}
	f.Equal("shown", strings.Count(asked, `"id":"f`), 200)
}

// undoneBesideATwin is that an undo brings nothing back that somebody has added again since.
func undoneBesideATwin(f *databases.Fixture) {
	r := newReader(f)
	tea, err := r.mine.Add(f.Context(), fact("Likes tea", ""))
	f.Must(err)
	r.hear("human: I no longer like tea.")
	f.Equal("read", r.read(fmt.Sprintf(`{"factsToRemove":[{"id":%q,"scope":"user","reason":"taken back"}]}`, tea.ID),
		`{"untrue":[1]}`), "done")
	f.Equal("taken back", contents(f, r.mine), "")
	_, err = r.mine.Add(f.Context(), fact("Likes tea", ""))
	f.Must(err)
	n, err := r.mine.Undo(f.Context())
	f.Must(err)
	f.Equal("undone", []any{n, contents(f, r.mine)}, []any{0, "Likes tea"})
}

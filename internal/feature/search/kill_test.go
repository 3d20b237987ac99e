package search_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/search"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/killtest"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// saidThen is how many messages the thread has.
const saidThen = 400

// versionOf is a thread each of whose messages has its title in it.
func versionOf(st store.Store) func(context.Context, access.User, string) (search.Content, error) {
	return func(ctx context.Context, u access.User, id string) (c search.Content, err error) {
		c.Thread, err = st.For(u).Thread(ctx, id)
		for i := range saidThen {
			m := message.New(message.Human, fmt.Sprintf("%s item%d", c.Thread.Title, i))
			m.ID = fmt.Sprint(i)
			c.Messages = append(c.Messages, m)
		}
		return c, err
	}
}

func openAt(t *testing.T, dir string) database.Store {
	t.Helper()
	st, err := sqlstore.Open(context.WithoutCancel(t.Context()), sqlstore.Config{Dir: dir, Features: feature.All()})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// TestKilled: whenever a process is killed that indexes, the database is sound, and the next one finishes the work.
func TestKilled(t *testing.T) {
	ann, dir := access.FromRow("ann"), t.TempDir()
	st := openAt(t, dir)
	if err := st.For(ann).CreateThread(t.Context(), store.Thread{ID: "t", Title: "version0"}); err != nil {
		t.Fatal(err)
	}
	st.Close()
	killtest.Site{
		Span:   time.Second,
		Before: func(int) string { return dir },
		Work: func(_ context.Context, told string, begin func(), _ func(string)) error {
			st := openAt(t, told)
			begin()
			work(t, st, ann)
			return nil
		},
		After: func(int, []string, bool) {
			st := openAt(t, dir)
			defer st.Close()
			whole(t, st, ann)
		},
	}.Run(t)
}

// work indexes one version after the other.
func work(t *testing.T, st database.Store, u access.User) {
	indexer := search.NewIndexer(search.Config{Store: st, Content: versionOf(st)})
	for {
		title := fmt.Sprint("version", time.Now().UnixNano())
		if _, err := st.For(u).PatchThread(t.Context(), "t", store.ThreadPatch{Title: &title}); err != nil {
			t.Fatal(err)
		}
		if err := indexer.Index(t.Context(), u, "t"); err != nil {
			t.Fatal(err)
		}
	}
}

// whole makes the index whole, and sees that it has what the thread has, each once, and nothing else.
func whole(t *testing.T, st database.Store, u access.User) {
	t.Helper()
	err := st.System().Verify(t.Context(), state.Schema{},
		store.Visitor{Problem: func(p store.Problem) { t.Errorf("fault: %+v", p) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := search.NewIndexer(search.Config{Store: st, Content: versionOf(st)}).Fill(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	th, err := st.For(u).Thread(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	find := func(words string) []search.Hit {
		hits, _, err := search.New(st, nil).For(u).Find(t.Context(), search.Query{Words: words, Limit: search.MaxHits})
		if err != nil {
			t.Fatal(err)
		}
		return hits
	}
	for i := range saidThen {
		if hits := find(fmt.Sprintf("item%d ", i)); len(hits) != 1 || hits[0].Ref != fmt.Sprint(i) {
			t.Fatalf("message %d: %+v", i, hits)
		}
	}
	if of := find("version -" + th.Title); len(of) > 0 {
		t.Errorf("of other versions: %+v", of[0])
	}
}

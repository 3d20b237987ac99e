package search_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/search"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
	"github.com/pudu-ai/pudu/message"
)

// FuzzFind: whatever somebody looks for, both databases take it, find the same, and nothing of another user's.
func FuzzFind(f *testing.F) {
	pg := pgtest.Lazy{Config: pgtest.Config{Settings: []string{"fsync = off"}}}
	f.Cleanup(func() { pg.Stop() })
	var all []database.Store
	for _, c := range []sqlstore.Config{{Dir: f.TempDir()}, {URL: pg.Database(f)}} {
		c.Features = feature.All()
		st, err := sqlstore.Open(context.WithoutCancel(f.Context()), c)
		if err != nil {
			f.Fatal(err)
		}
		f.Cleanup(func() { st.Close() })
		said(f, st, access.FromRow("ann"))
		all = append(all, st)
	}
	for _, words := range []string{
		"deer", "de", `"small deer"`, "deer -near", "鹿 小", "DÉER é", `deer" OR "`, `") OR seq:* ("`, "deer*) AND (near",
		"NEAR(deer near, 5)", "deer:* & !near | fox <-> x", "'deer' & 'near':A", "\\", "\x00deer\x00near", "\xff\xfe",
		"{terms} : deer", "^deer", "a:b:c", "$1 ?1 :x @y", "'; DROP TABLE search_docs; --", "§title",
		strings.Repeat("deer ", 200_000), strings.Repeat("x", 1<<20), strings.Repeat(`"`, 1<<20),
		strings.Repeat("鹿", 1<<18), strings.Repeat("-deer ", 9999),
	} {
		f.Add(words)
	}
	f.Fuzz(func(t *testing.T, words string) {
		var found []string
		for _, st := range all {
			for user, own := range map[string]bool{"ann": true, "bob": false} {
				hits, _, err := search.New(st, nil).For(access.FromRow(user)).
					Find(t.Context(), search.Query{Words: words, Limit: 20})
				if err != nil || !own && len(hits) > 0 {
					t.Fatalf("%s looks for %.200q: %v, %+v", user, words, err, hits)
				}
				if own {
					found = append(found, refs(hits))
				}
			}
		}
		if found[0] != found[1] {
			t.Errorf("%.200q: %s on SQLite, %s on PostgreSQL", words, found[0], found[1])
		}
	})
}

// said is a thread with words, in the index.
func said(f *testing.F, st database.Store, u access.User) {
	f.Helper()
	content := func(context.Context, access.User, string) (c search.Content, err error) {
		for i, text := range []string{"near or and not deer", "a small deer, 小鹿", "Déer :* & ! | <-> ()", "x y z"} {
			m := message.New(message.Human, text)
			m.ID = string(rune('a' + i))
			c.Messages = append(c.Messages, m)
		}
		c.Thread, err = st.For(u).Thread(f.Context(), "t")
		return c, err
	}
	err := st.For(u).CreateThread(f.Context(), store.Thread{ID: "t", Title: "deer", CreatedAt: now, UpdatedAt: now})
	if err == nil {
		err = search.NewIndexer(search.Config{Store: st, Content: content}).Index(f.Context(), u, "t")
	}
	if err != nil {
		f.Fatal(err)
	}
}

package sqlstore

import (
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/assistants"
	"github.com/pudu-ai/pudu/internal/feature/items"
	"github.com/pudu-ai/pudu/internal/store"
)

// TestDeleteUser: nothing stays of the user in any table; of another one everything does. A run at work is fenced off.
func TestDeleteUser(t *testing.T) {
	for name, cfg := range map[string]Config{"sqlite": {Dir: t.TempDir()}, "postgres": postgresAt(t, t.TempDir())} {
		t.Run(name, func(t *testing.T) {
			s := openWith(t, cfg)
			defer s.Close()
			bob := access.FromRow("bob")
			for _, u := range []access.User{bob, ann()} {
				id := u.ID()
				for i := range 250 {
					if err := items.New(s).For(u).
						Put(t.Context(), items.Item{Namespace: []string{"a"},
							Key: strings.Repeat("k", i+1)}); err != nil {
						t.Fatal(err)
					}
				}
				if err := assistants.New(s).For(u).Create(t.Context(), assistants.Assistant{ID: id}); err != nil {
					t.Fatal(err)
				}
				for _, thread := range []string{id + "-1", id + "-2"} {
					if _, err := s.For(u).Admit(t.Context(), admission("run-"+thread, thread)); err != nil {
						t.Fatal(err)
					}
				}
			}
			fence, err := s.ClaimRun(t.Context(), "run-ann-1", "me", 0, time.UnixMicro(1))
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.DeleteUser(t.Context(), ann())
			if want := (store.Forgotten{Threads: 2, Rows: 253}); got != want || err != nil {
				t.Errorf("%+v, %v", got, err)
			}
			if dump := dumpOf(t, s, ""); strings.Contains(dump, `"ann`) || strings.Count(dump, `"user_id":"bob"`) != 2+
				2+253 {
				t.Errorf("the dump has %d of bob:\n%s", strings.Count(dump, `"user_id":"bob"`), dump)
			}
			_, err = s.Commit(t.Context(), fence,
				store.Step{Now: time.UnixMicro(1), Run: &store.RunChange{Status: event.StatusSuccess}})
			if err == nil || !strings.Contains(err.Error(), store.ErrFenced.Error()) {
				t.Errorf("a commit after that: %v", err)
			}
			if found := faults(t, s); len(found) > 0 {
				t.Errorf("faults: %v", found)
			}
			if _, err := s.DeleteUser(t.Context(), access.User{}); err == nil {
				t.Error("nobody is deleted")
			}
		})
	}
}

package sqlstore

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/assistants"
	"github.com/pudu-ai/pudu/internal/feature/items"
	"github.com/pudu-ai/pudu/internal/store"
)

// unzipped is a file of testdata.
func unzipped(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDatabaseOfVersion5 opens what a program of version 5, the last before features had tables of their own, has
// written: two runs on a thread, the second unfinished, three items, two versions of an assistant, a setting.
func TestDatabaseOfVersion5(t *testing.T) {
	const thread, run = "c8a5a771-aa53-70de-7ea8-16460ce19c72", "3f2b01a8-24e3-711a-0f19-b6e7d1c487e8"
	dir, url := t.TempDir(), pg.Database(t)
	if err := os.WriteFile(filepath.Join(dir, FileName), unzipped(t, "version5.db.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	admin(t, url, string(unzipped(t, "version5.sql.gz")))
	for name, cfg := range map[string]Config{"sqlite": {Dir: dir, Logger: discard},
		"postgres": {URL: url, Logger: discard}} {
		t.Run(name, func(t *testing.T) {
			s := openWith(t, cfg)
			defer s.Close()
			if found := faults(t, s); len(found) > 0 {
				t.Errorf("faults: %v", found)
			}
			c, err := s.For(ann()).Checkpoint(t.Context(), schema, thread, "")
			if err != nil || len(chats.Get(c.State)) < 10 {
				t.Errorf("%d messages, %v", len(chats.Get(c.State)), err)
			}
			if _, err := s.ClaimRun(t.Context(), run, "me", 1, time.Now()); err != nil {
				t.Errorf("the unfinished run is not gone on with: %v", err)
			}
			is, err := items.New(s).For(ann()).
				Search(t.Context(), items.Filter{Access: items.Access{Now: time.UnixMicro(1)}})
			if err != nil || len(is) != 1 { // the time of the other two is over
				t.Errorf("%d items, %v", len(is), err)
			}
			as, err := assistants.New(s).For(ann()).Versions(t.Context(), "a", 10, 0)
			if err != nil || len(as) != 2 {
				t.Errorf("%d versions, %v", len(as), err)
			}
			if v, err := s.Setting(t.Context(), "installation", "another"); v != "this one" || err != nil {
				t.Errorf("setting %q, %v", v, err)
			}
			if f, err := s.DeleteUser(t.Context(), ann()); err != nil || f != (store.Forgotten{Threads: 1, Rows: 6}) {
				t.Errorf("%+v, %v", f, err)
			}
		})
	}
}

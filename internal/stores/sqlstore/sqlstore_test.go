package sqlstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
)

// open opens the store in a folder. Where there is none it begins with a copy of one that is new: the migrations are
// most of what a small test would take. It does not sync: no test that uses it cuts the power; TestEachCommitIsSynced
// and TestKill do without.
func open(t *testing.T, dir string) *Store {
	t.Helper()
	file := filepath.Join(dir, FileName)
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		data, err := newDatabase()
		if err == nil {
			err = errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(file, data, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s := openWith(t, Config{Dir: dir})
	s.exec(t, "PRAGMA synchronous = off")
	return s
}

// newDatabase is the file of a new store.
var newDatabase = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "pudu-new-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s, err := Open(context.Background(), Config{Dir: dir, Logger: discard, Features: feature.All()})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, FileName))
})

func openWith(t testing.TB, cfg Config) *Store {
	t.Helper()
	cfg.Features = feature.All()
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pg is the server of this package's tests, killed and restarted only by tests with a server of their own. It need not
// outlive a loss of power.
var pg = pgtest.Lazy{Config: pgtest.Config{TCP: true, Settings: []string{"deadlock_timeout = 100ms", "fsync = off"}}}

// testLease is the lease of stores whose tests wait for its end. PostgreSQL ends a transaction that pauses for as long,
// and a test of a busy machine may pause for a second: every other store has the lease that users have.
const testLease = 2 * time.Second

// postgresAt is the store of a place on the shared server: a database of its own, as each folder is one for SQLite.
func postgresAt(t testing.TB, place string) Config {
	t.Helper()
	url, ok := places.Load(place)
	if !ok {
		url, _ = places.LoadOrStore(place, pg.Copy(t, migrated))
	}
	return Config{URL: url.(string)}
}

var places sync.Map // the URL of the database of each place

func migrated(ctx context.Context, url string) error {
	s, err := Open(ctx, Config{URL: url, Features: feature.All()})
	if err != nil {
		return err
	}
	return s.Close()
}

// What the suite of suite_fixture_test.go opens.

// OpenSQLite opens the store in a folder.
func OpenSQLite(t *testing.T, dir string) store.Store { return open(t, dir) }

// OpenPostgres opens the store of a place on the shared server.
func OpenPostgres(t *testing.T, place string) store.Store { return openWith(t, postgresAt(t, place)) }

// TestLease is the lease of the stores that OpenShared opens.
const TestLease = testLease

// OpenShared is OpenPostgres for tests that wait for the end of leases.
func OpenShared(t *testing.T, place string) store.Store {
	cfg := postgresAt(t, place)
	cfg.Lease = TestLease
	return openWith(t, cfg)
}

// ann is the user of these tests.
func ann() access.User { return access.FromRow("ann") }

func writeStep(t *tx, c *commit) error {
	_, err := writeSteps(t, checkFence, []*commit{c})
	return err
}

// forkOf is a commit of a step on the checkpoint named parent.
func forkOf(f store.Fence, step store.Step, parent string) *commit {
	step.Parent = parent
	return &commit{fence: f, step: step}
}

// admission is that of a run on a thread of its own.
func admission(run, thread string) store.Admission {
	return store.Admission{Thread: store.Thread{ID: thread}, Run: store.Run{ID: run, ThreadID: thread}}
}

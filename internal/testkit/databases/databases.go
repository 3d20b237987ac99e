// Package databases runs the tests of a feature on SQLite and on PostgreSQL.
package databases

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
	"github.com/pudu-ai/pudu/state"
)

// Fixture is an open store, with helpers that end the test when they fail.
type Fixture struct {
	*testing.T
	database.Store

	config sqlstore.Config
}

// Case is a test of a feature.
type Case struct {
	Name string
	Test func(*Fixture)
}

// Run runs the cases on both databases, each with a store of its own that has the features. It ends the server.
func Run(t *testing.T, features []database.Feature, cases []Case) {
	t.Helper()
	pg := pgtest.Lazy{Config: pgtest.Config{Settings: []string{"fsync = off"}}}
	t.Cleanup(func() { pg.Stop() }) //nolint:errcheck // the process ends with the tests
	for _, c := range cases {
		t.Run(c.Name+" on sqlite", func(t *testing.T) {
			c.Test(open(t, sqlstore.Config{Dir: Dir(t, features), Features: features}))
		})
		t.Run(c.Name+" on postgres", func(t *testing.T) {
			c.Test(open(t, sqlstore.Config{URL: pg.Copy(t, migrate(features)), Features: features}))
		})
	}
}

// migrate is what brings a new PostgreSQL database to the version of the program.
func migrate(features []database.Feature) func(ctx context.Context, url string) error {
	return func(ctx context.Context, url string) error {
		st, err := sqlstore.Open(ctx, sqlstore.Config{URL: url, Features: features})
		if err != nil {
			return err
		}
		return st.Close()
	}
}

// Dir returns a folder with an empty database of SQLite that has the features. It is a copy of the first one: the
// migrations are most of what a small test would take.
func Dir(t testing.TB, features []database.Feature) string {
	t.Helper()
	var names []string
	for _, f := range features {
		names = append(names, f.Name)
	}
	made, _ := empty.LoadOrStore(strings.Join(names, " "),
		sync.OnceValues(func() ([]byte, error) { return newDatabase(features) }))
	data, err := made.(func() ([]byte, error))() //nolint:forcetypeassert // empty holds nothing else
	dir := t.TempDir()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, sqlstore.FileName), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var empty sync.Map // names of features to what makes the file

func newDatabase(features []database.Feature) ([]byte, error) {
	dir, err := os.MkdirTemp("", "pudu-new-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	st, err := sqlstore.Open(context.Background(), sqlstore.Config{Dir: dir, Features: features})
	if err != nil {
		return nil, err
	}
	if err := st.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, sqlstore.FileName))
}

// Bench runs a benchmark on both databases, each with a store of its own that has the features.
func Bench(b *testing.B, features []database.Feature, run func(*testing.B, database.Store)) {
	b.Helper()
	pg := pgtest.Lazy{Config: pgtest.Config{Settings: []string{"fsync = off"}}}
	b.Cleanup(func() { pg.Stop() }) //nolint:errcheck // the process ends with the tests
	for _, name := range []string{"sqlite", "postgres"} {
		b.Run(name, func(b *testing.B) {
			c := sqlstore.Config{Dir: b.TempDir(), Features: features}
			if name == "postgres" {
				c = sqlstore.Config{URL: pg.Database(b), Features: features}
			}
			st, err := sqlstore.Open(b.Context(), c)
			if err != nil {
				b.Fatal(err)
			}
			defer st.Close()
			run(b, st)
		})
	}
}

func open(t *testing.T, c sqlstore.Config) *Fixture {
	t.Helper()
	f := &Fixture{T: t, config: c}
	f.open()
	t.Cleanup(func() { f.Must(f.Close()) })
	return f
}

func (f *Fixture) open() {
	f.Helper()
	st, err := sqlstore.Open(context.WithoutCancel(f.Context()), f.config)
	if err != nil {
		f.Fatal(err)
	}
	f.Store = st
}

// Shared reports whether other processes may work on the database.
func (f *Fixture) Shared() bool { return f.config.URL != "" }

// Another opens a second store, as another process does that shares the database; nil on SQLite, which nobody shares.
func (f *Fixture) Another() database.Store {
	f.Helper()
	if f.config.URL == "" {
		return nil
	}
	return open(f.T, f.config).Store
}

// Reopen closes the store and opens it again.
func (f *Fixture) Reopen() {
	f.Helper()
	f.Must(f.Close())
	f.open()
}

// Ann and Bob are two users.
func (*Fixture) Ann() access.User { return access.FromRow("ann") }

// Bob is not [Fixture.Ann].
func (*Fixture) Bob() access.User { return access.FromRow("bob") }

// Must ends the test with an error.
func (f *Fixture) Must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// Want ends the test unless err is target and names what it is about.
func (f *Fixture) Want(err, target error, about string) {
	f.Helper()
	if !errors.Is(err, target) || !strings.Contains(err.Error(), about) {
		f.Fatalf("error = %v, want %v about %q", err, target, about)
	}
}

// Equal compares what a feature gave with what it should have.
func (f *Fixture) Equal(what string, got, want any) {
	f.Helper()
	if reflect.DeepEqual(got, want) { // cmp looks at each byte of a value by itself
		return
	}
	if d := cmp.Diff(want, got); d != "" {
		f.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// Sound fails the test if the store finds a fault in what it holds.
func (f *Fixture) Sound() {
	f.Helper()
	f.Must(f.Store.System().Verify(f.Context(), state.Schema{},
		store.Visitor{Problem: func(p store.Problem) { f.Errorf("fault: %+v", p) }}))
}

// Together calls do side by side, n times, and returns how many had no error; the others must have failed with lost.
func (f *Fixture) Together(n int, lost error, do func(i int) error) (won int) {
	f.Helper()
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = do(i) })
	}
	all.Wait()
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, lost) {
			f.Errorf("error = %v, want %v", err, lost)
		}
	}
	return won
}

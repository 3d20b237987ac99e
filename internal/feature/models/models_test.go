package models_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/models"
	"github.com/pudu-ai/pudu/internal/secrets"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
)

func TestModels(t *testing.T) {
	databases.Run(t, []database.Feature{movable(t)}, []databases.Case{
		{Name: "from the beginning to the end", Test: whole}, {Name: "changes", Test: changed},
		{Name: "bounds", Test: bounds}, {Name: "keys that cannot be had", Test: lost},
		{Name: "a row that was changed", Test: moved}, {Name: "a dump has no key", Test: dumped},
		{Name: "side by side", Test: together},
	})
}

const hush = "sk-hush-4711"

var now = time.Date(2026, 3, 14, 15, 9, 26, 535897000, time.UTC)

func key(c string) string { return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(c, 32))) }

func sealer(f *databases.Fixture, value string) *secrets.Secrets {
	f.Helper()
	s, err := secrets.Open(f.TempDir(), value)
	f.Must(err)
	return s
}

func of(f *databases.Fixture) *models.Models { return models.New(f.Store, sealer(f, key("k"))) }

func big() config.Given {
	return config.Given{Name: "big", Provider: "openai", ID: "gpt", BaseURL: "https://h/v1", Key: hush,
		Settings: json.RawMessage(`{"supports_vision":true}`)}
}

func small() config.Given { return config.Given{Name: "ollama/q", Provider: "ollama", ID: "q"} }

func load(f *databases.Fixture, m *models.Models) models.Kept {
	f.Helper()
	k, err := m.Load(f.Context())
	f.Must(err)
	return k
}

// whole: what one process adds all have, with the key, and after a restart.
func whole(f *databases.Fixture) {
	m := of(f)
	f.Equal("nothing", load(f, m), models.Kept{})
	f.Must(m.Add(f.Context(), big(), false, now))
	f.Must(m.Add(f.Context(), config.Given{Provider: "ollama", ID: "q"}, true, now.Add(time.Second)))
	f.Reopen()
	m = of(f)
	plain := small()
	plain.Settings = json.RawMessage("{}")
	want := models.Kept{Version: 2, Standard: "ollama/q", Entries: []models.Entry{
		{Given: big(), Keyed: true, CreatedAt: now, UpdatedAt: now},
		{Given: plain, CreatedAt: now.Add(time.Second), UpdatedAt: now.Add(time.Second)},
	}}
	f.Equal("kept", load(f, m), want)
	if other := f.Another(); other != nil {
		theirs := models.New(other, sealer(f, key("k")))
		f.Equal("at another node", load(f, theirs), want)
		f.Must(theirs.SetStandard(f.Context(), "big"))
		v, err := m.Version(f.Context())
		f.Must(err)
		f.Equal("version", v, int64(3))
		f.Must(theirs.SetStandard(f.Context(), "ollama/q"))
	}
	f.Must(m.Remove(f.Context(), "ollama/q"))
	f.Want(m.Remove(f.Context(), "ollama/q"), store.ErrNotFound, "")
	k := load(f, m)
	f.Equal("the default is gone with it", k.Standard, "")
	f.Equal("left", len(k.Entries), 1)
	model := k.Entries[0].Model(config.Env{})
	if model.Key != hush || !model.SupportsVision || model.Err != nil || !model.Given {
		f.Errorf("%+v", model)
	}
	f.Sound()
}

// changed: a key stays with its address, and goes nowhere else.
func changed(f *databases.Fixture) {
	m := of(f)
	f.Must(m.Add(f.Context(), big(), false, now))
	f.Want(m.Add(f.Context(), big(), true, now), models.ErrConflict, `"big" already`)
	f.Equal("a refused default", load(f, m).Standard, "")
	f.Equal("version", load(f, m).Version, int64(1))
	put := func(change func(*config.Given), keep bool) error {
		g := big()
		g.Key = ""
		change(&g)
		return m.Put(f.Context(), g, keep, now.Add(time.Hour))
	}
	f.Must(put(func(g *config.Given) { g.ID = "gpt-2" }, true))
	got := load(f, m).Entries[0]
	if got.Key != hush || got.ID != "gpt-2" || !got.CreatedAt.Equal(now) || !got.UpdatedAt.Equal(now.Add(time.Hour)) {
		f.Errorf("%+v", got)
	}
	f.Want(put(func(g *config.Given) { g.BaseURL = "https://evil.example/v1" }, true), models.ErrConflict,
		"goes nowhere else")
	f.Want(put(func(g *config.Given) { g.BaseURL = "" }, true), models.ErrConflict, "at https://h/v1")
	f.Want(put(func(g *config.Given) { g.Provider = "mistral" }, true), models.ErrConflict, "give the key again")
	f.Want(put(func(g *config.Given) { g.Name = "nobody" }, true), store.ErrNotFound, "")
	f.Equal("unchanged", load(f, m).Entries[0], got)
	f.Must(put(func(g *config.Given) { g.BaseURL, g.Key = "https://other/v1", "sk-new" }, true))
	f.Equal("a new key", load(f, m).Entries[0].Key, config.Secret("sk-new"))
	f.Must(put(func(g *config.Given) {}, false))
	if got := load(f, m).Entries[0]; got.Keyed || got.Key != "" || got.Lost != nil {
		f.Errorf("its key was taken away: %+v", got)
	}
}

func bounds(f *databases.Fixture) {
	m := of(f)
	for i := range models.Max {
		f.Must(m.Add(f.Context(), config.Given{Provider: "ollama", ID: fmt.Sprint("m", i)}, false, now))
	}
	f.Want(m.Add(f.Context(), small(), false, now), models.ErrConflict, "200 already")
	f.Must(m.Remove(f.Context(), "ollama/m7"))
	f.Must(m.Add(f.Context(), small(), false, now))
}

// lost: with another key, without one, or after the file was removed, a model says what to do, and the others go on.
func lost(f *databases.Fixture) {
	f.Must(of(f).Add(f.Context(), big(), false, now))
	f.Must(of(f).Add(f.Context(), small(), false, now))
	for what, s := range map[string]*secrets.Secrets{secrets.Variable: sealer(f, key("x")),
		"key again": sealer(f, "")} {
		k := load(f, models.New(f.Store, s))
		e := k.Entries[0]
		model := e.Model(config.Env{})
		if e.Lost == nil || e.Key != "" || !strings.Contains(e.Lost.Error(), what) || !errors.Is(model.Err, e.Lost) ||
			model.Name != "big" || model.Key != "" {
			f.Errorf("%+v, %+v", e, model)
		}
		if other := k.Entries[1].Model(config.Env{}); other.Err != nil {
			f.Errorf("%v", other.Err)
		}
	}
}

// moved: who can write to the database has no key sent to another address, of another provider or by another name.
func moved(f *databases.Fixture) {
	m, rows := of(f), f.Store.Feature("models").System()
	for column, value := range map[string]string{"name": "other", "base_url": "https://evil.example/v1",
		"provider": "mistral"} {
		f.Must(m.Add(f.Context(), big(), false, now))
		f.Equal("its key", load(f, m).Entries[0].Key, config.Secret(hush))
		f.Must(rows.Write(f.Context(), 0, func(tx database.Tx) error {
			_, err := tx.Exec("move_"+column, value)
			return err
		}))
		e := load(f, m).Entries[0]
		if e.Key != "" || !errors.Is(e.Lost, secrets.ErrBroken) {
			f.Errorf("%s: %+v", column, e)
		}
		f.Must(m.Remove(f.Context(), e.Name))
	}
}

// movable is the feature with statements that it does not have.
func movable(t *testing.T) database.Feature {
	t.Helper()
	feature, all := models.Feature(), fstest.MapFS{}
	for _, column := range []string{"name", "base_url", "provider"} {
		all["system/move_"+column+".sql"] = &fstest.MapFile{Data: []byte("UPDATE model_entries SET " + column +
			" = $1")}
	}
	err := fs.WalkDir(feature.Files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(feature.Files, name)
		all[name] = &fstest.MapFile{Data: raw}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	feature.Files = all
	return feature
}

// dumped: a dump has the models and no key, sealed or not; what is loaded says that its key is missing.
func dumped(f *databases.Fixture) {
	m := of(f)
	f.Must(m.Add(f.Context(), big(), true, now))
	var all strings.Builder
	_, err := f.Store.System().Dump(f.Context(), &all)
	f.Must(err)
	if text := all.String(); strings.Contains(text, hush) || strings.Contains(text, "sealed:") ||
		!strings.Contains(text, "https://h/v1") {
		f.Errorf("%s", text)
	}
	_, err = f.Store.System().DeleteUser(f.Context(), f.Ann())
	f.Must(err)
	f.Equal("kept when a user goes", len(load(f, m).Entries), 1)
	st, err := sqlstore.Open(f.Context(),
		sqlstore.Config{Dir: f.TempDir(), Features: []database.Feature{models.Feature()}})
	f.Must(err)
	defer st.Close()
	_, err = st.System().Load(f.Context(), strings.NewReader(all.String()), nil)
	f.Must(err)
	k := load(f, models.New(st, sealer(f, key("k"))))
	if e := k.Entries[0]; k.Standard != "big" || e.Key != "" || e.Lost == nil ||
		!strings.Contains(e.Lost.Error(), "in no backup: give it again") {
		f.Errorf("%+v", k)
	}
}

// together: of those who add the same name at once one does, and each change is counted.
func together(f *databases.Fixture) {
	m := of(f)
	all := []*models.Models{m, m}
	if other := f.Another(); other != nil {
		all[1] = models.New(other, sealer(f, key("k")))
	}
	won := f.Together(8, models.ErrConflict,
		func(i int) error { return all[i%2].Add(f.Context(), big(), i%3 == 0, now) })
	f.Equal("added", won, 1)
	f.Equal("changes",
		f.Together(8, nil, func(i int) error { return all[i%2].SetStandard(f.Context(), fmt.Sprint(i)) }), 8)
	f.Equal("version", load(f, m).Version, int64(9))
}

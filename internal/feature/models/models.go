// Package models keeps the models that people add while the program works, with their keys, and which model they have
// made the default. They stand beside those of the configuration file and of the environment, which nobody changes
// here.
//
//	API, command line -> Models.Add, Put, Remove, SetStandard -> rows -> Load -> config.Config.With -> the runs that begin
//
// The keys are sealed; see internal/secrets. A seal is bound to the name, the provider and the address of its model:
// who can write to the database cannot have a key sent elsewhere. A dump has no keys, so that a model of a restored
// copy has to be given its key again. A number grows with each change: processes that share a database look at it
// before a run begins.
package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/secrets"
)

// Max is how many models can be added.
const Max = 200

// Errors of changes; they come wrapped, with what to do about it.
var (
	// ErrInvalid: the entry is wrong.
	ErrInvalid = errors.New("this is no model")
	// ErrConflict: it does not go with what there is.
	ErrConflict = errors.New("the model cannot be changed so")
	// ErrBusy: too much of it is being done.
	ErrBusy = errors.New("too many at once")
)

// owner is for whom the keys are sealed: the installation. No user has such an id.
func owner() access.User { return access.FromRow("\x00installation") }

// Entry is a model that was added.
type Entry struct {
	config.Given // with the key, unless that cannot be had

	// Keyed says that it was given a key, and Lost why that cannot be had any more.
	Keyed                bool
	Lost                 error
	CreatedAt, UpdatedAt time.Time
}

// Kept is all that there is.
type Kept struct {
	// Version grows with each change.
	Version int64
	// Standard is the name of the model that was made the default; empty for none. It may be one of the configuration.
	Standard string
	Entries  []Entry // in the order in which they were added
}

// Models are those of an installation.
type Models struct {
	db  database.Bound
	box secrets.Bound
}

// New makes those of a store.
func New(st database.Store, s *secrets.Secrets) *Models {
	return &Models{st.Feature(Feature().Name).System(), s.For(owner())}
}

// Version is the number that grows with each change.
func (m *Models) Version(ctx context.Context) (int64, error) {
	k, err := m.state(ctx)
	return k.Version, err
}

func (m *Models) state(ctx context.Context) (k Kept, err error) {
	err = m.db.Read(ctx, "state", func(r database.Row) (bool, error) { return false, r.Scan(&k.Version, &k.Standard) })
	if err != nil {
		return k, fmt.Errorf("look at the models that were added: %w", err)
	}
	return k, nil
}

// Load reads all. What was changed meanwhile may be in it, and then the version is an older one.
func (m *Models) Load(ctx context.Context) (Kept, error) {
	k, err := m.state(ctx)
	if err != nil {
		return k, err
	}
	err = m.db.Read(ctx, "list", func(r database.Row) (bool, error) {
		s, err := scan(r)
		if err == nil {
			k.Entries = append(k.Entries, m.opened(s))
		}
		return true, err
	})
	if err != nil {
		return k, fmt.Errorf("read the models that were added: %w", err)
	}
	return k, nil
}

// stored is a row.
type stored struct {
	entry Entry
	seal  string
}

func scan(r database.Row) (s stored, err error) {
	var keyed, created, updated int64
	var settings []byte
	e := &s.entry
	err = r.Scan(&e.Name, &e.Provider, &e.ID, &e.BaseURL, &s.seal, &keyed, &settings, &created, &updated)
	e.Keyed, e.Settings = keyed != 0, json.RawMessage(settings)
	e.CreatedAt, e.UpdatedAt = database.TimeOf(created), database.TimeOf(updated)
	return s, err
}

// opened is the entry of a row with its key.
func (m *Models) opened(s stored) Entry {
	e := s.entry
	if !e.Keyed {
		return e
	}
	key, err := m.box.Open(purpose(e.Given), s.seal)
	switch {
	case s.seal == "":
		err = errors.New("its key was in no backup: give it again")
	case errors.Is(err, secrets.ErrOtherKey), errors.Is(err, secrets.ErrNoKey):
		err = fmt.Errorf("%w: give all servers the same %s, or give the model its key again", err, secrets.Variable)
	case err != nil:
		err = fmt.Errorf("%w: give the model its key again", err)
	}
	e.Key, e.Lost = config.Secret(key), err
	return e
}

// purpose is what a sealed key is bound to.
func purpose(g config.Given) string {
	return fmt.Sprintf("key of the model %q of %q at %q", g.Name, g.Provider, g.BaseURL)
}

// Model makes the model of an entry, also of one that cannot be used; see [config.Given.Model].
func (e *Entry) Model(env config.Env) config.Model {
	model, err := e.Given.Model(env)
	if e.Lost != nil {
		err = e.Lost
	}
	if err != nil { // also what a newer version has stored, and this one does not know
		model.Name, model.Provider, model.ID, model.Given, model.Err = e.Name, e.Provider, e.ID, true, err
	}
	return model
}

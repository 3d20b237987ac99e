// Package runsecrets keeps what a request gives its run to use and nobody may keep, such as the key of a service that a
// skill calls: sealed, from the admission of the run to its end, so that who goes on with the run after a crash has it
// too.
//
//	request -> secrets.Values -> Keep -> statements in the admission's transaction -> Of, by whoever executes the run or one below it
//	the run's end, its deletion, that of its thread or its user -> the row is gone, in the same transaction
//
// Only the row has the values: neither the request in the run's row, nor the log, nor a checkpoint, nor a backup.
package runsecrets

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/secrets"
	"github.com/pudu-ai/pudu/internal/store"
)

// purpose is that of the sealed values; it has the run's id behind it, so that they open for no other run.
const purpose = "secrets of run "

// Secrets are those of all runs.
type Secrets struct {
	db  database.DB
	key *secrets.Secrets
}

// New makes the secrets of a store's runs.
func New(st database.Store, key *secrets.Secrets) *Secrets { return &Secrets{st.Feature(feature), key} }

// For is what one user's runs have.
func (s *Secrets) For(u access.User) Mine { return Mine{s.db.For(u), s.key.For(u)} }

// Mine are the secrets of one user's runs.
type Mine struct {
	db  database.Bound
	key secrets.Bound
}

// Keep are the statements that store the values of a run in the transaction of its admission.
func (m Mine) Keep(run, thread string, v secrets.Values) ([]store.Statement, error) {
	err := v.Check()
	var sealed string
	if err == nil {
		sealed, err = m.key.Seal(purpose+run, encode(v))
	}
	if err != nil {
		return nil, fmt.Errorf("keep the secrets of a run: %w", err)
	}
	return []store.Statement{{Feature: feature, Name: "keep", Args: []any{run, thread, sealed}}}, nil
}

// ErrGone is that a run had secrets and has none any more: it is at its end, or comes from a backup, which leaves them
// out.
var ErrGone = errors.New("the secrets of the run are gone")

// Of are the values of a run; [ErrGone] if there are none.
func (m Mine) Of(ctx context.Context, run string) (secrets.Values, error) {
	var sealed, plain string
	err := m.db.Read(ctx, "of", func(r database.Row) (bool, error) { return false, r.Scan(&sealed) }, run)
	if err == nil && sealed == "" {
		err = ErrGone
	}
	if err == nil {
		plain, err = m.key.Open(purpose+run, sealed)
	}
	if err != nil {
		return nil, fmt.Errorf("secrets of run %s: %w", run, err)
	}
	return decode(plain), nil
}

// encode writes NAME=value, with a NUL between: no value has one.
func encode(v secrets.Values) string { return strings.Join(v.Environment(v.Names()), "\x00") }

func decode(plain string) secrets.Values {
	v := secrets.Values{}
	for pair := range strings.SplitSeq(plain, "\x00") {
		name, value, _ := strings.Cut(pair, "=")
		v[name] = value
	}
	return v
}

// Package assistants keeps named configurations of the agent, each with its versions. The gateway's routes below
// /assistants call it; it keeps its rows by internal/database.
//
//	assistants.New(db).For(user) -> Create, Assistant, Update, SetLatest, Versions, Search, Count, Delete
package assistants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

const (
	maxAssistant = 1 << 20 // bytes
	maxMetadata  = 64 << 10
)

// Assistant is a named configuration of the agent. Each change makes a new version; one of them is in force.
type Assistant struct {
	ID          string
	GraphID     string
	Name        string
	Description string
	// Version counts from 1.
	Version   int
	Config    json.RawMessage // a JSON object; nil reads as {}, as do the next two
	Context   json.RawMessage
	Metadata  json.RawMessage
	CreatedAt time.Time // of the version
	UpdatedAt time.Time
}

// Filter selects assistants by the version in force; empty fields select all.
type Filter struct {
	GraphID string
	// Name selects names that contain it, whatever the case.
	Name string
	// Metadata is as in [store.ThreadFilter].
	Metadata map[string]json.RawMessage
	// Sort is "created_at" (the default), "updated_at", "name" or "assistant_id".
	Sort      string
	Ascending bool
	Limit     int // 1 to 1001; 0 means 10
	Offset    int
}

// Assistants are everybody's assistants.
type Assistants struct{ db database.DB }

// New makes the assistants of a store.
func New(st database.Store) *Assistants { return &Assistants{st.Feature(Feature().Name)} }

// For is what one user has.
func (s *Assistants) For(u access.User) *Mine { return &Mine{s.db.For(u)} }

// Mine are one user's assistants.
type Mine struct{ db database.Bound }

// Create adds an assistant as version 1; [store.ErrConflict] if the id is taken, by whomever.
func (m *Mine) Create(ctx context.Context, a Assistant) error {
	a.Version = 1
	err := check(a)
	if err == nil {
		err = m.db.Write(ctx, 0, func(tx database.Tx) error { return insert(tx, a) })
	}
	if err != nil {
		return fmt.Errorf("create assistant %.40q: %w", a.ID, err)
	}
	return nil
}

func check(a Assistant) error {
	n := len(a.Name) + len(a.Description) + len(a.Config) + len(a.Context) + len(a.Metadata)
	return errors.Join(database.CheckID("assistant", a.ID), database.CheckText("graph id", a.GraphID),
		database.CheckObject("config", a.Config), database.CheckObject("context", a.Context),
		database.CheckObject("metadata", a.Metadata), database.CheckSize("metadata", len(a.Metadata), maxMetadata),
		database.CheckSize("assistant", n, maxAssistant))
}

// insert adds a version that is in force.
func insert(tx database.Tx, a Assistant) error {
	_, err := tx.Exec("insert", a.ID, a.Version, a.GraphID, database.Plain(a.Name), database.Micros(a.CreatedAt),
		database.Micros(a.UpdatedAt), database.Plain(a.Description), database.ObjectText(a.Config),
		database.ObjectText(a.Context),
		database.ObjectText(a.Metadata))
	return err
}

// asStored is an assistant as it is read back.
func asStored(a Assistant) Assistant {
	a.Name, a.Description = database.Plain(a.Name), database.Plain(a.Description)
	for _, raw := range []*json.RawMessage{&a.Config, &a.Context, &a.Metadata} {
		*raw = json.RawMessage(database.ObjectText(*raw))
	}
	a.CreatedAt, a.UpdatedAt = database.TimeOf(database.Micros(a.CreatedAt)),
		database.TimeOf(database.Micros(a.UpdatedAt))
	return a
}

// row is what an assistant is scanned into.
type row struct {
	Assistant

	created, updated int64
}

func (r *row) cells() []any {
	return []any{&r.ID, &r.Version, &r.GraphID, &r.Name, &r.created, &r.updated, &r.Description,
		(*[]byte)(&r.Config), (*[]byte)(&r.Context), (*[]byte)(&r.Metadata)}
}

func (r *row) assistant() Assistant {
	r.CreatedAt, r.UpdatedAt = database.TimeOf(r.created), database.TimeOf(r.updated)
	return r.Assistant
}

func scan(from database.Row) (Assistant, error) {
	var r row
	err := from.Scan(r.cells()...)
	return r.assistant(), err
}

// Assistant returns the version in force.
func (m *Mine) Assistant(ctx context.Context, id string) (a Assistant, err error) {
	err = store.ErrNotFound
	if readErr := m.db.Read(ctx, "assistant", func(r database.Row) (bool, error) {
		a, err = scan(r)
		return false, err
	}, id); readErr != nil {
		err = readErr
	}
	if err != nil {
		return Assistant{}, fmt.Errorf("read assistant %.40q: %w", id, err)
	}
	return a, nil
}

// lock keeps others from changing an assistant until the transaction ends. What else is true is read after that.
func lock(tx database.Tx, id string) error {
	n, err := tx.Exec("lock", id)
	if err == nil && n == 0 {
		err = store.ErrNotFound
	}
	return err
}

// Update adds a version with the fields of a, puts it in force, and returns it. ID and UpdatedAt name the assistant and
// the time; Version and CreatedAt are ignored.
func (m *Mine) Update(ctx context.Context, a Assistant) (Assistant, error) {
	a.CreatedAt = a.UpdatedAt
	err := check(a)
	if err == nil {
		err = m.db.Write(ctx, len(a.Config)+len(a.Context)+len(a.Metadata), func(tx database.Tx) error {
			if err := lock(tx, a.ID); err != nil {
				return err
			}
			newest := 0
			if err := tx.Scan("newest", []any{&newest}, a.ID); err != nil {
				return err
			}
			a.Version = newest + 1
			if _, err := tx.Exec("retire", a.ID); err != nil {
				return err
			}
			return insert(tx, a)
		})
	}
	if err != nil {
		return Assistant{}, fmt.Errorf("change assistant %.40q: %w", a.ID, err)
	}
	return asStored(a), nil
}

// SetLatest puts an earlier version in force.
func (m *Mine) SetLatest(ctx context.Context, id string, version int) (Assistant, error) {
	var r row
	err := m.db.Write(ctx, 0, func(tx database.Tx) error {
		if err := lock(tx, id); err != nil {
			return err
		}
		if _, err := tx.Exec("retire", id); err != nil {
			return err
		}
		return tx.Scan("enforce", r.cells(), id, version)
	})
	if err != nil {
		return Assistant{}, fmt.Errorf("put version %d of assistant %.40q in force: %w", version, id, err)
	}
	return r.assistant(), nil
}

// Delete removes all versions; [store.ErrNotFound] without them.
func (m *Mine) Delete(ctx context.Context, id string) error {
	err := m.db.Write(ctx, 0, func(tx database.Tx) error {
		if err := lock(tx, id); err != nil {
			return err
		}
		_, err := tx.Exec("delete", id)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete assistant %.40q: %w", id, err)
	}
	return nil
}

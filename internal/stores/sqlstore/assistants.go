package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/internal/store"
)

// maxAssistant bounds an assistant, in bytes.
const maxAssistant = 1 << 20

const assistantColumns = "id, version, in_force, graph_id, name, created_at, updated_at, description, config, context, metadata"

// CreateAssistant implements [store.Assistants].
func (d *userData) CreateAssistant(ctx context.Context, a store.Assistant) error {
	a.Version = 1
	err := checkAssistant(a)
	if err == nil {
		err = d.write(ctx, 0, func(tx *tx) error { return d.insertAssistant(tx, a) })
	}
	if err != nil {
		return fmt.Errorf("create assistant %.40q: %w", a.ID, err)
	}
	return nil
}

func checkAssistant(a store.Assistant) error {
	n := len(a.Name) + len(a.Description) + len(a.Config) + len(a.Context) + len(a.Metadata)
	return errors.Join(checkID("assistant", a.ID), checkText("graph id", a.GraphID), checkObject("config", a.Config),
		checkObject("context", a.Context), checkObject("metadata", a.Metadata),
		checkSize("metadata", len(a.Metadata), maxMetadata), checkSize("assistant", n, maxAssistant))
}

// insertAssistant adds a version that is in force.
func (d *userData) insertAssistant(tx *tx, a store.Assistant) error {
	return tx.exec("INSERT INTO assistants ("+assistantColumns+", user_id) VALUES ($1, $2, 1, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
		a.ID, a.Version, a.GraphID, plain(a.Name), micros(a.CreatedAt), micros(a.UpdatedAt), plain(a.Description),
		objectText(a.Config), objectText(a.Context), objectText(a.Metadata), d.user.ID())
}

// asStored is an assistant as it is read back.
func asStored(a store.Assistant) store.Assistant {
	a.Name, a.Description = plain(a.Name), plain(a.Description)
	for _, raw := range []*json.RawMessage{&a.Config, &a.Context, &a.Metadata} {
		*raw = json.RawMessage(objectText(*raw))
	}
	a.CreatedAt, a.UpdatedAt = timeOf(micros(a.CreatedAt)), timeOf(micros(a.UpdatedAt))
	return a
}

func scanAssistant(scan func(dest ...any) error) (a store.Assistant, err error) {
	var inForce, created, updated int64
	err = scan(&a.ID, &a.Version, &inForce, &a.GraphID, &a.Name, &created, &updated, &a.Description,
		(*[]byte)(&a.Config), (*[]byte)(&a.Context), (*[]byte)(&a.Metadata))
	a.CreatedAt, a.UpdatedAt = timeOf(created), timeOf(updated)
	return a, err
}

// Assistant implements [store.Assistants].
func (d *userData) Assistant(ctx context.Context, id string) (a store.Assistant, err error) {
	err = store.ErrNotFound
	if readErr := d.read(ctx, "SELECT "+assistantColumns+" FROM assistants WHERE id = $1 AND user_id = $2 AND in_force = 1", []any{id, d.user.ID()},
		func(r *sql.Rows) (bool, error) {
			a, err = scanAssistant(r.Scan)
			return false, err
		}); readErr != nil {
		err = readErr
	}
	if err != nil {
		return store.Assistant{}, fmt.Errorf("read assistant %.40q: %w", id, err)
	}
	return a, nil
}

// lockAssistant keeps others from changing an assistant until the transaction ends, and returns its newest version. It locks the
// first version, which is always there; what else is true is read after that.
func (d *userData) lockAssistant(tx *tx, id string) (newest int, err error) {
	err = tx.scan("SELECT version FROM assistants WHERE id = $1 AND user_id = $2 AND version = 1"+tx.k.dialect.locking(),
		[]any{id, d.user.ID()}, &newest)
	if err == nil {
		err = tx.scan("SELECT max(version) FROM assistants WHERE id = $1 AND user_id = $2", []any{id, d.user.ID()}, &newest)
	}
	return newest, found(err)
}

// retire takes the version in force out of force.
func (d *userData) retire(tx *tx, id string) error {
	return tx.exec("UPDATE assistants SET in_force = 0 WHERE id = $1 AND user_id = $2 AND in_force = 1", id, d.user.ID())
}

// UpdateAssistant implements [store.Assistants].
func (d *userData) UpdateAssistant(ctx context.Context, a store.Assistant) (store.Assistant, error) {
	a.CreatedAt = a.UpdatedAt
	err := checkAssistant(a)
	if err == nil {
		err = d.write(ctx, len(a.Config)+len(a.Context)+len(a.Metadata), func(tx *tx) error {
			newest, err := d.lockAssistant(tx, a.ID)
			if err != nil {
				return err
			}
			a.Version = newest + 1
			return errors.Join(d.retire(tx, a.ID), d.insertAssistant(tx, a))
		})
	}
	if err != nil {
		return store.Assistant{}, fmt.Errorf("change assistant %.40q: %w", a.ID, err)
	}
	return asStored(a), nil
}

// SetLatest implements [store.Assistants].
func (d *userData) SetLatest(ctx context.Context, id string, version int) (a store.Assistant, err error) {
	err = d.write(ctx, 0, func(tx *tx) error {
		if _, err := d.lockAssistant(tx, id); err != nil {
			return err
		}
		if err := d.retire(tx, id); err != nil {
			return err
		}
		a, err = scanAssistant(func(dest ...any) error {
			return tx.scan("UPDATE assistants SET in_force = 1 WHERE id = $1 AND user_id = $2 AND version = $3 RETURNING "+assistantColumns,
				[]any{id, d.user.ID(), version}, dest...)
		})
		return found(err)
	})
	if err != nil {
		return store.Assistant{}, fmt.Errorf("put version %d of assistant %.40q in force: %w", version, id, err)
	}
	return a, nil
}

// Versions implements [store.Assistants].
func (d *userData) Versions(ctx context.Context, id string, limit, offset int) ([]store.Assistant, error) {
	var as []store.Assistant
	err := errors.Join(checkID("assistant", id), checkPage(limit, 1000, offset))
	if err == nil {
		sel := d.mine()
		sel.add("id = " + sel.param(id))
		as, err = d.listAssistants(ctx, sel, nil, "", "version DESC", &page{offset, limit})
	}
	if err == nil && len(as) == 0 {
		_, err = d.Assistant(ctx, id)
	}
	if err != nil {
		return nil, fmt.Errorf("list versions of assistant %.40q: %w", id, err)
	}
	return as, nil
}

// SearchAssistants implements [store.Assistants].
func (d *userData) SearchAssistants(ctx context.Context, f store.AssistantFilter) ([]store.Assistant, error) {
	as, err := d.searchAssistants(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("search assistants: %w", err)
	}
	return as, nil
}

func (d *userData) searchAssistants(ctx context.Context, f store.AssistantFilter) ([]store.Assistant, error) {
	p := &page{f.Offset, cmp.Or(f.Limit, 10)}
	if err := checkPage(p.left, 1001, p.skip); err != nil {
		return nil, err
	}
	order, err := sorting(f.Sort, f.Ascending, "id", map[string]string{
		"": "created_at", "created_at": "created_at", "updated_at": "updated_at", "name": "name", "assistant_id": "id"})
	if err != nil {
		return nil, err
	}
	sel, w, err := d.selectAssistants(f)
	if err != nil {
		return nil, err
	}
	return d.listAssistants(ctx, sel, w, f.Name, order, p)
}

func (d *userData) listAssistants(ctx context.Context, sel selection, w wanted, name, order string, p *page) ([]store.Assistant, error) {
	return readPage(ctx, d, "SELECT "+assistantColumns+" FROM assistants", order, sel, p, meant(w, name))
}

// CountAssistants implements [store.Assistants].
func (d *userData) CountAssistants(ctx context.Context, f store.AssistantFilter) (n int, err error) {
	sel, w, err := d.selectAssistants(f)
	if err == nil {
		n, err = count(ctx, d, assistantColumns, "assistants"+sel.text(), sel, func(r *sql.Rows) (bool, error) {
			_, ok, err := meant(w, f.Name)(r)
			return ok, err
		})
	}
	if err != nil {
		return 0, fmt.Errorf("count assistants: %w", err)
	}
	return n, nil
}

// selectAssistants makes the condition of a filter on the versions in force. Names are compared in Go: not every database
// knows the small letters of all languages.
func (d *userData) selectAssistants(f store.AssistantFilter) (sel selection, w wanted, err error) {
	sel = d.mine()
	sel.add("in_force = 1")
	if f.GraphID != "" {
		sel.add("graph_id = " + sel.param(plain(f.GraphID)))
	}
	w, err = newWanted(f.Metadata, false)
	sel.open = f.Name != "" || len(w) > 0
	return sel, w, err
}

// meant reads an assistant and says whether it has the members, and the name in its own.
func meant(w wanted, name string) func(*sql.Rows) (store.Assistant, bool, error) {
	name = strings.ToLower(plain(name))
	return func(r *sql.Rows) (store.Assistant, bool, error) {
		a, err := scanAssistant(r.Scan)
		return a, strings.Contains(strings.ToLower(a.Name), name) && w.matches(a.Metadata), err
	}
}

// DeleteAssistant implements [store.Assistants].
func (d *userData) DeleteAssistant(ctx context.Context, id string) error {
	err := d.write(ctx, 0, func(tx *tx) error {
		if _, err := d.lockAssistant(tx, id); err != nil {
			return err
		}
		return tx.exec("DELETE FROM assistants WHERE id = $1 AND user_id = $2", id, d.user.ID())
	})
	if err != nil {
		return fmt.Errorf("delete assistant %.40q: %w", id, err)
	}
	return nil
}

// Package items is the long-term store that LangGraph's API offers beside the threads: documents by namespace and key.
// The gateway's routes below /store call it; it keeps its rows by internal/database.
//
//	items.New(db).For(user) -> Put, Item, Delete, Search, Namespaces
package items

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
	maxLabels = 16
	maxLabel  = 128
	maxValue  = 1 << 20
	maxPage   = 16 << 20 // bytes of the values of one page
	// maxTTL bounds a time to live: with it the end is still a time that can be written.
	maxTTL = 100 * 365 * 24 * time.Hour
	// touchEvery is how exact the end of a time to live is that reads prolong: reading again and again costs no
	// writing.
	touchEvery = time.Second
)

// Item is a document of the long-term store that LangGraph's API offers beside the threads.
type Item struct {
	// Namespace is the item's path: 1 to 16 labels, each of 1 to 128 bytes without a dot or a control character.
	Namespace []string
	Key       string          // unique in its namespace; 1 to 256 bytes
	Value     json.RawMessage // a JSON object of at most 1 MiB
	CreatedAt time.Time
	UpdatedAt time.Time
	// TTL is how long the item lives after it was written, or last read with [Access].Refresh; 0 means for ever. It is
	// kept in microseconds.
	TTL time.Duration
	// Expires is the end of that time; zero if there is none. It follows from TTL and is read only.
	Expires time.Time
	// Score is how well the item matches [Filter].Query: above 0, at most 1. Only a search with a query sets it.
	Score float64
}

// Access is the moment of a read, and what the read does to the items that it returns.
type Access struct {
	// Now must be set: an item whose time to live is over by then is not there.
	Now time.Time
	// Refresh lets the time to live of each item that is returned begin anew.
	Refresh bool
}

// Filter selects items under a prefix; empty fields select all.
type Filter struct {
	Access

	Prefix []string
	// Match selects items whose value has each of these members with an equal value.
	Match map[string]json.RawMessage
	// Query selects items whose value has at least one of its words in a string or a number, whatever the case and also
	// as a part of a longer word. It has at most 4096 bytes; one of white space alone selects all. An item with more of
	// the words comes first, one with the whole text before all others.
	Query  string
	Limit  int // 1 to 1000; 0 means 10
	Offset int
}

// NamespaceFilter selects namespaces of items; empty fields select all.
type NamespaceFilter struct {
	Now            time.Time // must be set; see [Access]
	Prefix, Suffix []string
	// MaxDepth cuts longer namespaces to their first labels; each is listed once. 0 means no bound.
	MaxDepth int
	Limit    int // 1 to 1000; 0 means 100
	Offset   int
}

// Items are everybody's items.
type Items struct{ db database.DB }

// New makes the items of a store.
func New(st database.Store) *Items { return &Items{st.Feature(Feature().Name)} }

// For is what one user has.
func (s *Items) For(u access.User) *Mine { return &Mine{s.db.For(u)} }

// Mine are one user's items.
type Mine struct{ db database.Bound }

// Put adds an item, or gives the one of its key a new value, UpdatedAt and time to live.
func (m *Mine) Put(ctx context.Context, i Item) error {
	err := errors.Join(checkItem(i.Namespace, i.Key), checkTTL(i.TTL),
		database.CheckSize("value", len(i.Value), maxValue))
	if err == nil {
		err = database.CheckObject("value", i.Value)
	}
	if err == nil {
		expires := int64(0)
		if i.TTL > 0 {
			expires = database.Micros(i.UpdatedAt.Add(i.TTL))
		}
		err = m.db.Write(ctx, len(i.Value), func(tx database.Tx) error {
			_, err := tx.Exec("put", joinLabels(i.Namespace), i.Key, database.Micros(i.CreatedAt),
				database.Micros(i.UpdatedAt),
				i.TTL.Microseconds(), expires, database.ObjectText(i.Value))
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("put item %.40q: %w", i.Key, err)
	}
	return nil
}

// Item returns an item, or [store.ErrNotFound].
func (m *Mine) Item(ctx context.Context, namespace []string, key string, a Access) (Item, error) {
	err := errors.Join(checkItem(namespace, key), checkNow(a.Now))
	var i Item
	if err == nil {
		i, err = m.item(ctx, joinLabels(namespace), key, a.Now)
	}
	if err == nil && a.Refresh {
		err = m.refresh(ctx, a.Now, &i)
	}
	if err != nil {
		return Item{}, fmt.Errorf("read item %.40q: %w", key, err)
	}
	return i, nil
}

func (m *Mine) item(ctx context.Context, namespace, key string, now time.Time) (i Item, err error) {
	err = m.db.Read(ctx, "item", func(r database.Row) (bool, error) {
		i, err = scan(r)
		return false, err
	}, namespace, key, database.Micros(now))
	if err == nil && i.Key == "" {
		err = store.ErrNotFound
	}
	return i, err
}

// refresh lets the items' times to live begin anew. One that gains less than touchEvery is left alone.
func (m *Mine) refresh(ctx context.Context, now time.Time, items ...*Item) error {
	var stale []*Item
	for _, i := range items {
		if i.TTL > 0 && now.Add(i.TTL).Sub(i.Expires) >= touchEvery {
			stale = append(stale, i)
			i.Expires = database.TimeOf(database.Micros(now.Add(i.TTL)))
		}
	}
	if len(stale) == 0 {
		return nil
	}
	return m.db.Write(ctx, 0, func(tx database.Tx) error {
		for _, i := range stale {
			if _, err := tx.Exec("refresh", joinLabels(i.Namespace), i.Key, database.Micros(now)); err != nil {
				return err
			}
		}
		return nil
	})
}

func scan(r database.Row) (i Item, err error) {
	var namespace string
	var created, updated, ttl, expires int64
	err = r.Scan(&namespace, &i.Key, &created, &updated, &ttl, &expires, (*[]byte)(&i.Value))
	i.Namespace, i.CreatedAt, i.UpdatedAt = splitLabels(namespace), database.TimeOf(created), database.TimeOf(updated)
	if ttl > 0 {
		i.TTL, i.Expires = time.Duration(ttl)*time.Microsecond, database.TimeOf(expires)
	}
	return i, err
}

// Delete removes an item; one that is missing is no error.
func (m *Mine) Delete(ctx context.Context, namespace []string, key string) error {
	err := checkItem(namespace, key)
	if err == nil {
		err = m.db.Write(ctx, 0, func(tx database.Tx) error {
			_, err := tx.Exec("delete", joinLabels(namespace), key)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("delete item %.40q: %w", key, err)
	}
	return nil
}

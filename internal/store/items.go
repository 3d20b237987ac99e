package store

import (
	"context"
	"encoding/json"
	"time"
)

// Item is a document of the long-term store that LangGraph's API offers beside the threads.
type Item struct {
	// Namespace is the item's path: 1 to 16 labels, each of 1 to 128 bytes without a dot or a control character.
	Namespace []string
	Key       string          // unique in its namespace; 1 to 256 bytes
	Value     json.RawMessage // a JSON object of at most 1 MiB
	CreatedAt time.Time
	UpdatedAt time.Time
	// TTL is how long the item lives after it was written, or last read with [Access].Refresh; 0 means for ever. It is kept in
	// microseconds.
	TTL time.Duration
	// Expires is the end of that time; zero if there is none. It follows from TTL and is read only.
	Expires time.Time
	// Score is how well the item matches [ItemFilter].Query: above 0, at most 1. Only a search with a query sets it.
	Score float64
}

// Access is the moment of a read, and what the read does to the items that it returns.
type Access struct {
	// Now must be set: an item whose time to live is over by then is not there.
	Now time.Time
	// Refresh lets the time to live of each item that is returned begin anew.
	Refresh bool
}

// ItemFilter selects items under a prefix; empty fields select all.
type ItemFilter struct {
	Access

	Prefix []string
	// Match selects items whose value has each of these members with an equal value.
	Match map[string]json.RawMessage
	// Query selects items whose value has at least one of its words in a string or a number, whatever the case and also as a
	// part of a longer word. It has at most 4096 bytes; one of white space alone selects all. An item with more of the words
	// comes first, one with the whole text before all others.
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

// Items are a user's items.
type Items interface {
	// PutItem adds an item, or gives the one of its key a new value, UpdatedAt and time to live.
	PutItem(ctx context.Context, i Item) error
	// Item returns an item, or [ErrNotFound].
	Item(ctx context.Context, namespace []string, key string, a Access) (Item, error)
	// DeleteItem removes an item; one that is missing is no error.
	DeleteItem(ctx context.Context, namespace []string, key string) error
	// SearchItems returns items, the last updated first, or with a query those that match best.
	SearchItems(ctx context.Context, f ItemFilter) ([]Item, error)
	// Namespaces returns the namespaces that hold items, in their order.
	Namespaces(ctx context.Context, f NamespaceFilter) ([][]string, error)
}

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

// AssistantFilter selects assistants by the version in force; empty fields select all.
type AssistantFilter struct {
	GraphID string
	// Name selects names that contain it, whatever the case.
	Name string
	// Metadata is as in [ThreadFilter].
	Metadata map[string]json.RawMessage
	// Sort is "created_at" (the default), "updated_at", "name" or "assistant_id".
	Sort      string
	Ascending bool
	Limit     int // 1 to 1001; 0 means 10
	Offset    int
}

// Assistants are a user's assistants.
type Assistants interface {
	// CreateAssistant adds an assistant as version 1; [ErrConflict] if the id is taken, by whomever.
	CreateAssistant(ctx context.Context, a Assistant) error
	// Assistant returns the version in force.
	Assistant(ctx context.Context, id string) (Assistant, error)
	// UpdateAssistant adds a version with the fields of a, puts it in force, and returns it. ID and UpdatedAt name the
	// assistant and the time; Version and CreatedAt are ignored.
	UpdateAssistant(ctx context.Context, a Assistant) (Assistant, error)
	// SetLatest puts an earlier version in force.
	SetLatest(ctx context.Context, id string, version int) (Assistant, error)
	// Versions lists the versions, the newest first. limit is 1 to 1000.
	Versions(ctx context.Context, id string, limit, offset int) ([]Assistant, error)
	SearchAssistants(ctx context.Context, f AssistantFilter) ([]Assistant, error)
	CountAssistants(ctx context.Context, f AssistantFilter) (int, error)
	// DeleteAssistant removes all versions; [ErrNotFound] without them.
	DeleteAssistant(ctx context.Context, id string) error
}

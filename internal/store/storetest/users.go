package storetest

import (
	"context"
	"reflect"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
)

// attempt is something that a user tries by the ids of what may be somebody else's.
type attempt struct {
	name string
	// want is the error where the ids are somebody else's; nil if nothing is found, and nothing happens.
	want error
	try  func(ctx context.Context, of store.UserData) (found any, err error)
}

// anothers: whatever bob tries with the ids of what is ann's, he finds nothing, nothing of hers changes, and his attempts with ids
// that nobody has end in the same way.
func anothers(f *fixture) {
	hers := f.furnish()
	before := f.held(hers)
	bob := f.as("bob")
	for _, a := range attempts(f, hers) {
		found, err := a.try(f.Context(), bob)
		if a.want != nil {
			f.want(err, a.want, "")
		} else {
			f.must(err)
		}
		if v := reflect.ValueOf(found); err == nil && v.IsValid() && !v.IsZero() {
			f.Errorf("%s: bob finds %+v", a.name, found)
		}
		f.equal("ann's after "+a.name, f.held(hers), before)
	}
	f.sound()
}

// nobodys: without a user nothing is found or done, whatever the ids are.
func nobodys(f *fixture) {
	hers := f.furnish()
	before := f.held(hers)
	for _, a := range attempts(f, hers) {
		_, err := a.try(f.Context(), f.For(access.User{}))
		f.want(err, access.ErrNoUser, "")
	}
	f.equal("ann's", f.held(hers), before)
}

// belongings are ids of what a user has.
type belongings struct {
	namespace []string
	item      string
	assistant string
}

// furnish gives ann one of everything.
func (f *fixture) furnish() belongings {
	f.Helper()
	i := f.put("a.b", "k", `{"t":"deer"}`)
	return belongings{namespace: i.Namespace, item: i.Key, assistant: f.assistant("assistant", "lead", "one", `{"v":1}`).ID}
}

// held is what ann has of it.
func (f *fixture) held(of belongings) []any {
	f.Helper()
	i, err := f.Item(f.Context(), of.namespace, of.item, f.access())
	f.must(err)
	versions, err := f.Versions(f.Context(), of.assistant, 10, 0)
	f.must(err)
	return []any{i, versions}
}

// attempts are all methods of a user's data, each with the ids.
func attempts(f *fixture, of belongings) []attempt {
	none := store.Assistant{ID: of.assistant, GraphID: "lead"}
	return []attempt{
		{"Item", store.ErrNotFound, func(ctx context.Context, d store.UserData) (any, error) {
			return d.Item(ctx, of.namespace, of.item, f.access())
		}},
		{"DeleteItem", nil, func(ctx context.Context, d store.UserData) (any, error) {
			return nil, d.DeleteItem(ctx, of.namespace, of.item)
		}},
		{"SearchItems", nil, func(ctx context.Context, d store.UserData) (any, error) {
			return d.SearchItems(ctx, store.ItemFilter{Access: f.access(), Prefix: of.namespace})
		}},
		{"SearchItems by a query", nil, func(ctx context.Context, d store.UserData) (any, error) {
			return d.SearchItems(ctx, store.ItemFilter{Access: f.access(), Query: "deer"})
		}},
		{"Namespaces", nil, func(ctx context.Context, d store.UserData) (any, error) {
			return d.Namespaces(ctx, store.NamespaceFilter{Now: f.now})
		}},
		{"CreateAssistant", store.ErrConflict, func(ctx context.Context, d store.UserData) (any, error) {
			return nil, d.CreateAssistant(ctx, none)
		}},
		{"Assistant", store.ErrNotFound, func(ctx context.Context, d store.UserData) (any, error) {
			return d.Assistant(ctx, of.assistant)
		}},
		{"UpdateAssistant", store.ErrNotFound, func(ctx context.Context, d store.UserData) (any, error) {
			return d.UpdateAssistant(ctx, none)
		}},
		{"SetLatest", store.ErrNotFound, func(ctx context.Context, d store.UserData) (any, error) {
			return d.SetLatest(ctx, of.assistant, 1)
		}},
		{"Versions", store.ErrNotFound, func(ctx context.Context, d store.UserData) (any, error) {
			return d.Versions(ctx, of.assistant, 10, 0)
		}},
		{"SearchAssistants", nil, func(ctx context.Context, d store.UserData) (any, error) {
			return d.SearchAssistants(ctx, store.AssistantFilter{})
		}},
		{"CountAssistants", nil, func(ctx context.Context, d store.UserData) (any, error) {
			return d.CountAssistants(ctx, store.AssistantFilter{})
		}},
		{"DeleteAssistant", store.ErrNotFound, func(ctx context.Context, d store.UserData) (any, error) {
			return nil, d.DeleteAssistant(ctx, of.assistant)
		}},
		{"PutItem", nil, func(ctx context.Context, d store.UserData) (any, error) { // beside hers; the last
			return nil, d.PutItem(ctx, store.Item{Namespace: of.namespace, Key: of.item})
		}},
	}
}

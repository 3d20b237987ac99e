package gateways

import (
	"context"
	"slices"
	"sync"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/models"
	"github.com/pudu-ai/pudu/internal/model/probe"
	"github.com/pudu-ai/pudu/internal/store"
)

// Keeper has models in memory. Err is what all of it answers, if it is not nil.
type Keeper struct {
	Err error

	mu   sync.Mutex
	list models.List
	// Given are the entries that came, and Kept whether they were to keep their keys.
	Given []config.Given
	Kept  []bool
	Tried []models.Trial
}

// List implements the keeper of the gateway, as the other methods do.
func (k *Keeper) List(context.Context) (models.List, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.list
	l.Models = append([]models.Listed{}, l.Models...)
	return l, k.Err
}

// Providers lists one.
func (k *Keeper) Providers(context.Context) (models.Providers, error) {
	return models.Providers{Providers: []models.Provider{{Name: "openai", NeedsKey: true, KeyVariables: []string{},
		Models: []string{}}}}, k.Err
}

// Add keeps an entry.
func (k *Keeper) Add(_ context.Context, g config.Given, standard bool) error {
	return k.change(func() {
		k.Given = append(k.Given, g)
		k.list.Models = append(k.list.Models, models.Listed{Name: g.FullName(), Provider: g.Provider, Model: g.ID,
			Origin: models.Added, Settings: g.Settings})
		if standard {
			k.list.Default = g.FullName()
		}
	})
}

// Put replaces an entry.
func (k *Keeper) Put(_ context.Context, g config.Given, keep bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.Given, k.Kept = append(k.Given, g), append(k.Kept, keep)
	if k.Err == nil && !k.has(g.Name) {
		return store.ErrNotFound
	}
	return k.Err
}

func (k *Keeper) has(name string) bool {
	return slices.ContainsFunc(k.list.Models, func(m models.Listed) bool { return m.Name == name })
}

// Remove forgets an entry.
func (k *Keeper) Remove(_ context.Context, name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.Err == nil && !k.has(name) {
		return store.ErrNotFound
	}
	if k.Err == nil {
		k.list.Models = nil
	}
	return k.Err
}

// SetStandard makes an entry the standard one.
func (k *Keeper) SetStandard(_ context.Context, name string) error {
	return k.change(func() { k.list.Default = name })
}

func (k *Keeper) change(do func()) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.Err == nil {
		do()
	}
	return k.Err
}

// Test notes what it is to try, and says that it answers.
func (k *Keeper) Test(_ context.Context, t models.Trial) (probe.Test, error) {
	return func(_ context.Context, done func(probe.Result)) (probe.Examined, error) {
		r := probe.Result{Task: "answers", Outcome: probe.Pass}
		done(r)
		return probe.Examined{Report: probe.Report{Results: []probe.Result{r}, Verdict: probe.Answers},
			Name: t.FullName()}, nil
	}, k.change(func() { k.Tried = append(k.Tried, t) })
}

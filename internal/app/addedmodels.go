package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/models"
	"github.com/pudu-ai/pudu/internal/model/catalog"
	"github.com/pudu-ai/pudu/internal/store"
)

// modelView is which models there are: those of the configuration and of the environment, and those that were added.
type modelView struct {
	base *config.Config // the configuration alone
	cfg  *config.Config // with the models that were added
	kept models.Kept
	std  chosen
}

// withAdded is a configuration with the models that were added.
func withAdded(cfg *config.Config, kept models.Kept) *config.Config {
	list := make([]config.Model, len(kept.Entries))
	for i, e := range kept.Entries {
		if list[i] = e.Model(cfg.Env); list[i].Err == nil {
			catalog.Complete(&list[i])
		}
	}
	return cfg.With(list, kept.Standard)
}

// keeper changes the models that were added, says which ones there are, and tests them. It is what the routes for
// admins and the commands work with.
type keeper struct {
	rows *models.Models
	// view is how it is now; changed has the runs that begin from now on work with what has changed.
	view    func(ctx context.Context) (modelView, error)
	changed func(ctx context.Context) error
	script  []byte // of the demonstration
	// fixed names what comes before any choice of a default; empty is nothing.
	fixed func(*config.Config) string
	tests chan struct{} // has room for those at once
}

// testsAtOnce bounds the tests of models in a process.
const testsAtOnce = 4

// fixedBy names what says which model is the default, before any choice.
func (a App) fixedBy(flag string) func(*config.Config) string {
	return func(cfg *config.Config) string {
		switch {
		case flag != "":
			return "--model"
		case cfg.Env.Get("PUDU_MODEL") != "":
			return "PUDU_MODEL"
		case a.Model != nil:
			return "the program"
		}
		return ""
	}
}

// List says which models there are.
func (k *keeper) List(ctx context.Context) (models.List, error) {
	v, err := k.view(ctx)
	if err != nil {
		return models.List{}, err
	}
	out := models.List{Models: []models.Listed{}, Why: v.std.why, Fixed: k.fixed(v.base)}
	switch {
	case v.std.missing != nil:
		out.Why = v.std.missing.Error()
	case v.std.model != nil:
		out.Default = v.std.entry.Name
	}
	for _, m := range v.base.Models {
		out.Models = append(out.Models, models.Of(m, models.File))
	}
	if m := v.std.entry; v.std.model != nil && !m.IsDemo() && !v.has(m.Name) {
		out.Models = append(out.Models, models.Of(m, models.Environment))
	}
	for _, e := range v.kept.Entries {
		out.Models = append(out.Models, v.listed(e))
	}
	for i := range out.Models {
		m := &out.Models[i]
		m.Default = m.Usable && m.Name == out.Default
	}
	return out, nil
}

// has reports whether the configuration has a model, also one that was added.
func (v modelView) has(name string) bool {
	m, ok := v.cfg.Model(name)
	return ok && (!m.Given || v.std.entry.Given || v.std.entry.Name != name)
}

// listed is an entry. One whose name stands elsewhere too is not used.
func (v modelView) listed(e models.Entry) models.Listed {
	m := e.Model(v.base.Env)
	if m.Err == nil {
		catalog.Complete(&m)
	}
	l := e.Of(m)
	if where := v.reserved(e.Name); where != "" {
		l.Usable, l.Problem = false, where+" has a model of this name, which counts"
	}
	return l
}

// reserved says what else has a model of a name; empty if nothing has.
func (v modelView) reserved(name string) string {
	if m, ok := v.base.Model(name); ok {
		return fmt.Sprintf("%s, line %d,", v.base.Path, m.Line)
	}
	if v.std.model != nil && v.std.entry.Name == name && !v.std.entry.Given {
		return "the environment"
	}
	return ""
}

// named finds a model by the name that a list has it by; with an empty one it is the default.
func (v modelView) named(name string) (config.Model, error) {
	if v.std.model != nil && (name == "" || name == v.std.entry.Name) {
		return v.std.entry, nil
	}
	if name == "" {
		return config.Model{}, fmt.Errorf("%w: %w", models.ErrConflict, v.std.missing)
	}
	if m, ok := v.cfg.Model(name); ok {
		return m, nil
	}
	env := fromEnvironment(v.base, nil)
	if i := slices.IndexFunc(env, func(m config.Model) bool { return m.Name == name }); i >= 0 {
		return env[i], nil
	}
	return config.Model{}, store.ErrNotFound
}

package app

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/models"
	"github.com/pudu-ai/pudu/internal/model/catalog"
	"github.com/pudu-ai/pudu/internal/outgoing"
	"github.com/pudu-ai/pudu/internal/store"
)

// checked is the model of an entry that can be added, or tested.
func (v modelView) checked(g config.Given) (config.Model, error) {
	m, err := g.Model(v.base.Env)
	if err == nil {
		err = m.Err
	}
	if err == nil {
		err = checkHost(m.BaseURL)
	}
	if err != nil {
		return m, fmt.Errorf("%w: %w", models.ErrInvalid, err)
	}
	catalog.Complete(&m)
	return m, nil
}

// changeable returns why a model of a name cannot be changed here; nil if it can, or if there is none.
func (v modelView) changeable(name string) error {
	if where := v.reserved(name); where != "" {
		return fmt.Errorf("%w: %s has a model %q; change it there, or take another name", models.ErrConflict, where,
			name)
	}
	return nil
}

// Add adds a model.
func (k *keeper) Add(ctx context.Context, g config.Given, standard bool) error {
	return k.change(ctx, func(v modelView) error {
		if _, err := v.checked(g); err != nil {
			return err
		}
		err := v.changeable(g.FullName())
		if err == nil && standard {
			err = k.free(v)
		}
		if err == nil {
			err = k.rows.Add(ctx, g, standard, time.Now())
		}
		return err
	})
}

// free returns why nobody can choose the default; nil if somebody can.
func (k *keeper) free(v modelView) error {
	if by := k.fixed(v.base); by != "" {
		return fmt.Errorf("%w: %s says which model is the default; take that away first", models.ErrConflict, by)
	}
	return nil
}

// Put changes a model that was added; with keep it keeps its key if it is given none.
func (k *keeper) Put(ctx context.Context, g config.Given, keep bool) error {
	return k.change(ctx, func(v modelView) error {
		if err := v.changeable(g.FullName()); err != nil {
			return err
		}
		if _, err := v.checked(v.keyed(g, keep)); err != nil && !v.moved(g, keep) {
			return err
		}
		return k.rows.Put(ctx, g, keep, time.Now())
	})
}

// keyed is an entry with the key that it keeps.
func (v modelView) keyed(g config.Given, keep bool) config.Given {
	for _, e := range v.kept.Entries {
		if keep && g.Key == "" && e.Name == g.FullName() && e.Provider == g.Provider && e.BaseURL == g.BaseURL {
			g.Key = e.Key
		}
	}
	return g
}

// moved reports whether an entry would take its key to another place, which the store refuses with a better reason than
// that it has no key there.
func (v modelView) moved(g config.Given, keep bool) bool {
	return keep && g.Key == "" && slices.ContainsFunc(v.kept.Entries, func(e models.Entry) bool {
		return e.Name == g.FullName() && e.Keyed && (e.Provider != g.Provider || e.BaseURL != g.BaseURL)
	})
}

// Remove removes a model that was added.
func (k *keeper) Remove(ctx context.Context, name string) error {
	return k.change(ctx, func(v modelView) error {
		err := k.rows.Remove(ctx, name)
		if why := v.changeable(name); errors.Is(err, store.ErrNotFound) && why != nil {
			return why
		}
		return err
	})
}

// SetStandard makes a model the default; an empty name leaves it to the configuration.
func (k *keeper) SetStandard(ctx context.Context, name string) error {
	return k.change(ctx, func(v modelView) error {
		if err := k.free(v); err != nil {
			return err
		}
		if name != "" {
			m, err := v.named(name)
			if err == nil && m.Err != nil {
				err = fmt.Errorf("%w: %s cannot be used: %w", models.ErrConflict, name, m.Err)
			}
			if err != nil {
				return err
			}
		}
		return k.rows.SetStandard(ctx, name)
	})
}

func (k *keeper) change(ctx context.Context, do func(modelView) error) error {
	v, err := k.view(ctx)
	if err == nil {
		err = do(v)
	}
	if err != nil {
		return err
	}
	return k.changed(context.WithoutCancel(ctx)) // it is stored, whoever waits for the answer
}

// checkHost refuses the address of a server that is written as one where no model is served; names are looked at when
// they are connected to.
func checkHost(base string) error {
	u, err := url.Parse(base)
	if err != nil {
		return fmt.Errorf("base_url: %w", err)
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		if err := outgoing.ModelHost(ip); err != nil {
			return &config.GivenError{Key: "base_url", Msg: err.Error()}
		}
	}
	return nil
}

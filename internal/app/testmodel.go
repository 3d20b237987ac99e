package app

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/models"
	"github.com/pudu-ai/pudu/internal/model/probe"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/internal/outgoing"
)

// errTests refuses one test more.
var errTests = fmt.Errorf("%w: %d models are being tested; try again when one of them is done", models.ErrBusy,
	testsAtOnce)

// Test makes a test of a model, which has to be called.
func (k *keeper) Test(ctx context.Context, t models.Trial) (probe.Test, error) {
	v, err := k.view(ctx)
	if err != nil {
		return nil, err
	}
	c, err := k.tried(v, t)
	if err != nil {
		return nil, err
	}
	select {
	case k.tests <- struct{}{}:
	default:
		return nil, errTests
	}
	return func(ctx context.Context, done func(probe.Result)) (probe.Examined, error) {
		defer func() { <-k.tests }()
		return examine(ctx, c, t.First, done), nil
	}, nil
}

// tried is the model that is to be tested.
func (k *keeper) tried(v modelView, t models.Trial) (c chosen, err error) {
	if t.Provider != "" {
		c.entry, err = v.checked(v.keyed(t.Given, t.Keep))
	} else if c.entry, err = v.named(t.Name); err == nil && c.entry.Err != nil {
		err = fmt.Errorf("%w: %w", models.ErrInvalid, c.entry.Err)
	}
	if err != nil {
		return c, err
	}
	if v.std.model != nil && c.entry.Name == v.std.entry.Name && t.Provider == "" {
		return v.std, nil // also one that only the program can make
	}
	if c.model, err = buildAny(c.entry, k.script); err != nil {
		err = fmt.Errorf("%w: %w", models.ErrInvalid, err)
	}
	return c, err
}

// firstTimeout bounds a test of whether a model answers at all.
const firstTimeout = 60 * time.Second

// examine has a model do its tasks, or the first alone.
func examine(ctx context.Context, c chosen, first bool, done func(probe.Result)) probe.Examined {
	p := probeOf(c, done)
	if p.First = first; first {
		p.Total = firstTimeout
	}
	r := probe.Run(ctx, p)
	u := r.Usage
	x := probe.Examined{Report: r, Name: c.entry.Name, Spent: probe.Spent{
		Input: u.InputTokens, Output: u.OutputTokens, CacheRead: u.CacheRead, Reasoning: u.Reasoning,
	}}
	if r.Err != nil {
		x.Problem, x.Remedy = r.Err.Error(), remedyFor(r.Err)
	}
	if p := c.entry.Pricing; p != nil {
		x.Cost, x.Currency = new(p.Cost(u)), p.Money()
	}
	return x
}

// clientOf is the client of a model's server: of one that somebody has added it looks at each address. Nil is the usual
// one.
func clientOf(m config.Model) *http.Client {
	if !m.Given {
		return nil
	}
	return &http.Client{Transport: wire.NewTransportTo(outgoing.ModelServer)}
}

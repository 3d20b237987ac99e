package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/models"
	"github.com/pudu-ai/pudu/internal/model/probe"
)

// Keeper has the models of a server, for admins.
type Keeper struct{ *Client }

// entryJSON is an entry as the server takes it.
type entryJSON struct {
	Name     string          `json:"name,omitempty"`
	Provider string          `json:"provider,omitempty"`
	Model    string          `json:"model,omitempty"`
	BaseURL  string          `json:"base_url,omitempty"`
	Key      *string         `json:"api_key,omitempty"`
	Settings json.RawMessage `json:"settings,omitempty"`
	Default  bool            `json:"default,omitempty"`
	First    bool            `json:"first,omitempty"`
}

func entryOf(g config.Given, keep bool) entryJSON {
	e := entryJSON{Name: g.Name, Provider: g.Provider, Model: g.ID, BaseURL: g.BaseURL, Settings: g.Settings}
	if key := g.Key.Reveal(); key != "" || !keep {
		e.Key = &key
	}
	return e
}

// List returns all models.
func (k Keeper) List(ctx context.Context) (list models.List, err error) {
	err = k.get(ctx, "/config/models", &list)
	return list, err
}

// Providers returns what models can be added of.
func (k Keeper) Providers(ctx context.Context) (list models.Providers, err error) {
	err = k.get(ctx, "/config/providers", &list)
	return list, err
}

// Add adds a model.
func (k Keeper) Add(ctx context.Context, g config.Given, standard bool) error {
	e := entryOf(g, true)
	e.Default = standard
	return k.call(ctx, http.MethodPost, "/config/models", nil, e, nil)
}

// Put changes one that was added.
func (k Keeper) Put(ctx context.Context, g config.Given, keep bool) error {
	return k.call(ctx, http.MethodPut, pathOf(g.FullName()), nil, entryOf(g, keep), nil)
}

// Remove removes one that was added.
func (k Keeper) Remove(ctx context.Context, name string) error {
	return k.call(ctx, http.MethodDelete, pathOf(name), nil, nil, nil)
}

// pathOf is the path of a model, whose name may have slashes.
func pathOf(name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return "/config/models/" + strings.Join(parts, "/")
}

// SetStandard makes a model the default.
func (k Keeper) SetStandard(ctx context.Context, name string) error {
	return k.call(ctx, http.MethodPut, "/config/default-model", nil, map[string]string{"name": name}, nil)
}

// testTimeout is more than a test takes.
const testTimeout = 12 * time.Minute

// Test makes a test of a model.
func (k Keeper) Test(_ context.Context, t models.Trial) (probe.Test, error) {
	e := entryOf(t.Given, t.Keep)
	e.First = t.First
	return func(ctx context.Context, done func(probe.Result)) (x probe.Examined, err error) {
		ctx, cancel := k.within(ctx, testTimeout)
		defer cancel()
		body, err := json.Marshal(e) //nolint:gosec // the key is what the server is to try
		if err != nil {
			return x, fmt.Errorf("encode request: %w", err)
		}
		req, err := k.request(ctx, http.MethodPost, "/config/models/test", bytes.NewReader(body))
		if err != nil {
			return x, err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/x-ndjson")
		res, err := k.send(k.http, req)
		if err != nil {
			return x, err
		}
		defer res.Body.Close()
		return results(io.LimitReader(res.Body, maxAnswer), done)
	}, nil
}

// results reads the lines of a test: what has a task is a result, and the verdict stands in the last one. A server of
// an older version sends that alone, with all results.
func results(r io.Reader, done func(probe.Result)) (x probe.Examined, err error) {
	told := 0
	for dec := json.NewDecoder(r); x.Verdict == ""; {
		var line json.RawMessage
		var r probe.Result
		if err := dec.Decode(&line); err != nil {
			return x, fmt.Errorf("%w: the test broke off: %w", errGarbled, err)
		}
		if json.Unmarshal(line, &r) == nil && r.Task != "" {
			told++
			done(r)
		} else if err := json.Unmarshal(line, &x); err != nil {
			return x, fmt.Errorf("%w: %w", errGarbled, err)
		}
	}
	for _, r := range x.Results[min(told, len(x.Results)):] {
		done(r)
	}
	return x, nil
}

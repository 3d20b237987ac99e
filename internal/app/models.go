package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/models/anthropic"
	"github.com/pudu-ai/pudu/internal/models/openai"
	"github.com/pudu-ai/pudu/internal/models/scripted"
	"github.com/pudu-ai/pudu/model"
)

// ollamaTimeout bounds the look for a local Ollama.
const ollamaTimeout = time.Second

// chosen is the model of this process.
type chosen struct {
	model  model.ChatModel
	name   string // in the configuration; empty if it does not stand there
	why    string
	vision bool
	// unread are the keys of its configuration that load and have no effect yet.
	unread []string
	// missing tells how to add a model; with it, model is the scripted demonstration.
	missing string
}

// modelSet are the models that runs may name, each made when the first one does.
type modelSet struct {
	cfg     *config.Config
	std     guarded // for runs that name none
	mu      sync.Mutex
	byNames map[string]guarded
}

// guarded is a model with what all its runs share.
type guarded struct {
	chosen

	guard lead.ModelGuard
}

func newModelSet(cfg *config.Config, std chosen) *modelSet {
	return &modelSet{cfg: cfg, std: guarded{std, lead.NewModelGuard(cfg.LLMCall, cfg.CircuitBreaker)}, byNames: make(map[string]guarded)}
}

// of returns the model that a run names: one of the configuration. Any other name stands for the standard model, which
// the log says.
func (s *modelSet) of(name string) guarded {
	m, known := s.cfg.Model(name)
	if name == "" || !known || s.std.missing != "" || name == s.std.name {
		if name != "" && !known && name != s.std.model.Name() {
			slog.Warn("a run names a model that is not configured; it gets the standard one", "model", name)
		}
		return s.std
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if g, ok := s.byNames[name]; ok {
		return g
	}
	built, err := buildModel(m)
	if err != nil {
		slog.Warn("a run names a model that cannot be used; it gets the standard one", "model", name, "error", err)
		return s.std
	}
	g := guarded{chosen{model: built, vision: m.SupportsVision, name: name}, lead.NewModelGuard(s.cfg.LLMCall, s.cfg.CircuitBreaker)}
	s.byNames[name] = g
	return g
}

// chooseModel finds the model to use. Without any, it is the scripted demonstration.
func chooseModel(ctx context.Context, cfg *config.Config, name string, demoScript []byte) (chosen, error) {
	choice, err := config.Choose(cfg, name, func(base string) ([]string, error) { return ollamaModels(ctx, base) })
	if errors.Is(err, config.ErrNoModel) {
		m, errDemo := scripted.New(scripted.Config{Path: "demo", Script: demoScript})
		if errDemo != nil {
			return chosen{}, fmt.Errorf("demonstration: %w", errDemo)
		}
		return chosen{model: m, why: "no model was found", missing: err.Error()}, nil
	}
	if err != nil {
		return chosen{}, err
	}
	m, err := buildModel(choice.Model)
	if err != nil {
		return chosen{}, err
	}
	return chosen{model: m, name: choice.Model.Name, why: choice.Reason, vision: choice.Model.SupportsVision, unread: unread(choice.Model)}, nil
}

// unread lists the keys of a model's entry that nothing reads yet.
func unread(m config.Model) []string {
	var keys []string
	for key, set := range map[string]bool{
		"timeout":                m.Timeout > 0,
		"when_thinking_enabled":  len(m.ThinkingOn) > 0,
		"when_thinking_disabled": len(m.ThinkingOff) > 0,
		"extra_body":             m.Wire == config.WireAnthropic && len(m.ExtraBody) > 0,
	} {
		if set {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// buildModel constructs the provider of a resolved model.
func buildModel(m config.Model) (model.ChatModel, error) {
	if m.Err != nil {
		return nil, fmt.Errorf("model %q: %w", m.Name, m.Err)
	}
	settings := model.Settings{Temperature: m.Temperature, MaxTokens: m.MaxTokens, Effort: m.Effort}
	var extra map[string]json.RawMessage
	if len(m.ExtraBody) > 0 {
		if err := json.Unmarshal(m.ExtraBody, &extra); err != nil {
			return nil, fmt.Errorf("model %q: extra_body: %w", m.Name, err)
		}
	}
	switch m.Wire {
	case config.WireScripted:
		return scripted.New(scripted.Config{Path: m.Script})
	case config.WireAnthropic:
		return anthropic.New(anthropic.Config{
			Name: m.Provider, BaseURL: m.BaseURL, APIKey: m.Key.Reveal(), Model: m.ID,
			Headers: m.Headers, Settings: settings, IdleTimeout: m.ChunkTimeout,
		}), nil
	default:
		return openai.New(openai.Config{
			Name: m.Provider, BaseURL: m.BaseURL, APIKey: m.Key.Reveal(), Model: m.ID, Dialect: m.Dialect,
			Headers: m.Headers, ExtraBody: extra, Settings: settings, IdleTimeout: m.ChunkTimeout,
		}), nil
	}
}

// ollamaModels lists the models of a local Ollama.
func ollamaModels(ctx context.Context, base string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, ollamaTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/tags", http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ollama at %s: HTTP %d", base, resp.StatusCode)
	}
	var list struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&list); err != nil {
		return nil, fmt.Errorf("ollama at %s: %w", base, err)
	}
	names := make([]string, len(list.Models))
	for i, m := range list.Models {
		names[i] = m.Name
	}
	return names, nil
}

// OpenModel opens the model that the process's configuration and environment name; see config.Choose.
func OpenModel(ctx context.Context, name string) (model.ChatModel, error) {
	cfg, _, err := config.Load(config.LoadOptions{})
	if err != nil {
		return nil, err
	}
	c, err := chooseModel(ctx, cfg, name, demoScript)
	if err != nil {
		return nil, err
	}
	if c.missing != "" {
		return nil, fmt.Errorf("%w: %s", config.ErrNoModel, c.missing)
	}
	return c.model, nil
}

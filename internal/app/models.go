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
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/model/catalog"
	"github.com/pudu-ai/pudu/internal/models/scripted"
	"github.com/pudu-ai/pudu/model"
)

// ollamaTimeout bounds the look for a local Ollama.
const ollamaTimeout = time.Second

// chosen is the model of this process.
type chosen struct {
	model model.ChatModel // nil if there is none
	entry config.Model    // as configured or chosen
	why   string
	// unread are the keys of its configuration that have no effect on it.
	unread []string
	// missing says that there is no model, and how to add one; it is a config.ErrNoModel. nil if there is one.
	missing error
}

// name is the name by which a run asks for the model; empty if there is none.
func (c chosen) name() string {
	switch {
	case c.model == nil:
		return ""
	case c.entry.IsDemo():
		return c.entry.Name
	}
	return c.model.Name()
}

// modelSet are the models that runs may name, each made when the first one does.
type modelSet struct {
	cfg     *config.Config
	std     guarded // for runs that name none
	alone   bool    // there is no other: a replay
	demo    []byte  // the script of the demonstration
	guards  *lead.ModelGuards
	log     *slog.Logger
	mu      sync.Mutex
	byNames map[string]guarded
}

// guarded is a model with what all its runs share.
type guarded struct {
	chosen

	guard lead.ModelGuard
}

func newModelSet(cfg *config.Config, std chosen, demo []byte, observe lead.CallObserver, log *slog.Logger) *modelSet {
	guards := lead.NewModelGuards(cfg, observe)
	return &modelSet{
		cfg: cfg, std: guarded{std, guards.Of(std.entry)}, demo: demo, guards: guards, log: log,
		byNames: make(map[string]guarded),
	}
}

// resolve decides what a run works with. A replay answers whatever model is asked for. A run that names no model where
// there is none, or one that is not there, is a config.ErrNoModel.
func (s *modelSet) resolve(r agents.Request, a agents.Agent) (agents.Choice, error) {
	if s.alone || r.ModelName == s.std.name() {
		r.ModelName = s.std.entry.Name
	}
	if s.alone {
		r.Model, a.Model = "", ""
	}
	c := agents.Resolve(r, a,
		agents.Models{Standard: s.std.entry, Named: append(slices.Clip(s.cfg.Models), config.DemoModel())})
	if c.Model.Name == s.std.entry.Name {
		return c, s.std.missing
	}
	return c, nil
}

// of returns a model that a run has chosen.
func (s *modelSet) of(m config.Model) guarded {
	g, err := s.made(m)
	if err != nil {
		s.log.Warn("a model cannot be used; the standard one takes its place", "model", m.Name, "error", err)
		return s.std
	}
	return g
}

// made returns the model of an entry, made at its first use.
func (s *modelSet) made(m config.Model) (guarded, error) {
	if m.Name == s.std.entry.Name {
		return s.std, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if g, ok := s.byNames[m.Name]; ok {
		return g, nil
	}
	built, err := buildAny(m, s.demo)
	if err != nil {
		return guarded{}, err
	}
	g := guarded{chosen{model: built, entry: m}, s.guards.Of(m)}
	s.byNames[m.Name] = g
	return g, nil
}

// fallbacks are the models that are asked when m does not answer. A replay has none.
func (s *modelSet) fallbacks(m config.Model) (list []lead.Candidate) {
	if s.alone {
		return nil
	}
	for _, entry := range s.cfg.FallbacksOf(m) {
		g, err := s.made(entry)
		if err != nil {
			s.log.Warn("a model cannot be used; it is no fallback", "model", entry.Name, "of", m.Name, "error", err)
			continue
		}
		list = append(list, g.asked())
	}
	return list
}

// asked is the model as one that calls are made of.
func (g guarded) asked() lead.Candidate {
	return lead.Candidate{Model: g.model, Entry: g.entry, Guard: g.guard}
}

// named is a model for work beside the runs, by its name in the configuration; nil if there is none of it, which stands
// for the run's own. Its calls keep to the limits of its key, are tried again, and go on with its fallbacks.
func (s *modelSet) named(name string) (model.ChatModel, config.Model) {
	m, known := s.cfg.Model(name)
	if !known || s.alone {
		return nil, config.Model{}
	}
	g := s.of(m)
	return lead.Aside(s.cfg.LLMCall, g.asked(), s.fallbacks(g.entry)), g.entry
}

// chooseModel finds the model to use. That there is none is no error: it is said in missing. The script is that of the
// demonstration.
func chooseModel(ctx context.Context, cfg *config.Config, name string, script []byte) (chosen, error) {
	choice, err := config.Choose(cfg, name, func(base string) ([]string, error) { return ollamaModels(ctx, base) })
	if errors.Is(err, config.ErrNoModel) {
		return chosen{missing: err}, nil
	}
	if err != nil {
		return chosen{}, err
	}
	catalog.Complete(&choice.Model)
	m, err := buildAny(choice.Model, script)
	if err != nil {
		return chosen{}, err
	}
	return chosen{model: m, entry: choice.Model, why: choice.Reason, unread: unread(choice.Model)}, nil
}

// buildAny constructs a model, also the demonstration of the script.
func buildAny(m config.Model, script []byte) (model.ChatModel, error) {
	if m.IsDemo() {
		return scripted.New(scripted.Config{Path: m.Name, Script: script})
	}
	return buildModel(m)
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
	cfg, _, err := config.Load(config.LoadOptions{Complete: catalog.Complete})
	if err != nil {
		return nil, err
	}
	c, err := chooseModel(ctx, cfg, name, demoScript)
	if err != nil {
		return nil, err
	}
	return c.model, c.missing
}

package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/model/catalog"
	"github.com/pudu-ai/pudu/internal/model/probe"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// askedAtOnce is how many models are asked side by side.
const askedAtOnce = 4

// lister lists the models of a local Ollama, as [config.Choose] wants it.
type lister func(base string) ([]string, error)

// Models implements cli.App.
func (a App) Models(ctx context.Context, o cli.Options, ask bool) ([]cli.ModelInfo, error) {
	cfg, err := a.addedTo(ctx, o)
	if err != nil {
		return nil, err
	}
	var local lister
	if ask {
		local = func(base string) ([]string, error) { return ollamaModels(ctx, base) }
	}
	models, std, err := usable(cfg, o.Model, local)
	if err != nil {
		return nil, err
	}
	infos := make([]cli.ModelInfo, len(models))
	for i, m := range models {
		infos[i] = infoOf(m)
		if m.Name == std.Model.Name {
			infos[i].Default, infos[i].Why = true, std.Reason
		}
	}
	if ask {
		askAll(ctx, models, infos)
	}
	return infos, nil
}

// usable lists the models of the configuration, or, if it has none, those that the environment has a key for; and the
// one that runs use, which is the zero value if that cannot be said.
func usable(cfg *config.Config, name string, local lister) ([]config.Model, config.Choice, error) {
	std, err := config.Choose(cfg, name, local)
	if err != nil && (name != "" || len(cfg.Models) == 0) {
		return nil, std, err
	}
	models := slices.Clone(cfg.Models)
	if len(models) == 0 {
		models = fromEnvironment(cfg, local)
	}
	if err == nil && !slices.ContainsFunc(models, func(m config.Model) bool { return m.Name == std.Model.Name }) {
		models = append([]config.Model{std.Model}, models...)
	}
	for i := range models {
		catalog.Complete(&models[i])
	}
	return models, std, nil
}

func fromEnvironment(cfg *config.Config, local lister) (models []config.Model) {
	for _, p := range config.Providers() {
		if c, err := config.Choose(cfg, p.Name, local); err == nil {
			models = append(models, c.Model)
		}
	}
	return models
}

func infoOf(m config.Model) cli.ModelInfo {
	info := cli.ModelInfo{
		Name: m.Name, Provider: m.Provider, ID: m.ID, DisplayName: m.DisplayName, Window: m.ContextWindow,
		Vision: m.SupportsVision, Thinking: m.SupportsThinking, Effort: m.SupportsReasoningEffort,
	}
	if p := m.Pricing; p != nil {
		info.Price = &cli.ModelPrice{Currency: p.Money(), Input: p.Input, Output: p.Output, AsOf: p.BuiltIn}
	}
	if m.Err != nil {
		info.Problem = m.Err.Error()
	}
	return info
}

// askAll asks each model for one word, a few at a time.
func askAll(ctx context.Context, models []config.Model, infos []cli.ModelInfo) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, askedAtOnce)
	for i := range models {
		if infos[i].Problem != "" {
			continue
		}
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			askOne(ctx, models[i], &infos[i])
		})
	}
	wg.Wait()
}

func askOne(ctx context.Context, entry config.Model, info *cli.ModelInfo) {
	m, err := buildModel(entry)
	if err != nil {
		info.Problem = err.Error()
		return
	}
	took, err := oneWord(ctx, m)
	answers := err == nil
	info.Answers, info.Millis = &answers, took.Milliseconds()
	if err != nil {
		info.Problem, info.Remedy = problemOf(err), remedyFor(err)
	}
}

// oneWord asks the model for a word, and returns how long it took.
func oneWord(ctx context.Context, m model.ChatModel) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, modelTimeout)
	defer cancel()
	start := time.Now()
	_, err := model.Collect(m.Stream(ctx, &model.Request{
		Messages: []message.Message{message.New(message.Human, "Answer with the word ready.")},
	}))
	return time.Since(start), err
}

// problemOf is a failure without the model's name, which stands beside it.
func problemOf(err error) string {
	e := model.AsError(err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %s", modelTimeout)
	case e == nil:
		return err.Error()
	case e.Status != 0:
		return fmt.Sprintf("HTTP %d: %s", e.Status, e.Message)
	}
	return e.Message
}

// ExamineModel implements cli.App.
func (a App) ExamineModel(ctx context.Context, o cli.Options, done func(probe.Result)) (probe.Examined, error) {
	cfg, err := a.addedTo(ctx, o)
	if err != nil {
		return probe.Examined{}, err
	}
	c, err := chooseModel(ctx, cfg, o.Model, demoScript)
	if err != nil {
		return probe.Examined{}, err
	}
	if c.missing != nil {
		return probe.Examined{}, c.missing
	}
	return examine(ctx, c, false, done), nil
}

// probeOf is the probe of a model, with what its entry declares. Only chat completions differ in switches that are
// worth trying, and have a list of models that may tell the window.
func probeOf(c chosen, done func(probe.Result)) probe.Config {
	m := c.entry
	p := probe.Config{Model: c.model, Done: done, Declared: probe.Declared{
		Vision: m.SupportsVision, Thinking: m.SupportsThinking, Effort: m.SupportsReasoningEffort,
		Window: m.ContextWindow, MaxTokens: m.MaxTokens,
	}}
	if m.Wire != config.WireOpenAI {
		return p
	}
	p.Variant = func(body json.RawMessage) (model.ChatModel, error) { return withBody(m, body) }
	p.Learn = func(ctx context.Context) int {
		s := probe.Server{BaseURL: m.BaseURL, Header: wire.Header(m.Key.Reveal(), "", m.Headers), Client: clientOf(m)}
		return s.Window(ctx, m.ID)
	}
	return p
}

// withBody is the same model with more fields in its requests.
func withBody(m config.Model, body json.RawMessage) (model.ChatModel, error) {
	merged, more := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if len(m.ExtraBody) > 0 {
		if err := json.Unmarshal(m.ExtraBody, &merged); err != nil {
			return nil, fmt.Errorf("model %q: extra_body: %w", m.Name, err)
		}
	}
	if err := json.Unmarshal(body, &more); err != nil {
		return nil, fmt.Errorf("add to the body: %w", err)
	}
	maps.Copy(merged, more)
	raw, err := json.Marshal(merged)
	if err != nil {
		return nil, fmt.Errorf("add to the body: %w", err)
	}
	m.ExtraBody = raw
	return buildModel(m)
}

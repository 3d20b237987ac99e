package app

import (
	"context"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/models"
	"github.com/pudu-ai/pudu/internal/model/catalog"
)

// maxExamples is how many models of a vendor are named as examples.
const maxExamples = 8

// Providers lists what models can be added of, and what was found on this machine.
func (k *keeper) Providers(ctx context.Context) (models.Providers, error) {
	v, err := k.view(ctx)
	if err != nil {
		return models.Providers{}, err
	}
	env := v.base.Env
	out := models.Providers{Providers: []models.Provider{}}
	for _, p := range config.Providers() {
		if p.Wire != config.WireScripted {
			out.Providers = append(out.Providers, providerOf(p, env))
		}
	}
	base := config.OllamaURL(env)
	if list, err := ollamaModels(ctx, base); err == nil {
		out.Ollama = &models.Found{BaseURL: config.ShownURL(base) + "/v1", Models: append([]string{}, list...)}
	}
	return out, nil
}

func providerOf(p config.Provider, env config.Env) models.Provider {
	base := p.Address(env)
	return models.Provider{
		Name: p.Name, Title: p.Title, NeedsKey: !p.Keyless, KeyURL: p.KeyURL,
		KeyVariables: slices.Concat([]string{}, p.KeyVars, p.TokenVars), KeyInEnvironment: p.KeyIn(env),
		BaseURL: config.ShownURL(base), NeedsBaseURL: base == "", Models: examplesOf(p),
	}
}

// examplesOf are models of a vendor by the names that it has for them, the usual one first, then as the catalog has
// them.
func examplesOf(p config.Provider) []string {
	list := []string{}
	if p.Model != "" {
		list = append(list, p.Model)
	}
	for _, r := range catalog.Rows() {
		plain := r.Vendor == p.Name && !strings.ContainsAny(r.Pattern, "*?[")
		if plain && len(list) < maxExamples && !slices.Contains(list, r.Pattern) {
			list = append(list, r.Pattern)
		}
	}
	return list
}

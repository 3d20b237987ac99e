package app

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/internal/models/anthropic"
	"github.com/pudu-ai/pudu/internal/models/gemini"
	"github.com/pudu-ai/pudu/internal/models/openai"
	"github.com/pudu-ai/pudu/internal/models/responses"
	"github.com/pudu-ai/pudu/internal/models/scripted"
	"github.com/pudu-ai/pudu/model"
)

// unread lists the keys of a model's entry that have no effect on it: another wire has them, or it cannot do what they
// ask for.
func unread(m config.Model) []string {
	claude, codex := m.Wire == config.WireAnthropic, m.Provider == "codex"
	var keys []string
	for key, without := range map[string]bool{
		"enable_prompt_caching": m.PromptCaching != nil && !claude,
		"prompt_cache_size":     m.CacheSize > 0 && !claude,
		"auto_thinking_budget":  m.AutoThinkingBudget && !claude,
		"thinking_budget":       m.ThinkingBudget != 0 && !claude && m.Wire != config.WireGemini,
		"use_responses_api":     m.UseResponses != nil && *m.UseResponses && m.Wire != config.WireResponses,
		"max_tokens":            m.MaxTokens > 0 && codex,
		"reasoning_effort (it needs supports_reasoning_effort)": m.Effort != "" && !m.SupportsReasoningEffort && !codex,
	} {
		if without {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// recipe is what all providers take from an entry.
type recipe struct {
	config.Model

	settings       model.Settings
	extra, on, off map[string]json.RawMessage
}

// buildModel constructs the provider of a resolved model.
func buildModel(m config.Model) (model.ChatModel, error) {
	if m.Err != nil {
		return nil, fmt.Errorf("model %q: %w", m.Name, m.Err)
	}
	if !m.Expires.IsZero() && time.Now().After(m.Expires) {
		return nil,
			fmt.Errorf("model %q: the login of Claude Code has expired: run `claude` to renew it, or set "+
				"ANTHROPIC_API_KEY", m.Name)
	}
	r := recipe{Model: m}
	if len(m.ExtraBody) > 0 {
		if err := json.Unmarshal(m.ExtraBody, &r.extra); err != nil {
			return nil, fmt.Errorf("model %q: extra_body: %w", m.Name, err)
		}
	}
	r.on, r.off = m.ThinkingBodies()
	r.settings = settingsOf(m, len(r.off) > 0)
	built, err := r.provider()
	if err != nil {
		return nil, err
	}
	return within(m.Timeout, built), nil
}

// settingsOf are the settings that a request leaves open. A model that does not think is told so if the entry says how.
func settingsOf(m config.Model, off bool) model.Settings {
	s := model.Settings{Temperature: m.Temperature, MaxTokens: m.MaxTokens}
	if m.SupportsReasoningEffort {
		s.Effort = m.Effort
	}
	if m.Provider == "codex" {
		s.MaxTokens, s.Effort = 0, "medium"
		if slices.Contains([]string{"low", "medium", "high", "xhigh"}, m.Effort) {
			s.Effort = m.Effort
		}
		return s
	}
	if !m.SupportsThinking && (off || m.Says("thinking_budget")) {
		s.Thinking = new(bool)
	}
	return s
}

func (r recipe) provider() (model.ChatModel, error) {
	cfg := wire.Config{
		Name: r.Provider, BaseURL: r.BaseURL, APIKey: r.Key.Reveal(), Model: r.ID, Headers: r.Headers,
		ExtraBody: r.extra, Dialect: r.Dialect, Codex: r.Provider == "codex", AccountID: r.Account,
		Settings: r.settings, IdleTimeout: r.ChunkTimeout, ThinkingOn: r.on, ThinkingOff: r.off,
		ThinkingBudget: r.ThinkingBudget, AutoThinkingBudget: r.AutoThinkingBudget, NoCache: r.PromptCaching != nil &&
			!*r.PromptCaching, CacheMessages: r.CacheSize, Client: clientOf(r.Model),
	}
	if r.Bearer && r.Wire == config.WireAnthropic {
		cfg.APIKey, cfg.AuthToken = "", cfg.APIKey
	}
	if r.Provider == "azure" {
		cfg.KeyHeader = "api-key"
	}
	switch r.Wire {
	case config.WireScripted:
		return scripted.New(scripted.Config{Path: r.Script})
	case config.WireAnthropic:
		return anthropic.New(cfg), nil
	case config.WireGemini:
		return gemini.New(cfg), nil
	case config.WireResponses:
		return responses.New(cfg), nil
	default:
		return openai.New(cfg), nil
	}
}

package models

import (
	"encoding/json"
	"time"

	"github.com/pudu-ai/pudu/internal/config"
)

// Where a model comes from, and where its key does.
const (
	Added       = "added"         // by people, while the program works
	File        = "configuration" // the configuration file
	Environment = "environment"   // a variable, or a local server
	NoKey       = "none"
)

// List is all models that runs may name, as admins see them. No key stands in it.
type List struct {
	Models []Listed `json:"models"`
	// Default is the name of the model of runs that name none, empty if there is no such model, and Why it is that one,
	// or why there is none.
	Default string `json:"default"`
	Why     string `json:"why"`
	// Fixed names what says so and comes before any choice: "--model" or "PUDU_MODEL"; empty if nothing does.
	Fixed string `json:"default_fixed_by,omitempty"`
}

// Listed is one of them.
type Listed struct {
	Name        string `json:"name"`
	Provider    string `json:"provider"`
	Model       string `json:"model"`
	DisplayName string `json:"display_name,omitempty"`
	BaseURL     string `json:"base_url"`
	// Origin is where it comes from; only those that were added can be changed, the others are ReadOnly.
	Origin   string `json:"origin"`
	ReadOnly bool   `json:"read_only"`
	// Key is where its key comes from.
	Key     string `json:"key"`
	Default bool   `json:"default"`
	Usable  bool   `json:"usable"`
	// Problem says why it is not, and what to do.
	Problem  string `json:"problem,omitempty"`
	Window   int    `json:"context_window"`
	Vision   bool   `json:"supports_vision"`
	Thinking bool   `json:"supports_thinking"`
	Effort   bool   `json:"supports_reasoning_effort"`
	// Settings are the further keys of one that was added.
	Settings  json.RawMessage `json:"settings,omitempty"`
	CreatedAt *time.Time      `json:"created_at,omitempty"`
	UpdatedAt *time.Time      `json:"updated_at,omitempty"`
}

// Of is what is listed of a model of the configuration, or of the environment.
func Of(m config.Model, origin string) Listed {
	l := Listed{
		Name: m.Name, Provider: m.Provider, Model: m.ID, DisplayName: m.DisplayName,
		BaseURL: config.ShownURL(m.BaseURL), Origin: origin, ReadOnly: origin != Added, Key: NoKey,
		Usable: m.Err == nil, Window: m.ContextWindow, Vision: m.SupportsVision, Thinking: m.SupportsThinking,
		Effort: m.SupportsReasoningEffort,
	}
	switch {
	case m.Says("api_key"):
		l.Key = File
	case m.Key != "":
		l.Key = Environment
	}
	if m.Err != nil {
		l.Problem = m.Err.Error()
	}
	return l
}

// Of is what is listed of an entry, whose model is m.
func (e *Entry) Of(m config.Model) Listed {
	l := Of(m, Added)
	if e.Keyed {
		l.Key = Added
	}
	if l.BaseURL == "" { // of a model that cannot be made
		l.BaseURL = config.ShownURL(e.BaseURL)
	}
	l.Settings, l.CreatedAt, l.UpdatedAt = e.Settings, new(e.CreatedAt.UTC()), new(e.UpdatedAt.UTC())
	return l
}

// Providers is what models can be added of.
type Providers struct {
	Providers []Provider `json:"providers"`
	// Ollama is what was found on the server's machine; nil if there is none.
	Ollama *Found `json:"ollama"`
}

// Provider is a vendor of models, or a kind of servers, and what an entry of it needs.
type Provider struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// NeedsKey says that it takes no call without a key; KeyURL is where people get one.
	NeedsKey bool   `json:"needs_key"`
	KeyURL   string `json:"key_url,omitempty"`
	// KeyVariables may hold the key in the environment of the server, and KeyInEnvironment is the one that does; empty
	// if none.
	KeyVariables     []string `json:"key_variables"`
	KeyInEnvironment string   `json:"key_in_environment"`
	// BaseURL is where it is asked if an entry does not say it; one that has none NeedsBaseURL.
	BaseURL      string `json:"base_url"`
	NeedsBaseURL bool   `json:"needs_base_url"`
	// Models are some of those that it has, the usual one first.
	Models []string `json:"models"`
}

// Found is a server of models on this machine.
type Found struct {
	BaseURL string   `json:"base_url"`
	Models  []string `json:"models"`
}

// Trial is a model to be tested: an entry, which need not have been added, or, without a provider, the one of the name
// that there is, which is the default if there is no name either.
type Trial struct {
	config.Given

	// Keep says that an entry without a key has that of the model of its name, if that was added for the same address.
	Keep bool
	// First leaves it at the first task: whether the model answers.
	First bool
}

package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Wire is the protocol that a model is spoken to with.
type Wire string

// The wires.
const (
	WireOpenAI    Wire = "openai"    // chat completions
	WireResponses Wire = "responses" // OpenAI's Responses API
	WireAnthropic Wire = "anthropic" // messages
	WireGemini    Wire = "gemini"    // generateContent
	WireScripted  Wire = "scripted"  // no network: the turns of a file
)

// Model is one usable model: an entry of "models", or one made from the environment by [Choose]. The fields without a
// key are resolved: they are what a provider is built from.
type Model struct {
	Name string `key:"name"`
	// Use is the class path of a DeerFlow file; Provider is Pudu's own short form and is always set when resolved.
	Use      string `key:"use"`
	Provider string `key:"provider"`
	// ID is what the provider calls the model.
	ID          string `key:"model"`
	DisplayName string `key:"display_name"`
	Description string `key:"description"`

	// BaseURL is the address without a slash at its end; Key may be empty for a server that wants none.
	BaseURL string            `key:"base_url,api_base,openai_api_base,anthropic_api_url"`
	Key     Secret            `key:"api_key,openai_api_key,anthropic_api_key,google_api_key,gemini_api_key"`
	Headers map[string]string `key:"default_headers"`
	// ExtraBody is a JSON object merged into the request; nil means nothing.
	ExtraBody json.RawMessage `key:"extra_body"`
	Wire      Wire
	// Dialect names the vendor's way of the wire, such as "deepseek"; empty means that the address tells.
	Dialect string
	// Script is the file that a scripted model plays.
	Script string `key:"script"`

	// MaxTokens bounds an answer; 0 means the model's own limit.
	MaxTokens   int      `key:"max_tokens,max_completion_tokens,max_output_tokens,num_predict" allow:"[1,)"`
	Temperature *float64 `key:"temperature" allow:"[0,2]"`
	// Effort is the reasoning effort when nobody asks for another; empty leaves it to the model.
	Effort string `key:"reasoning_effort"`
	// Timeout bounds a whole call, 0 means no bound; ChunkTimeout the silence between two chunks.
	Timeout      time.Duration `key:"timeout,request_timeout,default_request_timeout" unit:"s" allow:"(0,)"`
	ChunkTimeout time.Duration `key:"stream_chunk_timeout,read_timeout" unit:"s" allow:"(0,)"`
	// MaxRetries is read for old files; calls are tried again as [LLMCall] says.
	MaxRetries int `key:"max_retries" allow:"[0,)"`
	// ContextWindow is the size of the model's window in tokens; 0 means unknown.
	ContextWindow int `key:"context_window" allow:"[1,)"`

	// Fallbacks are the names of the models that are asked in their order when this one does not answer.
	Fallbacks []string `key:"fallbacks"`
	// RateLimit is that of the model's key; its zero value leaves it to [LLMCall].
	RateLimit RateLimit `key:"rate_limit"`

	// Pricing is what tokens cost; nil means unknown.
	Pricing *Pricing `key:"pricing"`

	SupportsThinking        bool `key:"supports_thinking"`
	SupportsReasoningEffort bool `key:"supports_reasoning_effort"`
	SupportsVision          bool `key:"supports_vision"`
	// ThinkingOn and ThinkingOff are JSON objects of settings for a call with and without thinking; nil means none.
	ThinkingOn  json.RawMessage `key:"when_thinking_enabled"`
	ThinkingOff json.RawMessage `key:"when_thinking_disabled"`
	// Thinking is a shortcut: it is merged into ThinkingOn as its "thinking".
	Thinking json.RawMessage `key:"thinking"`
	// ThinkingBudget bounds the tokens of thinking where the wire takes a number; AdaptiveThinking leaves it to the
	// model, 0 to the provider's default.
	ThinkingBudget int `key:"thinking_budget" allow:"[-1,)"`

	// UseResponses asks for OpenAI's Responses API, or against it; nil leaves it to OutputVersion and Reasoning.
	UseResponses  *bool  `key:"use_responses_api"`
	OutputVersion string `key:"output_version"`
	// Reasoning is the argument of that name: a table for OpenAI and OpenRouter, true, false or an effort for Ollama.
	Reasoning json.RawMessage `key:"reasoning"`
	// PromptCaching is false to send no cache marks to Anthropic; nil means yes.
	PromptCaching *bool `key:"enable_prompt_caching"`
	// CacheSize is how many of the newest messages may carry marks in DeerFlow; here the marks are placed without it.
	CacheSize int `key:"prompt_cache_size" allow:"[0,)"`
	// AutoThinkingBudget lets thinking have four fifths of the answer's bound, on Anthropic's wire.
	AutoThinkingBudget bool `key:"auto_thinking_budget"`
	// StreamUsage is false for a server that rejects the question for the usage of a stream.
	StreamUsage *bool `key:"stream_usage"`

	// Bearer says that the key is a bearer token instead of an API key. Account goes with one of ChatGPT, and the token
	// is good until Expires; the zero time is not known.
	Bearer  bool
	Account string
	Expires time.Time

	// Given says that the entry stands in no file: it was added while the program works; see [Given].
	Given bool

	// Extra are the other keys. Those that are arguments of a request have been moved to where they belong.
	Extra map[string]json.RawMessage `key:"*" known:"cumulative_stream_usage,top_p,top_k,frequency_penalty,presence_penalty,seed,stop,model_kwargs,organization,openai_organization,streaming,thinking_level,effort,betas,azure_endpoint,azure_deployment,api_version,openai_api_version" later:"connect_timeout,write_timeout,pool_timeout,num_ctx,keep_alive,http_client,retry_max_attempts,include_thoughts"`
	// Said are the keys that the entry gives a value, each by its first name.
	Said []string `key:"@said"`
	Line int      `key:"@line"`
	// Err says why the model cannot be used, such as a variable that is not set; nil means usable.
	Err error
}

var _ fallible = (*Model)(nil)

func (m *Model) disable(err error) { m.Err = firstError(m.Err, err) }

// AdaptiveThinking is the budget of a model that decides itself how long it thinks.
const AdaptiveThinking = -1

// Says reports whether the entry gives the key a value of its own.
func (m *Model) Says(key string) bool { return slices.Contains(m.Said, key) }

// How long a model may take when nobody says.
const (
	defaultChunkTimeout = 240 * time.Second
)

// resolveModels completes the entries and leaves out second ones of a name.
func resolveModels(d *decoder, models []Model) []Model {
	var out []Model
	for i := range models {
		m, at := models[i], fmt.Sprintf("models[%d]", i)
		if m.Line == 0 || !m.complete(d, at) {
			continue // told already
		}
		if j := slices.IndexFunc(out, func(o Model) bool { return o.Name == m.Name }); j >= 0 {
			d.warnf(m.Line, at, "left out: line %d has a model named %q already", out[j].Line, m.Name)
			continue
		}
		m.resolve(d, at)
		out = append(out, m)
	}
	return out
}

// complete checks the required keys and fills in the name.
func (m *Model) complete(d *decoder, at string) bool {
	ok := true
	if m.Use == "" && m.Provider == "" {
		d.failf(m.Line, at,
			`needs the key "provider" (such as openai, anthropic, ollama) or "use" (a class path of DeerFlow)`)
		ok = false
	}
	if m.Provider == string(WireScripted) {
		if m.Script == "" {
			d.failf(m.Line, at, `needs the key "script": the file with the turns`)
			ok = false
		}
		m.ID = cmp.Or(m.ID, filepath.Base(m.Script))
	}
	if m.ID == "" {
		d.failf(m.Line, at, `needs the key "model": what the provider calls the model`)
		ok = false
	}
	m.Name = cmp.Or(m.Name, m.Provider+"/"+m.ID)
	return ok
}

// resolve finds the provider and everything that it knows better than the file. What is missing makes the model
// unusable.
func (m *Model) resolve(d *decoder, at string) {
	m.defaults()
	m.thinking(d, at)
	m.sampling(d, at)
	m.azure()
	if m.BaseURL != "" {
		if err := checkURL(m.BaseURL); err != nil {
			d.failf(m.Line, at+".base_url", "%v", err)
			return
		}
	}
	p, dialect, err := m.vendor()
	if err != nil {
		m.disable(&Error{File: d.file, Line: m.Line, Key: at, Text: err.Error()})
		return
	}
	if p.Wire == WireScripted && !filepath.IsAbs(m.Script) {
		m.Script = filepath.Join(filepath.Dir(d.file), m.Script)
	}
	if err := m.connect(p, d.env); err != nil {
		m.disable(&Error{File: d.file, Line: m.Line, Key: at, Text: err.Error()})
		return
	}
	m.Dialect = dialect
	m.chooseWire()
	m.parameters(d, at)
}

func (m *Model) defaults() {
	if m.ChunkTimeout == 0 {
		m.ChunkTimeout = defaultChunkTimeout
	}
	m.BaseURL = strings.TrimRight(m.BaseURL, "/")
}

// vendor looks up the provider by its short form or by the class path.
func (m *Model) vendor() (p Provider, dialect string, err error) {
	name := m.Provider
	if name == "" {
		if name, dialect, err = classProvider(m.Use); err != nil {
			return p, "", err
		}
	}
	p, ok := provider(name)
	if !ok {
		return p, "", fmt.Errorf("provider %q is not known%s", name, suggest(name, providerNames()))
	}
	return p, cmp.Or(dialect, p.Dialect), nil
}

// connect fills in the address and the key from the provider's variables.
func (m *Model) connect(p Provider, env Env) error {
	m.Provider, m.Wire, m.Dialect = p.Name, p.Wire, p.Dialect
	if p.Wire == WireScripted {
		return nil
	}
	own := m.BaseURL == ""
	if own {
		base, variable := p.address(env)
		if base == "" {
			return fmt.Errorf(`needs the key "base_url": %s has no address of its own`, p.Title)
		}
		if err := checkURL(base); err != nil {
			return fmt.Errorf("%s: %w", env.describe(variable), err)
		}
		m.BaseURL, own = base, variable == ""
	}
	if p.Name == "ollama" && !strings.HasSuffix(m.BaseURL, "/v1") {
		m.BaseURL += "/v1" // its own clients are given the address without
	}
	if p.Name == "azure" {
		m.BaseURL = azureBase(m.BaseURL)
	}
	if m.Key == "" {
		_, m.Key = p.key(env)
	}
	if err := m.signIn(p, env); err != nil {
		return err
	}
	if m.Key == "" && own && !p.Keyless {
		return fmt.Errorf("no key for %s: set %s (get one at %s)", p.Title, strings.Join(p.KeyVars, " or "), p.KeyURL)
	}
	return nil
}

func checkURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("must be an address such as https://host/v1, got " + quoteShort(ShownURL(s)))
	}
	return nil
}

func quoteShort(s string) string { return (&tree{text: s}).what() }

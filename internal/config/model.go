package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	WireAnthropic Wire = "anthropic" // messages
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
	MaxTokens   int      `key:"max_tokens" allow:"[1,)"`
	Temperature *float64 `key:"temperature" allow:"[0,2]"`
	// Effort is the reasoning effort when nobody asks for another; empty leaves it to the model.
	Effort string `key:"reasoning_effort"`
	// Timeout bounds a whole call, 0 means no bound; ChunkTimeout the silence between two chunks.
	Timeout      time.Duration `key:"timeout,request_timeout,default_request_timeout" unit:"s" allow:"(0,)"`
	ChunkTimeout time.Duration `key:"stream_chunk_timeout" unit:"s" allow:"(0,)"`
	// MaxRetries is read for old files; calls are tried again as [LLMCall] says.
	MaxRetries int `key:"max_retries" allow:"[0,)"`
	// ContextWindow is the size of the model's window in tokens; 0 means unknown.
	ContextWindow int `key:"context_window" allow:"[1,)"`

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

	// Extra are the other keys. Sampling parameters among them have been moved into ExtraBody.
	Extra map[string]json.RawMessage `key:"*" known:"top_p,top_k,frequency_penalty,presence_penalty,seed,stop" later:"use_responses_api,output_version,enable_prompt_caching,prompt_cache_size,auto_thinking_budget,cumulative_stream_usage,reasoning,connect_timeout,read_timeout,write_timeout,pool_timeout,stream_usage,model_kwargs,streaming,num_predict,num_ctx,keep_alive,organization,http_client,retry_max_attempts,thinking_budget,include_thoughts"`
	Line  int                        `key:"@line"`
	// Err says why the model cannot be used, such as a variable that is not set; nil means usable.
	Err error
}

var _ fallible = (*Model)(nil)

func (m *Model) disable(err error) { m.Err = firstError(m.Err, err) }

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
		d.failf(m.Line, at, `needs the key "provider" (such as openai, anthropic, ollama) or "use" (a class path of DeerFlow)`)
		ok = false
	}
	if m.Provider == string(WireScripted) {
		if m.Script == "" {
			d.failf(m.Line, at, `needs the key "script": the file with the turns`)
			ok = false
		}
		m.ID = orElse(m.ID, filepath.Base(m.Script))
	}
	if m.ID == "" {
		d.failf(m.Line, at, `needs the key "model": what the provider calls the model`)
		ok = false
	}
	m.Name = orElse(m.Name, m.Provider+"/"+m.ID)
	return ok
}

// resolve finds the provider and everything that it knows better than the file. What is missing makes the model unusable.
func (m *Model) resolve(d *decoder, at string) {
	m.defaults()
	m.thinking(d, at)
	m.sampling(d, at)
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
	return p, orElse(dialect, p.Dialect), nil
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
	if m.Key == "" {
		_, m.Key = p.key(env)
	}
	if m.Key == "" && own && !p.Keyless {
		return fmt.Errorf("no key for %s: set %s (get one at %s)", p.Title, strings.Join(p.KeyVars, " or "), p.KeyURL)
	}
	return nil
}

// thinking merges the shortcut into what thinking turns on.
func (m *Model) thinking(d *decoder, at string) {
	for _, part := range []struct {
		key string
		raw json.RawMessage
	}{{"when_thinking_enabled", m.ThinkingOn}, {"when_thinking_disabled", m.ThinkingOff}, {"thinking", m.Thinking}, {"extra_body", m.ExtraBody}} {
		if !isObject(part.raw) {
			d.failf(m.Line, at+"."+part.key, "must be a table of keys")
			return
		}
	}
	if m.Thinking == nil {
		return
	}
	on := object(m.ThinkingOn)
	inner := object(on["thinking"])
	maps.Copy(inner, object(m.Thinking))
	on["thinking"] = encode(inner)
	m.ThinkingOn, m.Thinking = encode(on), nil
}

// sampling moves the parameters that every provider takes in its request body there; extra_body wins.
func (m *Model) sampling(d *decoder, at string) {
	if !isObject(m.ExtraBody) {
		return // told already
	}
	body := object(m.ExtraBody)
	for _, key := range []string{"top_p", "top_k", "frequency_penalty", "presence_penalty", "seed", "stop"} {
		v, ok := m.Extra[key]
		if !ok {
			continue
		}
		delete(m.Extra, key)
		if _, own := body[key]; own {
			d.warnf(m.Line, at+"."+key, "has no effect beside extra_body.%s", key)
		} else if string(v) != "null" {
			body[key] = v
		}
	}
	if len(body) > 0 {
		m.ExtraBody = encode(body)
	}
}

func checkURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("must be an address such as https://host/v1, got " + quoteShort(s))
	}
	return nil
}

func quoteShort(s string) string { return (&tree{text: s}).what() }

func isObject(raw json.RawMessage) bool { return raw == nil || len(raw) > 0 && raw[0] == '{' }

// object decodes a JSON object that [tree.json] made; nothing gives an empty one.
func object(raw json.RawMessage) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	if isObject(raw) && raw != nil {
		_ = json.Unmarshal(raw, &m) // cannot fail: it came from json.Marshal
	}
	return m
}

func encode(m map[string]json.RawMessage) json.RawMessage {
	data, err := json.Marshal(m)
	if err != nil {
		return nil // not reached: the values came from json.Marshal
	}
	return data
}

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}

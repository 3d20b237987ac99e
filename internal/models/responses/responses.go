// Package responses is the provider for OpenAI's Responses API, which also Azure, the ChatGPT backend (Codex) and servers of
// gpt-oss speak. Its answers are lists of items (reasoning, messages, calls) that the next request repeats. Nothing is
// stored at the vendor: the reasoning travels with the conversation, encrypted.
//
// A request goes through encode.go (the fields that stay the same, then the items) and input.go (messages as items), the
// answer through stream.go, items.go and decode.go. What of an answer's items a message has no place for is kept in its
// additional_kwargs; layout.go says how. The agent above drains the stream, and decides about another try.
package responses

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// Where the API listens.
const (
	DefaultBaseURL = "https://api.openai.com/v1"
	CodexBaseURL   = "https://chatgpt.com/backend-api/codex"
)

// Config describes one model. Only Model is needed, for OpenAI's own service also APIKey.
type Config struct {
	// Name is the provider's name in errors and in response_metadata; empty means "openai". Reasoning goes back to the
	// provider of the name that made it, so give another name to another organization's key.
	Name string
	// BaseURL is the address before "/responses" (a complete one is fine too; a query, such as Azure's api-version, is
	// kept); empty means DefaultBaseURL, for Codex CodexBaseURL.
	BaseURL string
	// APIKey is sent as a bearer token, or in KeyHeader; empty sends none.
	APIKey string
	// KeyHeader is the header that takes the key as it is, such as Azure's "api-key". Empty means a bearer token, but
	// "api-key" for hosts of Azure.
	KeyHeader string
	// Model is the vendor's name of the model.
	Model string
	// Headers are added to each request; they win over the headers set here.
	Headers map[string]string
	// ExtraBody are further fields of the request body. Objects are merged with those set here, other values replace
	// them, and null leaves a field out. "input", "model" and "stream" cannot be changed.
	ExtraBody map[string]json.RawMessage
	// ThinkingOn and ThinkingOff are fields of the body for a call with thinking on and off, merged in the way of ExtraBody.
	// ThinkingOff takes the place of the own switch, which is the least effort that the model knows.
	ThinkingOn, ThinkingOff map[string]json.RawMessage
	// Settings hold what a request leaves open.
	Settings model.Settings
	// Codex says that the ChatGPT backend answers: it takes no bound of the answer and no temperature, demands
	// instructions, and gets an effort with each call. APIKey is then the access token of the login.
	Codex bool
	// AccountID is the ChatGPT account that pays for Codex; empty sends none.
	AccountID string
	// IdleTimeout bounds the silence before and between bytes; 0 means 240 s.
	IdleTimeout time.Duration
	// Client brings the transport, and with it the connections, that the models of one provider share (see
	// wire.NewTransport); nil makes one for this model.
	Client *http.Client
}

// Model is a chat model behind the Responses API. It is safe for concurrent use.
type Model struct {
	cfg    Config
	habits habits
	client wire.Client
	url    string
	header http.Header
}

var _ model.ChatModel = (*Model)(nil)

// New makes the model. It does not talk to the server.
func New(cfg Config) *Model {
	if cfg.Name == "" {
		cfg.Name = "openai"
	}
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
		if cfg.Codex {
			cfg.BaseURL = CodexBaseURL
		}
	}
	cfg.ExtraBody, cfg.ThinkingOn, cfg.ThinkingOff = translate(cfg.ExtraBody), translate(cfg.ThinkingOn), translate(cfg.ThinkingOff)
	m := &Model{cfg: cfg, habits: habitsOf(cfg.Model), url: endpoint(cfg.BaseURL), header: header(&cfg)}
	m.client = wire.Client{HTTP: wire.NewHTTPClient(cfg.Client, cfg.IdleTimeout)}
	m.client.Provider, m.client.Model = cfg.Name, cfg.Model
	m.client.Secrets = wire.Secrets(cfg.APIKey, m.header, cfg.BaseURL)
	return m
}

// accountHeader names the account that pays.
const accountHeader = "Chatgpt-Account-Id"

func header(cfg *Config) http.Header {
	name := cfg.KeyHeader
	if name == "" && isAzure(cfg.BaseURL) {
		name = "api-key"
	}
	h := wire.Header(cfg.APIKey, name, cfg.Headers)
	if cfg.AccountID != "" && h.Get(accountHeader) == "" {
		h.Set(accountHeader, cfg.AccountID)
	}
	return h
}

func isAzure(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	for _, host := range []string{".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"} {
		if strings.HasSuffix(strings.ToLower(u.Hostname()), host) {
			return true
		}
	}
	return false
}

// endpoint adds the path to the base address. A base that is no address is returned as it is: the call reports it.
func endpoint(base string) string {
	u, err := url.Parse(base)
	if err != nil || strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/responses") {
		return base
	}
	return u.JoinPath("responses").String()
}

// Name is "provider/model".
func (m *Model) Name() string { return m.cfg.Name + "/" + m.cfg.Model }

// Stream implements [model.ChatModel].
func (m *Model) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		m.client.Ask(ctx, m.url, m.header, m.encode(rules.Request(req)), &stream{origin: &m.client.Origin}, yield)
	}
}

// Package responses is the provider for OpenAI's Responses API, which also Azure, the ChatGPT backend (Codex) and
// servers of gpt-oss speak. Its answers are lists of items (reasoning, messages, calls) that the next request repeats.
// Nothing is stored at the vendor: the reasoning travels with the conversation, encrypted.
//
// A request goes through encode.go (the fields that stay the same, then the items) and input.go (messages as items),
// the answer through stream.go, items.go and decode.go. What of an answer's items a message has no place for is kept in
// its additional_kwargs; layout.go says how. The agent above drains the stream, and decides about another try.
package responses

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// Where the API listens.
const (
	DefaultBaseURL = "https://api.openai.com/v1"
	CodexBaseURL   = "https://chatgpt.com/backend-api/codex"
)

// Config describes one model. Only Model is needed, for OpenAI's own service also APIKey. An empty BaseURL means
// DefaultBaseURL, for Codex CodexBaseURL. Where there is no ThinkingOff, thinking is turned off by the least effort
// that the model knows.
type Config = wire.Config

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
	cfg.Name = cmp.Or(cfg.Name, "openai")
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
		if cfg.Codex {
			cfg.BaseURL = CodexBaseURL
		}
	}
	cfg.ExtraBody, cfg.ThinkingOn, cfg.ThinkingOff = translate(cfg.ExtraBody), translate(cfg.ThinkingOn),
		translate(cfg.ThinkingOff)
	m := &Model{cfg: cfg, habits: habitsOf(cfg.Model), url: endpoint(cfg.BaseURL), header: header(&cfg)}
	m.client = m.cfg.NewClient(m.header)
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
	hosts := []string{".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"}
	return err == nil && slices.ContainsFunc(hosts, func(h string) bool {
		return strings.HasSuffix(strings.ToLower(u.Hostname()), h)
	})
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

// Package anthropic is the provider for Anthropic's Messages API and the servers that speak it too. The wire is written
// here by hand, over package wire: through the vendor's SDK a streamed token took 13 µs and a long request 6 ms, several
// times what a model call may add. The SDK is the referee of the tests instead (see reference_test.go).
//
// A request goes through encode.go: options.go says how to think, blocks.go writes the conversation and cache.go marks
// what the vendor keeps of it. Whatever stays the same from call to call comes first, so that one request's beginning,
// up to the end of its messages, is the next one's. The answer comes through stream.go and event.go. An answer may mix
// its blocks in any order; order.go remembers it, since the API wants thinking back exactly where it stood.
package anthropic

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"time"

	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// Defaults of [Config].
const (
	DefaultBaseURL        = "https://api.anthropic.com"
	DefaultMaxTokens      = 8192
	DefaultThinkingBudget = 4096
	// Adaptive, as a thinking budget, lets the model decide how long it thinks.
	Adaptive = -1
)

// Config describes one model. Model and APIKey (or AuthToken) are needed.
type Config struct {
	// Name is the provider's name in errors and response_metadata; empty means "anthropic".
	Name string
	// BaseURL is the address before "/v1/messages" (with "/v1", or complete, it is fine too); empty means DefaultBaseURL.
	BaseURL string
	// APIKey is sent as x-api-key, or as a bearer token if it is an OAuth token ("sk-ant-oat..."). AuthToken, instead of
	// it, is always a bearer token.
	APIKey, AuthToken string
	// Model is the vendor's name of the model.
	Model string
	// Headers are added to each request; they win over the headers set here, but anthropic-beta is joined with them.
	Headers map[string]string
	// ExtraBody are further fields of the request body. They are merged into the fields set here, objects member by
	// member, and win; null leaves a field out. "model", "system", "tools", "messages" and "stream" cannot be changed.
	ExtraBody map[string]json.RawMessage
	// ThinkingOn and ThinkingOff are merged behind ExtraBody when Settings.Thinking says so, in place of the switch that
	// would be sent otherwise, such as {"thinking":{"type":"enabled","budget_tokens":4096}}.
	ThinkingOn, ThinkingOff map[string]json.RawMessage
	// Settings hold what a request leaves open. The API demands a bound: MaxTokens 0 means DefaultMaxTokens.
	//
	// Effort goes into output_config.effort; "minimal", which the API does not know, is sent as "low". With thinking
	// on, the temperature is left out, because the API allows only its default then.
	Settings model.Settings
	// ThinkingBudget is how many tokens of the answer may be thinking, where ThinkingOn and ExtraBody name no number: 0
	// means DefaultThinkingBudget, Adaptive leaves it to the model. It is at most half of the answer's bound and at least
	// 1,024; a bound too small for that is raised to 2,048.
	ThinkingBudget int
	// AutoThinkingBudget makes that four fifths of the answer's bound, as DeerFlow's auto_thinking_budget does.
	AutoThinkingBudget bool
	// NoCache leaves the cache marks out.
	NoCache bool
	// CacheMessages is how many of the user's last messages carry a cache mark, 1 to 3; 0 means 3. The fourth mark that
	// the API allows stands behind the system prompt and the tools.
	CacheMessages int
	// CacheTTL is how long the vendor keeps what is marked, "5m" or "1h"; empty leaves it to the vendor (5 minutes).
	CacheTTL string
	// IdleTimeout bounds the silence before and between bytes; 0 means 240 s.
	IdleTimeout time.Duration
	// Client brings the transport, and with it the connections, that the models of one provider share (see
	// wire.NewTransport); nil makes one for this model.
	Client *http.Client
}

// Model is a chat model behind the Messages API. It is safe for concurrent use.
type Model struct {
	cfg    Config
	client wire.Client
	url    string
	// header is sent with each request; interleaved has the beta for thinking between tool calls besides.
	header, interleaved http.Header
	mark                string // what makes a block a cache mark; empty for none
	invalid             string // the first field of the configuration that is no JSON
}

var _ model.ChatModel = (*Model)(nil)

// New makes the model. It does not talk to the server, and reads nothing from the environment but the proxies.
func New(cfg Config) *Model {
	if cfg.Name == "" {
		cfg.Name = "anthropic"
	}
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	m := &Model{cfg: cfg, url: endpoint(cfg.BaseURL), mark: cacheMark(cfg), invalid: invalidField(cfg)}
	m.header, m.interleaved = headers(cfg)
	m.client = wire.Client{HTTP: wire.NewHTTPClient(cfg.Client, cfg.IdleTimeout)}
	m.client.Provider, m.client.Model = cfg.Name, cfg.Model
	m.client.Secrets = wire.Secrets(cfg.APIKey, m.header, cfg.BaseURL)
	return m
}

// Name is "provider/model".
func (m *Model) Name() string { return m.cfg.Name + "/" + m.cfg.Model }

// Stream implements [model.ChatModel].
func (m *Model) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		body, interleaved, err := m.encode(rules.Request(req))
		if err != nil {
			yield(message.Chunk{}, err)
			return
		}
		header := m.header
		if interleaved {
			header = m.interleaved
		}
		m.client.Ask(ctx, m.url, header, body, &stream{origin: &m.client.Origin}, yield)
	}
}

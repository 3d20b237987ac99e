// Package anthropic is the provider for Anthropic's Messages API and the servers that speak it too. The wire is written
// here by hand, over package wire: through the vendor's SDK a streamed token took 13 µs and a long request 6 ms,
// several times what a model call may add. The SDK is the referee of the tests instead (see reference_test.go).
//
// A request goes through encode.go: options.go says how to think, blocks.go writes the conversation and cache.go marks
// what the vendor keeps of it. Whatever stays the same from call to call comes first, so that one request's beginning,
// up to the end of its messages, is the next one's. The answer comes through stream.go and event.go. An answer may mix
// its blocks in any order; order.go remembers it, since the API wants thinking back exactly where it stood.
package anthropic

import (
	"cmp"
	"context"
	"iter"
	"net/http"

	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// Defaults of [Config].
const (
	DefaultBaseURL        = "https://api.anthropic.com"
	DefaultMaxTokens      = 8192
	DefaultThinkingBudget = 4096
)

// Config describes one model. Model and APIKey (or AuthToken) are needed; a key is sent as x-api-key, or as a bearer
// token if it is an OAuth token ("sk-ant-oat..."). The API demands a bound: MaxTokens 0 means DefaultMaxTokens. An
// effort goes into output_config.effort; "minimal", which the API does not know, is sent as "low". With thinking on,
// the temperature is left out, because the API allows only its default then. A thinking budget of 0 means
// DefaultThinkingBudget; it is at most half of the answer's bound and at least 1,024; a bound too small for that is
// raised to 2,048.
type Config = wire.Config

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
	cfg.Name = cmp.Or(cfg.Name, "anthropic")
	cfg.BaseURL = cmp.Or(cfg.BaseURL, DefaultBaseURL)
	m := &Model{cfg: cfg, url: endpoint(cfg.BaseURL), mark: cacheMark(cfg), invalid: invalidField(cfg)}
	m.header, m.interleaved = headers(cfg)
	m.client = m.cfg.NewClient(m.header)
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

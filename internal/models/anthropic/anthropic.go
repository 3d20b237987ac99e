// Package anthropic is the provider for Anthropic's Messages API, on the vendor's own SDK: its types know thinking
// blocks, signatures and redacted thinking. The SDK's retries are off, since one place of the agent tries again, and
// its connections are those of package wire, so that silence and cancelling end a call as with the other providers.
//
// A request goes through encode.go and blocks.go, the answer through stream.go.
package anthropic

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/pudu-ai/pudu/internal/wire"
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

// minThinking is the least budget that the API accepts.
const minThinking = 1024

// Config describes one model. Model and APIKey (or AuthToken) are needed.
type Config struct {
	// Name is the provider's name in errors and response_metadata; empty means "anthropic".
	Name string
	// BaseURL is the address before "/v1/messages"; empty means DefaultBaseURL. A trailing "/v1" is taken off.
	BaseURL string
	// APIKey is sent as x-api-key; AuthToken, instead of it, as a bearer token.
	APIKey, AuthToken string
	// Model is the vendor's name of the model.
	Model string
	// Headers are added to each request, such as anthropic-beta.
	Headers map[string]string
	// Settings hold what a request leaves open. The API demands a bound: MaxTokens 0 means DefaultMaxTokens.
	//
	// Effort goes into output_config.effort; "minimal", which the API does not know, is sent as "low". With thinking
	// on, the temperature is left out, because the API allows only its default then.
	Settings model.Settings
	// ThinkingBudget is how many tokens of the answer may be thinking when Settings.Thinking is on: 0 means
	// DefaultThinkingBudget, Adaptive leaves it to the model. It is at most half of the answer's bound and at least
	// 1,024; a bound too small for that is raised to 2,048.
	ThinkingBudget int
	// NoCache leaves the cache marks out. They stand on the last system block, tool and message block.
	NoCache bool
	// IdleTimeout bounds the silence before and between bytes; 0 means 240 s.
	IdleTimeout time.Duration
	// Client brings the transport, and with it the connections, that the models of one provider share (see
	// wire.NewTransport); nil makes one for this model.
	Client *http.Client
}

// Model is a chat model behind the Messages API. It is safe for concurrent use.
type Model struct {
	cfg    Config
	origin wire.Origin
	client sdk.Client
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
	base := strings.TrimSuffix(strings.TrimRight(cfg.BaseURL, "/"), "/v1")
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithBaseURL(base),
		option.WithMaxRetries(0),
		option.WithHTTPClient(wire.NewHTTPClient(cfg.Client, cfg.IdleTimeout)),
	}
	if cfg.AuthToken != "" {
		opts = append(opts, option.WithAuthToken(cfg.AuthToken))
	} else if cfg.APIKey != "" {
		opts = append(opts, option.WithAPIKey(cfg.APIKey))
	}
	header := http.Header{}
	for k, v := range cfg.Headers {
		header.Set(k, v)
		opts = append(opts, option.WithHeader(k, v))
	}
	m := &Model{cfg: cfg, client: sdk.NewClient(opts...)}
	secrets := append(wire.Secrets(cfg.APIKey, header), wire.Secrets(cfg.AuthToken, nil)...)
	m.origin = wire.Origin{Provider: cfg.Name, Model: cfg.Model, Secrets: secrets}
	return m
}

// Name is "provider/model".
func (m *Model) Name() string { return m.cfg.Name + "/" + m.cfg.Model }

// Stream implements [model.ChatModel].
func (m *Model) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		params, err := m.encode(req)
		if err != nil {
			yield(message.Chunk{}, err)
			return
		}
		var resp *http.Response
		events := m.client.Messages.NewStreaming(ctx, params, option.WithResponseInto(&resp))
		defer events.Close()
		if err := m.opened(resp, events.Err()); err != nil {
			yield(message.Chunk{}, m.failure(ctx, err))
			return
		}
		s := stream{origin: &m.origin}
		for events.Next() {
			ev := events.Current()
			if c, ok := s.event(&ev); ok && !yield(c, nil) {
				return
			}
			if s.stopped {
				wire.Finish(resp.Body)
				return
			}
		}
		yield(message.Chunk{}, m.failure(ctx, s.end(events.Err())))
	}
}

// opened checks that the answer is a stream and no web page.
func (m *Model) opened(resp *http.Response, err error) error {
	if err != nil || resp == nil {
		return err
	}
	return m.origin.Check(resp)
}

// failure translates the SDK's errors.
func (m *Model) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var api *sdk.Error
	switch {
	case !errors.As(err, &api):
		return m.origin.Failure(ctx, err)
	case api.StatusCode < 400: // an error event; the status is that of the stream
		return m.origin.StreamError([]byte(api.RawJSON()))
	}
	return m.origin.HTTPError(api.StatusCode, api.Response.Header, []byte(api.RawJSON()))
}

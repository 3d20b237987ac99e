// Package openai is the chat-completions provider, for OpenAI and the many servers that speak the same wire. The wire
// is written here by hand because those servers differ in fields that typed clients drop: reasoning that must be sent
// back, signatures on tool calls, calls without an index, errors inside a stream. How a vendor differs is a row of
// data in dialect.go.
//
// A request goes through encode.go (one appending pass, so that what a model wrote goes back byte for byte and the
// last request is a prefix of the next one, up to the end of its messages), the answer through stream.go and
// decode.go. The agent above drains the stream, and decides about another try.
package openai

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/internal/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// DefaultBaseURL is where OpenAI itself listens.
const DefaultBaseURL = "https://api.openai.com/v1"

// Config describes one model. Only Model is needed, for OpenAI's own service also APIKey.
type Config struct {
	// Name is the provider's name in errors and in response_metadata; empty means the dialect's name.
	Name string
	// BaseURL is the address before "/chat/completions" (a complete one is fine too; a query is kept); empty means
	// DefaultBaseURL.
	BaseURL string
	// APIKey is sent as a bearer token; empty sends none.
	APIKey string
	// Model is the vendor's name of the model.
	Model string
	// Dialect names the vendor's habits: "openai", "deepseek", "openrouter", "gemini", "ollama" or "generic". Empty
	// takes it from the host of BaseURL. An unknown name fails each call with an error that lists the known ones.
	Dialect string
	// Headers are added to each request; they win over the headers set here.
	Headers map[string]string
	// ExtraBody are further fields of the request body, byte for byte. They win over the fields set here; null leaves
	// a field out. "messages" and "stream" cannot be changed.
	ExtraBody map[string]json.RawMessage
	// Settings hold what a request leaves open.
	Settings model.Settings
	// SendNames sends the speaker's name with human messages. Several servers reject it, so it is off by default.
	SendNames bool
	// IdleTimeout bounds the silence before and between bytes; 0 means 240 s.
	IdleTimeout time.Duration
	// Client brings the transport, and with it the connections, that the models of one provider share (see
	// wire.NewTransport); nil makes one for this model.
	Client *http.Client
}

// Model is a chat model behind a chat-completions server. It is safe for concurrent use.
type Model struct {
	cfg     Config
	dialect *dialect
	client  wire.Client
	url     string
	header  http.Header
	last    atomic.Pointer[fixed] // of the last request
}

var _ model.ChatModel = (*Model)(nil)

// New makes the model. It does not talk to the server.
func New(cfg Config) *Model {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	m := &Model{cfg: cfg, url: endpoint(cfg.BaseURL), header: http.Header{}}
	m.dialect = findDialect(cfg.Dialect, cfg.BaseURL)
	if m.cfg.Name == "" && m.dialect != nil {
		m.cfg.Name = m.dialect.name
	}
	m.client = wire.Client{HTTP: wire.NewHTTPClient(cfg.Client, cfg.IdleTimeout)}
	m.client.Provider, m.client.Model = m.cfg.Name, cfg.Model
	if cfg.APIKey != "" {
		m.header.Set("Authorization", "Bearer "+cfg.APIKey)
	}
	for k, v := range cfg.Headers {
		m.header.Set(k, v)
	}
	m.client.Secrets = wire.Secrets(cfg.APIKey, m.header)
	return m
}

// endpoint adds the path to the base address. A base that is no address is returned as it is: the call reports it.
func endpoint(base string) string {
	u, err := url.Parse(base)
	if err != nil || strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions") {
		return base
	}
	return u.JoinPath("chat/completions").String()
}

// Name is "provider/model".
func (m *Model) Name() string { return m.cfg.Name + "/" + m.cfg.Model }

// Stream implements [model.ChatModel].
func (m *Model) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		resp, err := m.open(ctx, req)
		if err != nil {
			yield(message.Chunk{}, err)
			return
		}
		s := &stream{origin: &m.client.Origin, dialect: m.dialect}
		err = s.read(resp.Body, yield)
		switch {
		case err == errStopped:
			resp.Body.Close()
		case err != nil:
			resp.Body.Close()
			yield(message.Chunk{}, m.client.Failure(ctx, err))
		default:
			wire.Finish(resp.Body)
		}
	}
}

func (m *Model) open(ctx context.Context, req *model.Request) (*http.Response, error) {
	if m.dialect == nil {
		return nil, m.client.Error(model.ClassBadRequest, nil, "unknown dialect %q; use one of %s", m.cfg.Dialect, dialectNames())
	}
	return m.client.Post(ctx, m.url, m.header, m.encode(req))
}

// Package openai is the chat-completions provider, for OpenAI and the many servers that speak the same wire. The wire
// is written here by hand because those servers differ in fields that typed clients drop: reasoning that must be sent
// back, signatures on tool calls, calls without an index, errors inside a stream. How a vendor differs is a row of
// data: dialect.go says what a row holds, vendors.go and servers.go are the table.
//
// A request goes through settings.go (the fields before the messages) and encode.go (one appending pass, so that what a
// model wrote goes back byte for byte and the last request is a prefix of the next one, up to the end of its messages), the
// answer through stream.go, decode.go, calls.go and, for servers that leave reasoning and calls in the text, prose.go with
// formats.go. The agent above drains the stream, and decides about another try.
package openai

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/internal/model/wire"
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
	// APIKey is sent as a bearer token, or in the dialect's own header; empty sends none.
	APIKey string
	// Model is the vendor's name of the model.
	Model string
	// Dialect names the vendor's habits, a row of vendors.go or servers.go, such as "qwen" or "vllm". Empty takes it from
	// the host of BaseURL. An unknown name fails each call with an error that lists the known ones.
	Dialect string
	// Headers are added to each request; they win over the headers set here.
	Headers map[string]string
	// ExtraBody are further fields of the request body, byte for byte. They win over the fields set here; null leaves
	// a field out. "messages" and "stream" cannot be changed.
	ExtraBody map[string]json.RawMessage
	// ThinkingOn and ThinkingOff are fields of the body for requests whose Settings.Thinking is true or false, in place of the
	// dialect's own switch; nil keeps that one. Objects are merged into what else the body says, and null leaves a field out.
	// "messages" and "stream" cannot be changed.
	ThinkingOn, ThinkingOff map[string]json.RawMessage
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
	m := &Model{cfg: cfg}
	keyIn := ""
	if m.dialect = findDialect(cfg.Dialect, cfg.BaseURL); m.dialect != nil {
		m.cfg.Name = or(cfg.Name, m.dialect.name)
		m.url, keyIn = m.dialect.endpoint(cfg.BaseURL), m.dialect.keyIn
	}
	m.header = wire.Header(cfg.APIKey, keyIn, cfg.Headers)
	m.client = wire.Client{HTTP: wire.NewHTTPClient(cfg.Client, cfg.IdleTimeout)}
	m.client.Provider, m.client.Model = m.cfg.Name, cfg.Model
	m.client.Secrets = wire.Secrets(cfg.APIKey, m.header, cfg.BaseURL)
	return m
}

// Name is "provider/model".
func (m *Model) Name() string { return m.cfg.Name + "/" + m.cfg.Model }

// Stream implements [model.ChatModel].
func (m *Model) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		if m.dialect == nil {
			yield(message.Chunk{}, m.client.Error(model.ClassBadRequest, nil, "unknown dialect %q; use one of %s", m.cfg.Dialect, dialectNames()))
			return
		}
		body := m.encode(m.dialect.rules.Request(req))
		s := newStream(m.dialect, req)
		s.origin, s.calls.seed = &m.client.Origin, body
		m.client.Ask(ctx, m.url, m.header, body, s, yield)
	}
}

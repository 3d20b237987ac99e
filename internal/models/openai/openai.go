// Package openai is the chat-completions provider, for OpenAI and the many servers that speak the same wire. The wire
// is written here by hand because those servers differ in fields that typed clients drop: reasoning that must be sent
// back, signatures on tool calls, calls without an index, errors inside a stream. How a vendor differs is a row of
// data: dialect.go says what a row holds, vendors.go and servers.go are the table.
//
// A request goes through settings.go (the fields before the messages) and encode.go (one appending pass, so that what a
// model wrote goes back byte for byte and the last request is a prefix of the next one, up to the end of its messages),
// the answer through stream.go, decode.go, calls.go and, for servers that leave reasoning and calls in the text,
// prose.go with formats.go. The agent above drains the stream, and decides about another try.
package openai

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"sync/atomic"

	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// DefaultBaseURL is where OpenAI itself listens.
const DefaultBaseURL = "https://api.openai.com/v1"

// Config describes one model. Only Model is needed, for OpenAI's own service also APIKey. An empty BaseURL means
// DefaultBaseURL, an empty Name the dialect's name. The key is sent as a bearer token, or in the dialect's own header.
type Config = wire.Config

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
	cfg.BaseURL = cmp.Or(cfg.BaseURL, DefaultBaseURL)
	m := &Model{cfg: cfg}
	keyIn := ""
	if m.dialect = findDialect(cfg.Dialect, cfg.BaseURL); m.dialect != nil {
		m.cfg.Name = cmp.Or(cfg.Name, m.dialect.name)
		m.url, keyIn = m.dialect.endpoint(cfg.BaseURL), m.dialect.keyIn
	}
	m.header = wire.Header(cfg.APIKey, keyIn, cfg.Headers)
	m.client = m.cfg.NewClient(m.header)
	return m
}

// Name is "provider/model".
func (m *Model) Name() string { return m.cfg.Name + "/" + m.cfg.Model }

// Stream implements [model.ChatModel].
func (m *Model) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		if m.dialect == nil {
			yield(message.Chunk{}, m.client.Error(model.ClassBadRequest, nil, "unknown dialect %q; use one of %s",
				m.cfg.Dialect, dialectNames()))
			return
		}
		body := m.encode(m.dialect.rules.Request(req))
		s := newStream(m.dialect, req)
		s.origin, s.calls.seed = &m.client.Origin, body
		m.client.Ask(ctx, m.url, m.header, body, s, yield)
	}
}

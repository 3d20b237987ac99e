package history_test

import (
	"errors"
	"io"
	"net/http"
	"testing"

	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/internal/model/history"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/internal/models/anthropic"
	"github.com/pudu-ai/pudu/internal/models/gemini"
	"github.com/pudu-ai/pudu/internal/models/openai"
	"github.com/pudu-ai/pudu/model"
)

// provider is one whose bodies are judged by what its vendor documents.
type provider struct {
	name  string
	model func(wire.Config) model.ChatModel
	cfg   wire.Config
	check func(body []byte) error
}

func providers() []provider {
	chat := func(c wire.Config) model.ChatModel { return openai.New(c) }
	return []provider{
		{"openai", chat, wire.Config{Dialect: "openai", Model: "m", SendNames: true}, history.OpenAIBody},
		{"deepseek", chat, wire.Config{Dialect: "deepseek", Model: "m", SendNames: true}, history.OpenAIBody},
		{"mistral", chat, wire.Config{Dialect: "mistral", Model: "m", SendNames: true}, history.MistralBody},
		{"llamacpp", chat, wire.Config{Dialect: "llamacpp", Model: "m", SendNames: true}, history.OpenAIBody},
		{"anthropic", func(c wire.Config) model.ChatModel { return anthropic.New(c) },
			wire.Config{Model: "claude-sonnet-5-5"}, history.AnthropicBody},
		{"gemini", func(c wire.Config) model.ChatModel { return gemini.New(c) },
			wire.Config{Model: "gemini-3-pro"}, history.GeminiBody},
	}
}

// catcher is a server that keeps the body of the request and gives no answer.
type catcher struct{ body []byte }

func (c *catcher) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	c.body = body
	return nil, errors.Join(err, errors.New("this server answers nothing"))
}

// TestAnyHistoryIsAccepted: whatever the harness remembers, each provider's body follows the rules of its vendor.
func TestAnyHistoryIsAccepted(t *testing.T) {
	for _, p := range providers() {
		t.Run(p.name, rapid.MakeCheck(func(t *rapid.T) {
			server := &catcher{}
			p.cfg.Client = &http.Client{Transport: server}
			req := &model.Request{System: "s", Messages: history.Messages(t)}
			_, err := model.Collect(p.model(p.cfg).Stream(t.Context(), req))
			if server.body == nil {
				t.Fatalf("nothing was sent: %v", err)
			}
			if err := p.check(server.body); err != nil {
				t.Fatalf("%v\n%s", err, server.body)
			}
		}))
	}
}

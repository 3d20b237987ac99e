package wire

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/pudu-ai/pudu/model"
)

// Config describes one model behind a provider's API. Model is needed, and a key where the service wants one. What
// only some providers know has no effect on the others.
type Config struct {
	// Name is the provider's name in errors and in response_metadata; empty means the provider's usual one. Reasoning
	// goes back to the provider of the name that made it, so give another name to another organization's key.
	Name string
	// BaseURL is the address before the path of the API (a complete one is fine too; a query is kept); empty means
	// that of the vendor.
	BaseURL string
	// APIKey is sent in the way of the API; empty sends none. AuthToken, which only anthropic knows, is sent in its
	// place as a bearer token.
	APIKey, AuthToken string
	// KeyHeader is the header that takes the key as it is, such as Azure's "api-key"; of responses. Empty means a
	// bearer token, but "api-key" for hosts of Azure.
	KeyHeader string
	// Model is the vendor's name of the model.
	Model string
	// Headers are added to each request; they win over the provider's own, but anthropic-beta is joined with it.
	Headers map[string]string
	// ExtraBody are further fields of the request body. Objects are merged with those of the provider (openai: replace
	// them), other values win, and null leaves a field out. The conversation and "stream" cannot be changed, nor is
	// "model" where the API has it in the body, but for openai.
	ExtraBody map[string]json.RawMessage
	// ThinkingOn and ThinkingOff are merged behind ExtraBody into requests whose Settings.Thinking is true or false,
	// in place of the provider's own switch; nil keeps that one.
	ThinkingOn, ThinkingOff map[string]json.RawMessage
	// Settings hold what a request leaves open.
	Settings model.Settings

	// Dialect names a vendor's habits on the wire of openai, such as "qwen" or "vllm". Empty takes it from the host of
	// BaseURL. An unknown name fails each call with an error that lists the known ones.
	Dialect string
	// SendNames sends the speaker's name with human messages; of openai. Several servers reject it.
	SendNames bool

	// Codex says that the ChatGPT backend answers; of responses. It takes no bound of the answer and no temperature,
	// demands instructions, and gets an effort with each call. APIKey is then the access token of the login, and
	// AccountID the ChatGPT account that pays; empty sends none.
	Codex     bool
	AccountID string

	// ThinkingBudget is how many tokens of the answer may be thinking, where no configured field names a number; of
	// anthropic and gemini. 0 means the provider's default, [Adaptive] leaves it to the model.
	ThinkingBudget int
	// AutoThinkingBudget makes that four fifths of the answer's bound; of anthropic.
	AutoThinkingBudget bool
	// NoCache leaves anthropic's cache marks out. Else CacheMessages, from 1 to 3, is how many of the user's last
	// messages carry one, where 0 means 3. The fourth that the API allows stands behind the system prompt and the
	// tools.
	NoCache       bool
	CacheMessages int

	// IdleTimeout bounds the silence before and between bytes; 0 means [DefaultIdleTimeout].
	IdleTimeout time.Duration
	// Client brings the transport, and with it the connections, that the models of one provider share (see
	// [NewTransport]); nil makes one for this model.
	Client *http.Client
}

// Adaptive is the thinking budget that lets the model decide how long it thinks.
const Adaptive = -1

// NewClient makes the client of a model whose requests have this header.
func (c *Config) NewClient(header http.Header) Client {
	return Client{HTTP: NewHTTPClient(c.Client, c.IdleTimeout), Origin: Origin{
		Provider: c.Name, Model: c.Model, Secrets: Secrets(c.APIKey, header, c.BaseURL),
	}}
}

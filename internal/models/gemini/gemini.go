// Package gemini is the provider for Google's Gemini API (streamGenerateContent). A request goes through encode.go and
// contents.go (one appending pass, so that what a model wrote goes back byte for byte and one request's beginning is
// the next one's, up to the end of its contents), the answer through stream.go and decode.go. The agent above drains
// the stream, and decides about another try.
//
// The wire is written here by hand, and the vendor's SDK (google.golang.org/genai) is the referee of the tests: it must
// write the same bodies and read the same answers. It does not do the work because it
//   - keeps the arguments of a call in a map: their order, numbers and spaces, which a cache needs, are lost;
//   - cannot hold a thought signature that is no standard base64, such as the documented one that skips the check;
//   - ends a stream that has no finish reason as a success, asks again by itself, and logs to the standard logger;
//   - makes of each event a map, of that JSON again, and of that a struct;
//   - adds 13 MB to a program, even if only its types are used.
package gemini

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// Defaults of [Config].
const (
	DefaultBaseURL = "https://generativelanguage.googleapis.com"
	// DefaultVersion is the version of the API, unless BaseURL names one.
	DefaultVersion = "v1beta"
)

// Config describes one model. Model, with or without "models/", and APIKey are needed. BaseURL may end with the version
// of the API ("/v1beta", "/v1", "/v1alpha"), which is then used, and with "/openai", which is taken off. A
// thinkingConfig in the configured fields replaces the level or budget that would be set here. A thinking budget of 0
// leaves it to the model's default; Gemini 3 takes one, but prefers an effort.
type Config = wire.Config

// Model is a chat model behind the Gemini API. It is safe for concurrent use.
type Model struct {
	cfg    Config
	family family
	client wire.Client
	url    string // empty if BaseURL is no address
	header http.Header
}

var _ model.ChatModel = (*Model)(nil)

// New makes the model. It does not talk to the server, and reads nothing from the environment but the proxies.
func New(cfg Config) *Model {
	cfg.Name = cmp.Or(cfg.Name, "gemini")
	cfg.BaseURL = cmp.Or(cfg.BaseURL, DefaultBaseURL)
	m := &Model{cfg: cfg, family: familyOf(cfg.Model), header: wire.Header(cfg.APIKey, "X-Goog-Api-Key", cfg.Headers)}
	m.url = endpoint(cfg.BaseURL, cfg.Model)
	m.client = m.cfg.NewClient(m.header)
	m.client.Refine = refine
	return m
}

// endpoint is the address of the model's stream. It is empty if base is no address.
func endpoint(base, name string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return ""
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/openai")
	switch path.Base(u.Path) {
	case "v1", "v1beta", "v1alpha":
	default:
		u = u.JoinPath(DefaultVersion)
	}
	if !strings.HasPrefix(name, "models/") && !strings.HasPrefix(name, "tunedModels/") {
		name = "models/" + name
	}
	u = u.JoinPath(name + ":streamGenerateContent")
	q := u.Query()
	q.Set("alt", "sse")
	u.RawQuery = q.Encode()
	return u.String()
}

// Name is "provider/model".
func (m *Model) Name() string { return m.cfg.Name + "/" + m.cfg.Model }

// Stream implements [model.ChatModel].
func (m *Model) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		body, err := m.encode(rules.Request(req))
		if m.url == "" {
			err = m.client.Error(model.ClassBadRequest, nil, "base_url is not a valid address; give it as https://host")
		}
		if err != nil {
			yield(message.Chunk{}, err)
			return
		}
		m.client.Ask(ctx, m.url, m.header, body, &stream{origin: &m.client.Origin}, yield)
	}
}

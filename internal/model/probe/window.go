package probe

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
)

// The bounds of the question for the window.
const (
	windowTimeout = 10 * time.Second
	maxModelList  = 8 << 20 // the longest list in use has some hundred models with long descriptions
)

// Server is where an OpenAI-compatible model is served.
type Server struct {
	// BaseURL is the address before "/models".
	BaseURL string
	// Header is sent along; it holds the key.
	Header http.Header
	// Client makes the call; nil means a new one. It follows no redirect, which would carry the key elsewhere.
	Client *http.Client
}

// Window asks the list of models for the window of one, in tokens. The plain protocol has no such field: it is 0 unless
// the server is one of those that add it.
func (s Server) Window(ctx context.Context, id string) int {
	ctx, cancel := context.WithTimeout(ctx, windowTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(s.BaseURL, "/")+"/models",
		http.NoBody)
	if err != nil {
		return 0
	}
	if s.Header != nil {
		req.Header = s.Header.Clone()
	}
	client := http.Client{}
	if s.Client != nil {
		client = *s.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxModelList))
	if err != nil {
		return 0
	}
	return windowIn(data, id)
}

// listed is an entry of a list of models, with the fields in which servers tell the window.
type listed struct {
	ID            string  `json:"id"`
	MaxModelLen   float64 `json:"max_model_len"`      // vLLM, SGLang
	ContextLength float64 `json:"context_length"`     // OpenRouter, Moonshot
	ContextWindow float64 `json:"context_window"`     // Groq
	MaxContext    float64 `json:"max_context_length"` // Mistral
	TopProvider   struct {
		ContextLength float64 `json:"context_length"`
	} `json:"top_provider"` // OpenRouter: what the provider that it prefers offers
}

// windowIn finds the window of a model in a list; 0 if the list does not tell, or tells nonsense.
func windowIn(list []byte, id string) int {
	var all struct {
		Data []json.RawMessage `json:"data"`
	}
	if json.Unmarshal(list, &all) != nil {
		return 0
	}
	for _, raw := range all.Data {
		var m listed
		if json.Unmarshal(raw, &m) != nil || m.ID != id {
			continue
		}
		for _, n := range []float64{m.TopProvider.ContextLength, m.MaxModelLen, m.ContextLength, m.ContextWindow,
			m.MaxContext} {
			if n >= 1 && n <= 1e9 {
				return int(n)
			}
		}
	}
	return 0
}

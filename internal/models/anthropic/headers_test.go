package anthropic

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/model"
)

func TestEndpoint(t *testing.T) {
	for base, want := range map[string]string{
		"https://api.anthropic.com":             "https://api.anthropic.com/v1/messages",
		"https://api.anthropic.com/v1/":         "https://api.anthropic.com/v1/messages",
		"https://example.com/anthropic":         "https://example.com/anthropic/v1/messages",
		"https://example.com/x/v1/messages?a=b": "https://example.com/x/v1/messages?a=b",
		":":                                     ":",
	} {
		if got := endpoint(base); got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	on := true
	tool := []model.Tool{{Name: "f"}}
	for _, tt := range []struct {
		name string
		cfg  Config
		req  model.Request
		want []string // x-api-key, authorization, anthropic-beta, x-custom
	}{
		{"key", Config{APIKey: "sk-ant-api03-x"}, model.Request{}, []string{"sk-ant-api03-x", "", "", ""}},
		{"OAuth token as the key", Config{APIKey: "sk-ant-oat01-x"}, model.Request{},
			[]string{"", "Bearer sk-ant-oat01-x", "oauth-2025-04-20", ""}},
		{"token", Config{APIKey: "k", AuthToken: "t"}, model.Request{}, []string{"", "Bearer t", "", ""}},
		{"own headers", Config{Headers: map[string]string{"anthropic-beta": "b, a,,b", "x-custom": "c"}},
			model.Request{}, []string{"", "", "a,b", "c"}},
		{"thinking with tools", Config{Headers: map[string]string{"anthropic-beta": "a"}},
			model.Request{Tools: tool, Settings: model.Settings{Thinking: &on}},
			[]string{"", "", "a,interleaved-thinking-2025-05-14", ""}},
		{"thinking without tools", Config{}, model.Request{Settings: model.Settings{Thinking: &on}},
			[]string{"", "", "", ""}},
		{
			"adaptive with tools", Config{ThinkingBudget: wire.Adaptive},
			model.Request{Tools: tool, Settings: model.Settings{Thinking: &on}}, []string{"", "", "", ""},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got http.Header
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r.Header
				w.Write(textStream([]string{"hi"}))
			}))
			defer srv.Close()
			tt.cfg.BaseURL = srv.URL
			if _, err := model.Collect(New(tt.cfg).Stream(t.Context(), &tt.req)); err != nil {
				t.Fatal(err)
			}
			if got.Get("Anthropic-Version") != "2023-06-01" || got.Get("Content-Type") != "application/json" {
				t.Errorf("headers %v", got)
			}
			if d := cmp.Diff(tt.want, []string{got.Get("X-Api-Key"), got.Get("Authorization"),
				got.Get("Anthropic-Beta"), got.Get("X-Custom")}); d != "" {
				t.Error(d)
			}
		})
	}
}

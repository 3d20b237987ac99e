package openai

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/model"
)

// benchTokens is how many tokens each answer has.
const benchTokens = 1000

// BenchmarkToken streams answers over a local socket and counts what one token costs, the server's side included: the
// goal is 5 µs and 12 allocations.
func BenchmarkToken(b *testing.B) {
	words := make([]string, benchTokens)
	for i := range words {
		words[i] = " token"
		if i%20 == 0 {
			words[i] = "\n"
		}
	}
	call := make([]string, benchTokens)
	for i := range call {
		call[i] = " token"
	}
	call[0], call[benchTokens-1] = `<tool_call>{"name":"now","arguments":{"text":"`, `"}}</tool_call>`
	body := string(textStream(words))
	for _, bb := range []struct{ name, dialect, body string }{
		{"text", "deepseek", body},
		{"text where calls may stand in it", "generic", body},
		{"reasoning", "qwen", strings.ReplaceAll(body, `"content":`, `"reasoning_content":`)},
		{"call", "deepseek", callStream(benchTokens)},
		{"call in the text", "generic", string(textStream(call))},
	} {
		b.Run(bb.name, func(b *testing.B) { streamTokens(b, bb.dialect, bb.body) })
	}
}

// callStream is an answer whose arguments come in n pieces.
func callStream(n int) string {
	var s strings.Builder
	s.WriteString("data: " +
		deltaEvent(`"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"now","arguments":"{\"text\":\""}}]`) + "\n\n")
	for range n {
		s.WriteString("data: " + deltaEvent(`"tool_calls":[{"index":0,"function":{"arguments":" token"}}]`) + "\n\n")
	}
	return s.String() + "data: " + deltaEvent(`"tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]`) +
		"\n\ndata: " + stop + "\n\n"
}

func streamTokens(b *testing.B, dialect, body string) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(body)) }))
	defer srv.Close()
	m := New(Config{BaseURL: srv.URL, Model: "m", Dialect: dialect})
	defer m.client.HTTP.CloseIdleConnections()
	req := &model.Request{Tools: []model.Tool{{Name: "now"}}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		n := 0
		for c, err := range m.Stream(b.Context(), req) {
			if err != nil {
				b.Fatal(err)
			}
			n += len(c.Text) + len(c.Reasoning)
			for _, t := range c.ToolCalls {
				n += len(t.Args)
			}
		}
		if n < benchTokens {
			b.Fatalf("%d bytes came out", n)
		}
	}
	runtime.ReadMemStats(&after)
	per := float64(b.N) * benchTokens
	b.ReportMetric(float64(b.Elapsed().Microseconds())/per, "µs/token")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/per, "allocs/token")
}

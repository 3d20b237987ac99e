package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

func BenchmarkStreamedToken(b *testing.B) {
	const tokens = 1000
	texts := make([]string, tokens)
	for i := range texts {
		texts[i] = " token"
	}
	body := textStream(texts)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write(body)
	}))
	defer srv.Close()
	m := New(Config{BaseURL: srv.URL, Model: "m"})
	req := &model.Request{Settings: model.Settings{}}
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range m.Stream(b.Context(), req) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/tokens, "ns/token")
}

func BenchmarkEncode(b *testing.B) {
	req := &model.Request{System: strings.Repeat("s", 4000)}
	for i := range 30 {
		req.Tools = append(req.Tools, model.Tool{Name: fmt.Sprint("t", i), Description: strings.Repeat("d", 300),
			Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)})
	}
	for i := range 150 {
		id := fmt.Sprint("c", i)
		req.Messages = append(req.Messages, message.Message{Role: message.AI,
			Content:   []message.Part{message.Text(strings.Repeat("text ", 40))},
			ToolCalls: []message.ToolCall{{ID: id, Name: "t1", Args: json.RawMessage(`{"path": "a"}`)}}},
			message.Message{Role: message.Tool, ToolCallID: id,
				Content: []message.Part{message.Text(strings.Repeat("result\n", 400))}})
	}
	m := New(Config{})
	b.ReportAllocs()
	for b.Loop() {
		raw, _, err := m.encode(req)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(raw)))
	}
}

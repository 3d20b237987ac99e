package responses

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/model/modeltest"
)

// textStream is a complete answer of these texts.
func textStream(texts []string) []byte {
	var b strings.Builder
	event := func(typ, fields string) {
		fmt.Fprintf(&b, "event: %s\ndata: {\"type\":%q,\"sequence_number\":7%s}\n\n", typ, typ, fields)
	}
	event("response.created",
		`,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"test-model-1","error":null,"output":[]}`)
	event("response.output_item.added",
		`,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}`)
	for _, s := range texts {
		event("response.output_text.delta", `,"item_id":"msg_1","output_index":0,"content_index":0,"delta":`+
			string(rawjson.AppendString(nil, s))+`,"logprobs":[],"obfuscation":"aB3"`)
	}
	event("response.completed", `,"response":{"id":"resp_1","object":"response","status":"completed","model":"test-model-1","error":null,"incomplete_details":null}`)
	return []byte(b.String())
}

func TestConformance(t *testing.T) {
	modeltest.Run(t, modeltest.Harness{
		New: func(t modeltest.Target) model.ChatModel {
			return New(Config{BaseURL: t.BaseURL, APIKey: t.Key, Model: t.Model, Client: t.Client, IdleTimeout: t.Idle})
		},
		Fixtures: os.DirFS("testdata/modeltest"),
		Text:     textStream,
		Impossible: map[string]string{
			"calls_without_index": "every event of an item has its output_index",
			"half_runes":          "the API cuts text between characters",
			"overloaded":          "the API has no status 529; it says 503, the case unavailable",
		},
	})
}

// BenchmarkStreamedToken measures the way from the socket to the chunk; see the package openai for its twin.
func BenchmarkStreamedToken(b *testing.B) {
	const tokens = 1000
	texts := make([]string, tokens)
	for i := range texts {
		texts[i] = " token"
	}
	body := textStream(texts)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(body) }))
	defer srv.Close()
	m := New(Config{BaseURL: srv.URL, Model: "m"})
	defer m.client.HTTP.CloseIdleConnections()
	b.ReportAllocs()
	for b.Loop() {
		got, err := model.Collect(m.Stream(b.Context(), &model.Request{}))
		if err != nil || len(got.Text()) != tokens*len(" token") {
			b.Fatalf("%d bytes, %v", len(got.Text()), err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/tokens, "ns/token")
}

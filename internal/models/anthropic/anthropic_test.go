package anthropic

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/model/modeltest"
)

// textStream is a complete answer of these texts.
func textStream(texts []string) []byte {
	var b strings.Builder
	event := func(name, fields string) {
		fmt.Fprintf(&b, "event: %s\ndata: {\"type\":\"%s\"%s}\n\n", name, name, fields)
	}
	event("message_start",
		`,"message":{"id":"msg_1","model":"test-model-1","usage":{"input_tokens":1,"output_tokens":1}}`)
	event("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
	for _, s := range texts {
		event("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":`+
			string(rawjson.AppendString(nil, s))+`}`)
	}
	event("content_block_stop", `,"index":0`)
	event("message_delta", `,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}`)
	event("message_stop", "")
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
			"calls_without_index": "every content block has an index",
			"half_runes":          "the API cuts text between characters",
			"error_null":          "an error is an event of its own, no field of the others",
			"quota":               "429 is only ever a rate limit; missing credit is the case no_credit",
		},
	})
}

// body is the request body.
func body(t *testing.T, cfg Config, req *model.Request) string {
	t.Helper()
	raw, _, err := New(cfg).encode(req)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(raw) {
		t.Fatalf("the body is no JSON: %s", raw)
	}
	return string(raw)
}

func TestArgumentsGoBackByteForByte(t *testing.T) {
	args := `{"b": 1e2,  "a":"<\u00e4>"}`
	got := body(t, Config{},
		&model.Request{Messages: []message.Message{{Role: message.AI,
			ToolCalls: []message.ToolCall{{ID: "toolu_1", Name: "f", Args: json.RawMessage(args)}}}}})
	if want := `"id":"toolu_1","name":"f","input":` + args; !strings.Contains(got, want) {
		t.Errorf("%s\nhas no %s", got, want)
	}
}

func TestMessagesThatTheAPIWouldReject(t *testing.T) {
	signed := message.Part{Type: message.PartReasoning, Text: "t", Signature: "s"}
	foreign := message.Fields{"model_provider": json.RawMessage(`"gemini"`)}
	tests := []struct {
		name string
		msgs []message.Message
		want string
	}{
		{"empty answer between two questions", []message.Message{message.New(message.Human, "a"),
			message.New(message.AI, " "), message.New(message.Human, "b")},
			`[{"content":[{"text":"a","type":"text"},{"text":"b","type":"text"}],"role":"user"}]`},
		{"another vendor's signature",
			[]message.Message{{Role: message.AI, Content: []message.Part{signed, message.Text("x")},
				ResponseMetadata: foreign}},
			`[{"content":[{"text":"x","type":"text"}],"role":"assistant"}]`},
		{"thinking last", []message.Message{{Role: message.AI, Content: []message.Part{signed}}},
			`[{"content":[{"signature":"s","thinking":"t","type":"thinking"}],"role":"assistant"}]`},
		{"empty result with an image",
			[]message.Message{{Role: message.Tool, ToolCallID: "1",
				Content: []message.Part{message.Text(""), {Type: message.PartImage, URL: "https://x/y.png"}}}},
			`[{"content":[{"content":[{"source":{"type":"url","url":"https://x/y.png"},"type":"image"}],"tool_use_id":"1","type":"tool_result"}],"role":"user"}]`},
		{"unknown block",
			[]message.Message{{Role: message.Human,
				Content: []message.Part{{Type: message.PartRaw, Raw: json.RawMessage(`{"type":"document","x":1}`)}}}},
			`[{"content":[{"type":"document","x":1}],"role":"user"}]`},
		{"a document among a tool's results", []message.Message{{Role: message.Tool, ToolCallID: "1",
			Content: []message.Part{{Type: message.PartRaw, Raw: json.RawMessage(`{"type":"document","x":1}`)}}}},
			`[{"content":[{"content":[{"type":"document","x":1}],"tool_use_id":"1","type":"tool_result"}],"role":"user"}]`},
		{"system message in the middle", []message.Message{message.New(message.Human, "a"),
			message.New(message.AI, "b"), message.New(message.System, "n")},
			`[{"content":[{"text":"a","type":"text"}],"role":"user"},{"content":[{"text":"b","type":"text"}],"role":"assistant"},{"content":[{"text":"n","type":"text"}],"role":"user"}]`},
		{"results before what stands between",
			[]message.Message{{Role: message.AI, ToolCalls: []message.ToolCall{{ID: "1", Name: "f"}}},
				message.New(message.System, "n"), message.New(message.AI, ""), {Role: message.Tool, ToolCallID: "1"}},
			`[{"content":[{"id":"1","input":{},"name":"f","type":"tool_use"}],"role":"assistant"},{"content":[{"tool_use_id":"1","type":"tool_result"},{"text":"n","type":"text"}],"role":"user"}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got struct{ Messages any }
			var want any
			if err := json.Unmarshal([]byte(body(t, Config{NoCache: true}, &model.Request{Messages: tt.msgs})),
				&got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got.Messages); d != "" {
				t.Error(d)
			}
			body(t, Config{}, &model.Request{Messages: tt.msgs}) // and the cache mark finds a block that takes it
		})
	}
}

func TestWhatCannotBeSent(t *testing.T) {
	image := message.Part{Type: message.PartImage, URL: "data:image/svg+xml,<svg>"}
	broken := message.Part{Type: message.PartRaw, Raw: json.RawMessage(`{"type":"document"`)}
	for name, req := range map[string]*model.Request{
		"image without base64": {Messages: []message.Message{{Role: message.Human,
			Content: []message.Part{image}}}},
		"such an image in results": {Messages: []message.Message{{Role: message.Tool, Content: []message.Part{image}}}},
		"a broken document": {Messages: []message.Message{{Role: message.Human,
			Content: []message.Part{broken}}}},
		"a broken schema": {Tools: []model.Tool{{Name: "f", Parameters: json.RawMessage(`{`)}}},
	} {
		_, err := model.Collect(New(Config{}).Stream(t.Context(), req))
		if e := model.AsError(err); e == nil || e.Class != model.ClassBadRequest {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestWhatIsSentFollowsTheRules: a call without a result does not go out as it is.
func TestWhatIsSentFollowsTheRules(t *testing.T) {
	var sent []byte
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
	}))
	defer srv.Close()
	m := New(Config{BaseURL: srv.URL, Model: "m"})
	defer m.client.HTTP.CloseIdleConnections()
	req := &model.Request{Messages: []message.Message{message.New(message.Human, "a"),
		{Role: message.AI, ToolCalls: []message.ToolCall{{ID: "call_1", Name: "f", Args: json.RawMessage(`{}`)}}},
		message.New(message.Human, "b")}}
	_, _ = model.Collect(m.Stream(t.Context(), req)) // the server says nothing
	want, _, err := m.encode(rules.Request(req))
	if raw, _, _ := m.encode(req); err != nil || string(sent) != string(want) || string(raw) == string(want) {
		t.Errorf("%v\nsent %s\nwant %s", err, sent, want)
	}
}

package anthropic

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/rawjson"
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
	event("message_start", `,"message":{"id":"msg_1","model":"test-model-1","usage":{"input_tokens":1,"output_tokens":1}}`)
	event("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
	for _, s := range texts {
		event("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":`+string(rawjson.AppendString(nil, s))+`}`)
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
			"whole":               "the API always streams when it is asked to",
			"quota":               "429 is only ever a rate limit; missing credit is the case no_credit",
		},
	})
}

// body is the request as the SDK writes it.
func body(t *testing.T, cfg Config, req *model.Request) string {
	t.Helper()
	p, err := New(cfg).encode(req)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestArgumentsGoBackByteForByte(t *testing.T) {
	args := `{"b": 1e2,  "a":"<\u00e4>"}`
	got := body(t, Config{}, &model.Request{Messages: []message.Message{{Role: message.AI, ToolCalls: []message.ToolCall{{ID: "functions.f:0", Name: "f", Args: json.RawMessage(args)}}}}})
	if want := `"id":"functions_f_0","input":` + args; !strings.Contains(got, want) {
		t.Errorf("%s\nhas no %s", got, want)
	}
}

func TestThinking(t *testing.T) {
	on, off, hot := true, false, 0.7
	tests := []struct {
		name     string
		cfg      Config
		settings model.Settings
		want     string // JSON of max_tokens, thinking, output_config, temperature
	}{
		{"default", Config{}, model.Settings{Temperature: &hot}, `[8192,null,null,0.7]`},
		{"on", Config{}, model.Settings{Thinking: &on, Temperature: &hot}, `[8192,{"budget_tokens":4096,"type":"enabled"},null,null]`},
		{"budget above half", Config{ThinkingBudget: 9000}, model.Settings{Thinking: &on, MaxTokens: 10000}, `[10000,{"budget_tokens":5000,"type":"enabled"},null,null]`},
		{"small bound is raised", Config{}, model.Settings{Thinking: &on, MaxTokens: 100}, `[2048,{"budget_tokens":1024,"type":"enabled"},null,null]`},
		{"adaptive with effort", Config{ThinkingBudget: Adaptive, Settings: model.Settings{Thinking: &on}}, model.Settings{Effort: "high"}, `[8192,{"type":"adaptive"},{"effort":"high"},null]`},
		{"off, least effort", Config{Settings: model.Settings{Thinking: &on}}, model.Settings{Thinking: &off, Effort: "minimal"}, `[8192,{"type":"disabled"},{"effort":"low"},null]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got map[string]json.RawMessage
			if err := json.Unmarshal([]byte(body(t, tt.cfg, &model.Request{Settings: tt.settings})), &got); err != nil {
				t.Fatal(err)
			}
			raw, _ := json.Marshal([]json.RawMessage{got["max_tokens"], got["thinking"], got["output_config"], got["temperature"]})
			if string(raw) != tt.want {
				t.Errorf("got %s, want %s", raw, tt.want)
			}
		})
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
		{"empty answer between two questions", []message.Message{message.New(message.Human, "a"), message.New(message.AI, " "), message.New(message.Human, "b")},
			`[{"content":[{"text":"a","type":"text"},{"text":"b","type":"text"}],"role":"user"}]`},
		{"another vendor's signature", []message.Message{{Role: message.AI, Content: []message.Part{signed, message.Text("x")}, ResponseMetadata: foreign}},
			`[{"content":[{"text":"x","type":"text"}],"role":"assistant"}]`},
		{"thinking last", []message.Message{{Role: message.AI, Content: []message.Part{signed}}},
			`[{"content":[{"signature":"s","thinking":"t","type":"thinking"}],"role":"assistant"}]`},
		{"invalid call", []message.Message{{Role: message.AI, InvalidToolCalls: []message.InvalidToolCall{{ID: "1", Name: "f", Args: `{"a`}}}},
			`[{"content":[{"id":"1","input":{"invalid_arguments":"{\"a"},"name":"f","type":"tool_use"}],"role":"assistant"}]`},
		{"empty result with an image", []message.Message{{Role: message.Tool, ToolCallID: "1", Content: []message.Part{message.Text(""), {Type: message.PartImage, URL: "https://x/y.png"}}}},
			`[{"content":[{"content":[{"source":{"type":"url","url":"https://x/y.png"},"type":"image"}],"tool_use_id":"1","type":"tool_result"}],"role":"user"}]`},
		{"unknown block", []message.Message{{Role: message.Human, Content: []message.Part{{Type: message.PartRaw, Raw: json.RawMessage(`{"type":"document","x":1}`)}}}},
			`[{"content":[{"type":"document","x":1}],"role":"user"}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got struct{ Messages any }
			var want any
			if err := json.Unmarshal([]byte(body(t, Config{NoCache: true}, &model.Request{Messages: tt.msgs})), &got); err != nil {
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

func TestImageWithoutBase64(t *testing.T) {
	req := &model.Request{Messages: []message.Message{{Role: message.Human, Content: []message.Part{{Type: message.PartImage, URL: "data:image/svg+xml,<svg>"}}}}}
	_, err := model.Collect(New(Config{}).Stream(t.Context(), req))
	if e := model.AsError(err); e == nil || e.Class != model.ClassBadRequest {
		t.Errorf("error %v", err)
	}
}

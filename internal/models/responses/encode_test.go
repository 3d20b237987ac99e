package responses

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// TestThinking pins the field reasoning for each family of models and each switch.
func TestThinking(t *testing.T) {
	on, off := true, false
	configured := Config{Model: "gpt-5.5",
		ThinkingOn:  map[string]json.RawMessage{"reasoning": raw(`{"effort":"high"}`)},
		ThinkingOff: map[string]json.RawMessage{"reasoning_effort": raw(`"low"`), "text": raw(`{"verbosity":"low"}`)}}
	tests := []struct {
		name     string
		cfg      Config
		settings model.Settings
		want     string // empty: no field
	}{
		{"nothing said", Config{Model: "gpt-5.5"}, model.Settings{}, ``},
		{"on", Config{Model: "gpt-5.5"}, model.Settings{Thinking: &on}, `{"summary":"auto"}`},
		{"on with effort", Config{Model: "gpt-5.5"}, model.Settings{Thinking: &on, Effort: "high"},
			`{"effort":"high","summary":"auto"}`},
		{"effort alone", Config{Model: "gpt-5.5", Settings: model.Settings{Effort: "xhigh"}}, model.Settings{},
			`{"effort":"xhigh","summary":"auto"}`},
		{"off", Config{Model: "gpt-5.5"}, model.Settings{Thinking: &off, Effort: "high"}, `{"effort":"none"}`},
		{"off by default", Config{Model: "gpt-5.5", Settings: model.Settings{Thinking: &off}}, model.Settings{},
			`{"effort":"none"}`},
		{"a deployment's name", Config{Model: "my-model"}, model.Settings{Thinking: &off}, `{"effort":"none"}`},
		{"gpt-5 off", Config{Model: "gpt-5-mini-2025-08-07"}, model.Settings{Thinking: &off}, `{"effort":"minimal"}`},
		{"gpt-5 minimal", Config{Model: "gpt-5"}, model.Settings{Effort: "minimal"},
			`{"effort":"minimal","summary":"auto"}`},
		{"minimal elsewhere", Config{Model: "gpt-5.1"}, model.Settings{Effort: "minimal"},
			`{"effort":"low","summary":"auto"}`},
		{"gpt-5-pro has one effort", Config{Model: "gpt-5-pro"}, model.Settings{Thinking: &off, Effort: "low"}, ``},
		{"o3 off", Config{Model: "o3"}, model.Settings{Thinking: &off}, `{"effort":"low"}`},
		{"gpt-oss off", Config{Model: "openai/gpt-oss-20b"}, model.Settings{Thinking: &off}, `{"effort":"low"}`},
		{"a model that does not reason", Config{Model: "ft:gpt-4.1-mini:acme"},
			model.Settings{Thinking: &on, Effort: "low"}, ``},
		{"configured on", configured, model.Settings{Thinking: &on, Effort: "low"},
			`{"effort":"high","summary":"auto"}`},
		{"configured off", configured, model.Settings{Thinking: &off, Effort: "high"}, `{"effort":"low"}`},
		{"codex", Config{Model: "gpt-5.5", Codex: true}, model.Settings{}, `{"effort":"medium","summary":"auto"}`},
		{"codex with an odd effort", Config{Model: "gpt-5.5", Codex: true}, model.Settings{Effort: "minimal"},
			`{"effort":"medium","summary":"auto"}`},
		{"codex with effort", Config{Model: "gpt-5.5", Codex: true}, model.Settings{Effort: "xhigh"},
			`{"effort":"xhigh","summary":"auto"}`},
		{"codex off", Config{Model: "gpt-5.5", Codex: true}, model.Settings{Thinking: &off}, `{"effort":"none"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := decodeBody(t, body(tt.cfg, &model.Request{Settings: tt.settings}))
			if string(got["reasoning"]) != tt.want {
				t.Errorf("reasoning %s, want %s", got["reasoning"], tt.want)
			}
			if _, sent := got["reasoning_effort"]; sent {
				t.Error("reasoning_effort, which the API does not know, was sent")
			}
		})
	}
}

func decodeBody(t *testing.T, body string) (f map[string]json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &f); err != nil {
		t.Fatal(err, body)
	}
	return f
}

// TestEncodeConfig pins the bytes of a body: the order of its fields, and who wins.
func TestEncodeConfig(t *testing.T) {
	half, on := 0.5, true
	cfg := Config{Model: "gpt-5.5", Settings: model.Settings{MaxTokens: 5, Temperature: &half, Thinking: &on},
		ExtraBody: map[string]json.RawMessage{
			"temperature": raw(`1`), "include": raw(`null`), "stream": raw(`false`), "input": raw(`[]`),
			"model":     raw(`"x"`),
			"reasoning": raw(`{"summary":"detailed","effort":null,"context":{"b": 1}}`), "service_tier": raw(`"flex"`)}}
	req := &model.Request{System: "s", Tools: []model.Tool{{Name: "f", Description: "d"}},
		Messages: []message.Message{message.New(message.Human, "h")},
		Settings: model.Settings{NoTools: true}}
	want := `{"model":"gpt-5.5","stream":true,"instructions":"s","tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object","properties":{}},"strict":false}],` +
		`"max_output_tokens":16,"parallel_tool_calls":true,"reasoning":{"context":{"b": 1},"summary":"detailed"},"service_tier":"flex","store":false,"temperature":1,` +
		`"input":[{"type":"message","role":"user","content":"h"}],"tool_choice":"none"}`
	m := New(cfg)
	for range 2 { // the configuration is not changed by a call
		if d := cmp.Diff(want, string(m.encode(req))); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	}
}

// TestFamilies is about fields that some models reject.
func TestFamilies(t *testing.T) {
	req := &model.Request{Tools: []model.Tool{{Name: "f"}}}
	for name, want := range map[string][2]bool{ // include, parallel_tool_calls
		"gpt-5.5": {true, true}, "gpt-4o": {false, true}, "gpt-4o-mini": {false, true}, "gpt-4": {false, true},
		"gpt-40":            {true, true},
		"gpt-5-chat-latest": {false, true}, "o3-mini": {true, false}, "o4-mini": {true, false},
		"GPT-4.1": {false, true}, "": {true, true}} {
		got := decodeBody(t, body(Config{Model: name}, req))
		if (got["include"] != nil) != want[0] || (got["parallel_tool_calls"] != nil) != want[1] {
			t.Errorf("%q: include %s, parallel_tool_calls %s", name, got["include"], got["parallel_tool_calls"])
		}
	}
}

func TestEncodeMessages(t *testing.T) {
	image := message.Part{Type: message.PartImage, URL: "https://x/y.png", Detail: "low"}
	const picture = `{"type":"input_image","image_url":"https://x/y.png","detail":"low"}`
	tests := []struct {
		name string
		msgs []message.Message
		want string
	}{
		{"empty answer", []message.Message{{Role: message.AI}}, ``},
		{"empty question", []message.Message{{Role: message.Human}}, `{"type":"message","role":"user","content":""}`},
		{"two texts",
			[]message.Message{{Role: message.Human, Content: []message.Part{message.Text("a"), message.Text("b")}}},
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]}`},
		{"image and unknown block",
			[]message.Message{{Role: message.Human,
				Content: []message.Part{image,
					{Type: message.PartRaw, Raw: raw(`{"type":"input_file","file_id":"x"}`)}}}},
			`{"type":"message","role":"user","content":[` + picture + `,{"type":"input_file","file_id":"x"}]}`},
		{"image of a tool",
			[]message.Message{{Role: message.Tool, ToolCallID: "1", Content: []message.Part{message.Text("r"), image}}},
			`{"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"r"},` + picture +
				`]}`},
		{"fields of another vendor's call",
			[]message.Message{{Role: message.AI,
				ToolCalls: []message.ToolCall{{ID: "1", Name: "f", Extra: message.Fields{"extra_content": raw(`1`)}}}}},
			`{"type":"function_call","call_id":"1","name":"f","arguments":"{}"}`},
		{"reasoning without a proof",
			[]message.Message{{Role: message.AI, Content: []message.Part{{Type: message.PartReasoning, Text: "w"},
				message.Text("a")}}},
			`{"type":"message","role":"assistant","content":"a"}`},
		{"system in the middle", []message.Message{message.New(message.System, "s")},
			`{"type":"message","role":"developer","content":"s"}`},
		{"removal", []message.Message{{Role: message.Remove, ID: "x"}}, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got, _ := strings.Cut(body(Config{}, &model.Request{Messages: tt.msgs}), `"input":`)
			if d := cmp.Diff("["+tt.want+"]}", got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestEndpoint(t *testing.T) {
	for base, want := range map[string]string{
		"https://h/v1":                            "https://h/v1/responses",
		"https://h/v1/":                           "https://h/v1/responses",
		"https://h/v1/responses":                  "https://h/v1/responses",
		"https://h/openai/v1?api-version=preview": "https://h/openai/v1/responses?api-version=preview"} {
		if got := New(Config{BaseURL: base}).url; got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
	}
	if got := New(Config{Codex: true}).url; got != "https://chatgpt.com/backend-api/codex/responses" {
		t.Errorf("codex: %s", got)
	}
}

// TestHeaders is about where the key goes.
func TestHeaders(t *testing.T) {
	azure := "https://x.openai.azure.com/openai/v1"
	tests := []struct {
		name, header, want string
		cfg                Config
	}{
		{"bearer", "Authorization", "Bearer k", Config{APIKey: "k"}},
		{"Azure by its host", "Api-Key", "k", Config{APIKey: "k", BaseURL: azure}},
		{"Azure has no bearer beside", "Authorization", "", Config{APIKey: "k", BaseURL: azure}},
		{"not a host of Azure", "Authorization", "Bearer k",
			Config{APIKey: "k", BaseURL: "https://openai.azure.com.evil.example/v1"}},
		{"own header", "X-Key", "k", Config{APIKey: "k", KeyHeader: "X-Key"}},
		{"account", "Chatgpt-Account-Id", "a", Config{AccountID: "a", Codex: true}},
		{"configured", "Authorization", "Basic z",
			Config{APIKey: "k", Headers: map[string]string{"authorization": "Basic z"}}},
	}
	for _, tt := range tests {
		if got := New(tt.cfg).header.Get(tt.header); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestCodex is about what the ChatGPT backend takes: bound and temperature stay at home, instructions must be there.
func TestCodex(t *testing.T) {
	var path, account string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, account = r.URL.Path, r.Header.Get("Chatgpt-Account-Id")
		w.Write(textStream([]string{"hi"}))
	}))
	defer srv.Close()
	half := 0.5
	m := New(Config{Codex: true, AccountID: "acc", APIKey: "token", BaseURL: srv.URL + "/codex", Model: "gpt-5.5",
		Settings: model.Settings{MaxTokens: 99, Temperature: &half}})
	defer m.client.HTTP.CloseIdleConnections()
	got, err := model.Collect(m.Stream(t.Context(), &model.Request{}))
	if err != nil || got.Text() != "hi" || path != "/codex/responses" || account != "acc" {
		t.Errorf("%q, %v, %s, %s", got.Text(), err, path, account)
	}
	f := decodeBody(t, string(m.encode(&model.Request{})))
	if f["max_output_tokens"] != nil || f["temperature"] != nil || len(f["instructions"]) < 5 {
		t.Errorf("body %s", m.encode(&model.Request{}))
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
	if want := m.encode(rules.Request(req)); string(sent) != string(want) || string(m.encode(req)) == string(want) {
		t.Errorf("sent %s\nwant %s", sent, want)
	}
}

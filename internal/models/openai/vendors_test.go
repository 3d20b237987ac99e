package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// update writes what a vendor's files should hold; read the difference before you keep it.
var update = flag.Bool("update", false, "write message.json and *request.json of testdata/vendors")

// vendorModels is the model of each vendor's files; testdata/vendors/README.md says where their shapes come from.
var vendorModels = map[string]string{
	"openai": "gpt-5.5", "azure": "gpt-5-mini", "deepseek": "deepseek-chat", "qwen": "qwen3-max",
	"openrouter": "anthropic/claude-sonnet-4.5", "moonshot": "kimi-k2.5", "zai": "glm-4.7", "minimax": "MiniMax-M2",
	"doubao": "doubao-seed-1-8-251228", "mistral": "magistral-medium-latest", "gemini": "gemini-3-flash-preview",
	"mimo": "mimo-v2-flash", "stepfun": "step-3.5-flash", "groq": "qwen/qwen3-32b", "xai": "grok-3-mini",
	"vllm": "Qwen/Qwen3-32B", "sglang": "Qwen/Qwen3-32B", "llamacpp": "qwen3-8b", "lmstudio": "qwen/qwen3-8b",
	"ollama": "qwen3:8b", "mindie": "qwen3-coder", "generic": "hermes-4",
}

// TestVendors holds a conversation with each vendor: the answer of turn.http must come out as message.json, the request
// with the answer and a result must be request.json, and the same request without thinking must be off.request.json.
func TestVendors(t *testing.T) {
	for i := range dialects {
		name := dialects[i].name
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("testdata", "vendors", name)
			m, sent := vendor(t, name, filepath.Join(dir, "turn.http"))
			on, off := true, false
			req := &model.Request{System: "Be brief.",
				Messages: []message.Message{message.New(message.Human, "Which files are in src?")},
				Tools: []model.Tool{{Name: "list_files", Description: "List files.", Parameters: raw(
					`{"type":"object","properties":{"path":{"type":"string"},"depth":{"type":"integer"}},"required":["path"]}`)}},
				Settings: model.Settings{Thinking: &on, Effort: "high", MaxTokens: 4096}}
			answer, err := model.Collect(m.Stream(t.Context(), req))
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join(dir, "message.json"), marshal(t, &answer))
			checkVendorAnswer(t, name, &answer)
			req.Messages = append(req.Messages, answer,
				message.Message{Role: message.Tool, ToolCallID: answer.ToolCalls[0].ID, Name: "list_files",
					Content: []message.Part{message.Text("main.go\nx.go")}})
			for file, thinking := range map[string]*bool{"request.json": &on, "off.request.json": &off} {
				req.Settings.Thinking = thinking
				for _, err := range m.Stream(t.Context(), req) {
					if err != nil {
						t.Fatal(err)
					}
				}
				golden(t, filepath.Join(dir, file), sent())
			}
		})
	}
}

// TestLlamaCppPython reads what llama-cpp-python answered to a request with a tool: each piece of the call came twice
// in one delta, as function_call and in tool_calls.
func TestLlamaCppPython(t *testing.T) {
	dir := filepath.Join("testdata", "vendors", "llama-cpp-python")
	m, _ := vendor(t, "llamacpp", filepath.Join(dir, "turn.http"))
	answer, err := model.Collect(m.Stream(t.Context(), &model.Request{Tools: []model.Tool{{Name: "get_weather"}}}))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join(dir, "message.json"), marshal(t, &answer))
	if len(answer.ToolCalls) != 1 || string(answer.ToolCalls[0].Args) != `{"city": "Paris"}` ||
		len(answer.InvalidToolCalls) > 0 {
		t.Errorf("calls %+v, invalid %+v", answer.ToolCalls, answer.InvalidToolCalls)
	}
}

// checkVendorAnswer is what is the same for all: all vendors tell one story.
func checkVendorAnswer(t *testing.T, vendor string, m *message.Message) {
	t.Helper()
	wantReasoning := "I should list them."
	if vendor == "openai" || vendor == "azure" { // chat completions do not show it
		wantReasoning = ""
	}
	if got := m.Reasoning(); got != wantReasoning {
		t.Errorf("reasoning %q, want %q", got, wantReasoning)
	}
	if got := strings.TrimSpace(m.Text()); got != "" && got != "Let me look." {
		t.Errorf("text %q", got)
	}
	if len(m.ToolCalls) != 1 || len(m.InvalidToolCalls) != 0 {
		t.Fatalf("calls %+v, invalid %+v", m.ToolCalls, m.InvalidToolCalls)
	}
	var args struct {
		Path  string
		Depth int
	}
	if c := m.ToolCalls[0]; json.Unmarshal(c.Args, &args) != nil || c.Name != "list_files" || c.ID == "" ||
		args.Path != "src" || args.Depth != 2 {
		t.Errorf("call %+v", c)
	}
	if m.Usage == nil || m.Usage.InputTokens != 120 || m.Usage.OutputTokens < 20 || m.Usage.TotalTokens < 162 {
		t.Errorf("usage %+v", m.Usage)
	}
	if got := string(m.ResponseMetadata["finish_reason"]); got != `"tool_calls"` {
		t.Errorf("finish reason %s", got)
	}
}

// vendor serves a file and makes a model that talks to it; sent is the body of its last request.
func vendor(t *testing.T, dialect, file string) (m *Model, sent func() []byte) {
	t.Helper()
	in, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(in)), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(resp.Body)
	var body []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		w.Write(answer)
	}))
	t.Cleanup(srv.Close)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	return New(Config{Dialect: dialect, BaseURL: srv.URL, Model: vendorModels[dialect], APIKey: "k", Client: client}),
		func() []byte { return body }
}

func marshal(t *testing.T, m *message.Message) []byte {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// golden compares JSON with a file.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		var b bytes.Buffer
		if err := json.Indent(&b, got, "", " "); err != nil {
			t.Fatal(err)
		}
		b.WriteByte('\n')
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(decodeJSON(t, want), decodeJSON(t, got)); d != "" {
		t.Errorf("%s (-want +got)\n%s\ngot %s", file, d, got)
	}
}

func decodeJSON(t *testing.T, in []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(in, &v); err != nil {
		t.Fatalf("%v in %s", err, in)
	}
	return v
}

// TestTable reads every row: its JSON must be JSON, its levels must stand on the scale, and each host must be one
// row's.
func TestTable(t *testing.T) {
	hosts := map[string]string{}
	for i := range dialects {
		d := &dialects[i]
		for _, h := range d.hosts {
			if hosts[h] != "" {
				t.Errorf("%s: host %s is %s's too", d.name, h, hosts[h])
			}
			hosts[h] = d.name
		}
		fields := []string{d.always}
		for _, s := range d.thinking {
			fields = append(fields, s.on, s.off)
			for _, l := range s.levels {
				if !slices.Contains(model.Efforts(), l.effort) || l.value != "" && !json.Valid([]byte(l.value)) ||
					s.effort == "" {
					t.Errorf("%s: level %+v of field %q", d.name, l, s.effort)
				}
			}
		}
		for _, f := range fields {
			if !json.Valid([]byte("{" + f + "}")) {
				t.Errorf("%s: %s", d.name, f)
			}
		}
		if d.blank != "" && !json.Valid([]byte(d.blank)) || d.blank != "" && d.replay == "" {
			t.Errorf("%s: blank %s in field %q", d.name, d.blank, d.replay)
		}
	}
}

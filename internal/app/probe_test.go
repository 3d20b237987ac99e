package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pudu-ai/pudu/internal/app"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/model/probe"
	"github.com/pudu-ai/pudu/internal/models/scripted"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// TestTheLinesThatAProbeWouldSetAreRight examines a server as vLLM is one, about which the configuration says nothing,
// and examines it again with the lines that it was told to set.
func TestTheLinesThatAProbeWouldSetAreRight(t *testing.T) {
	srv := httptest.NewServer(&thinker{t: t, model: goodScript(t)})
	defer srv.Close()
	entry := fmt.Sprintf("models:\n  - name: m\n    provider: compatible\n    model: m\n    api_key: sk-x\n    base_url: %s/v1\n", srv.URL)
	examine := func(config string) probe.Examined {
		t.Helper()
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		x, err := app.App{}.ExamineModel(t.Context(), cli.Options{Config: path, Model: "m"}, func(probe.Result) {})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	x := examine(entry)
	var lines []string
	for _, o := range x.Options {
		lines = append(lines, "    "+o.Key+": "+string(o.Value))
	}
	want := []string{
		"    context_window: 40960", "    supports_vision: true", "    supports_thinking: true",
		`    when_thinking_disabled: {"extra_body":{"chat_template_kwargs":{"enable_thinking":false}}}`,
	}
	if d := cmp.Diff(want, lines); d != "" || x.Verdict != probe.Works {
		t.Errorf("%s\n%s\n%+v", d, x.Sentence(), x.Results)
	}
	if x = examine(entry + strings.Join(lines, "\n") + "\n"); len(x.Options) > 0 || x.Verdict != probe.Good ||
		x.Window != 40960 {
		t.Errorf("%+v\n%s\n%+v", x.Options, x.Sentence(), x.Results)
	}
}

// goodScript is the model of the script test that does all tasks.
func goodScript(t *testing.T) model.ChatModel {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/script/probe.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if f.Name == "good.yaml" {
			m, err := scripted.New(scripted.Config{Script: f.Data})
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
	}
	t.Fatal("no good.yaml")
	return nil
}

// thinker serves a model by chat completions. It thinks unless the chat template is told not to, as vLLM documents it
// for Qwen3, and lists its window as vLLM does.
type thinker struct {
	t     *testing.T
	model model.ChatModel
}

func (s *thinker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer sk-x" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if r.URL.Path == "/v1/models" {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"m","object":"model","max_model_len":40960}]}`)
		return
	}
	var body struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		ToolChoice string `json:"tool_choice"`
		Template   struct {
			Thinking *bool `json:"enable_thinking"`
		} `json:"chat_template_kwargs"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		s.t.Error(err)
	}
	req := &model.Request{Settings: model.Settings{NoTools: body.ToolChoice == "none"}}
	for _, m := range body.Messages {
		req.Messages = append(req.Messages, said(m.Role, m.Content))
	}
	answer, err := model.Collect(s.model.Stream(r.Context(), req))
	if err != nil {
		s.t.Error(err)
	}
	reasoning := "Hm."
	if on := body.Template.Thinking; on != nil && !*on {
		reasoning = ""
	}
	stream(w, &answer, reasoning)
}

func said(role string, content json.RawMessage) message.Message {
	var text string
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &text) != nil {
		json.Unmarshal(content, &parts)
		for _, p := range parts {
			text += p.Text
		}
	}
	roles := map[string]message.Role{"user": message.Human, "assistant": message.AI, "tool": message.Tool,
		"system": message.System}
	return message.New(roles[role], text)
}

// stream writes an answer as chunks, word by word.
func stream(w http.ResponseWriter, m *message.Message, reasoning string) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta any, rest string) {
		raw, _ := json.Marshal(delta)
		fmt.Fprintf(w, "data: {\"id\":\"x\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":%s%s}]}\n\n", raw, rest)
		w.(http.Flusher).Flush()
		time.Sleep(time.Millisecond) // so that the pieces do not come in one packet
	}
	if reasoning != "" {
		send(map[string]string{"reasoning_content": reasoning}, "")
	}
	for word := range strings.SplitAfterSeq(m.Text(), " ") {
		send(map[string]string{"content": word}, "")
	}
	for i, c := range m.ToolCalls {
		send(map[string]any{"tool_calls": []any{map[string]any{"index": i, "id": c.ID, "type": "function",
			"function": map[string]string{"name": c.Name, "arguments": string(c.Args)}}}}, "")
	}
	send(map[string]string{}, `,"finish_reason":"stop"`)
	fmt.Fprint(w,
		"data: {\"id\":\"x\",\"model\":\"m\",\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":1,\"total_tokens\":10,"+
			"\"prompt_tokens_details\":{\"cached_tokens\":8}}}\n\ndata: [DONE]\n\n")
}

//go:build realmodel

package realmodel

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/models/openai"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

func client(name string, maxTokens int, extra map[string]json.RawMessage) model.ChatModel {
	temperature := 0.0
	return openai.New(openai.Config{
		BaseURL: baseURL, Model: name, ExtraBody: extra,
		Settings: model.Settings{MaxTokens: maxTokens, Temperature: &temperature},
	})
}

// ask asks and returns the answer with the number of its chunks.
func ask(t *testing.T, m model.ChatModel, req *model.Request) (message.Message, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var b message.Builder
	n := 0
	for c, err := range m.Stream(ctx, req) {
		if err != nil {
			t.Fatal(err)
		}
		b.Add(c)
		n++
	}
	return b.Message(), n
}

func question(text string) *model.Request {
	return &model.Request{System: "You are a helpful assistant.",
		Messages: []message.Message{message.New(message.Human, text)}}
}

// TestText: an answer streams, in more than one piece, and ends with a reason. This server counts no streams.
func TestText(t *testing.T) {
	m, chunks := ask(t, client(plain, 60, nil), question("What is the capital of France? Answer in one sentence."))
	t.Logf("%d chunks: %q, usage %+v, %s", chunks, m.Text(), m.Usage, m.ResponseMetadata["finish_reason"])
	if chunks < 4 || !strings.Contains(m.Text(), "Paris") {
		t.Errorf("%d chunks, %q; want a stream that names Paris", chunks, m.Text())
	}
}

// TestUsage: an answer that is asked for whole, as this dialect does where tools are offered, says what it took.
func TestUsage(t *testing.T) {
	req := question("What is the capital of France? Answer in one sentence.")
	req.Tools = []model.Tool{{Name: "now", Description: "Tell the time."}}
	m, chunks := ask(t, openai.New(openai.Config{BaseURL: baseURL, Model: plain, Dialect: "mindie",
		Settings: model.Settings{MaxTokens: 30}}), req)
	t.Logf("%d chunks: %q, usage %+v", chunks, m.Text(), m.Usage)
	if u := m.Usage; u == nil || u.InputTokens < 10 || u.OutputTokens < 2 || u.TotalTokens != u.InputTokens+
		u.OutputTokens {
		t.Errorf("usage %+v", u)
	}
}

// TestCall: llama.cpp's grammar makes the call that the request demands, and it comes out as one.
func TestCall(t *testing.T) {
	req := question("What is the weather in Paris?")
	req.Tools = []model.Tool{{
		Name: "get_weather", Description: "Tell the weather in a city.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
	}}
	forced := map[string]json.RawMessage{"tool_choice": json.RawMessage(`{"type":"function","function":{"name":"get_weather"}}`)}
	m, _ := ask(t, client(calling, 60, forced), req)
	if len(m.ToolCalls) != 1 || m.ToolCalls[0].Name != "get_weather" || m.ToolCalls[0].ID == "" {
		t.Fatalf("calls %+v, invalid %+v, text %q", m.ToolCalls, m.InvalidToolCalls, m.Text())
	}
	var args struct{ City string }
	if err := json.Unmarshal(m.ToolCalls[0].Args, &args); err != nil || args.City == "" {
		t.Errorf("arguments %s, %v; want a city", m.ToolCalls[0].Args, err)
	}
	t.Logf("call %s %s", m.ToolCalls[0].Name, m.ToolCalls[0].Args)
}

// TestCancel: the server, which works on one request at a time, is free again as soon as a stream is cancelled.
func TestCancel(t *testing.T) {
	const tokens = 300
	endless := map[string]json.RawMessage{"min_tokens": json.RawMessage("7000")}
	long := question("Count from one to one thousand, in words, one number on each line.")
	start := time.Now()
	_, chunks := ask(t, client(plain, tokens, endless), long)
	took := time.Since(start)
	if chunks < tokens/2 {
		t.Fatalf("%d chunks, want about %d", chunks, tokens)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	var last error
	for _, err := range client(plain, 7000, endless).Stream(ctx, long) {
		if n++; n == 3 {
			cancel()
		}
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", last)
	}
	start = time.Now()
	ask(t, client(plain, 2, nil), question("Hi"))
	waited := time.Since(start)
	t.Logf("%d tokens took %v; after the cancel of an answer of 7,000 another request took %v", tokens, took, waited)
	if waited > 10*took { // to its end the answer would have taken more than twenty times as long
		t.Errorf("the model was busy for %v after the cancel", waited)
	}
}

// TestRun: a whole run of the agent goes through, with the agent's prompt and tools before a model that makes little of
// them.
func TestRun(t *testing.T) {
	out, err := pudu(t, "run", "Say hello.")
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(out) == "" {
		t.Error("the run printed nothing")
	}
}

// TestDoctor: the probe comes to a verdict.
func TestDoctor(t *testing.T) {
	out, _ := pudu(t, "doctor", "model") // the verdict is that it is too weak
	if !strings.Contains(out, "weak") {
		t.Errorf("no verdict")
	}
}

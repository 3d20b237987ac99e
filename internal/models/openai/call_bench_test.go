package openai

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// BenchmarkCall is what the sixth call of a run costs here, without the sockets: a request of a usual length, and an
// answer that calls a tool, whose arguments come in twenty pieces.
func BenchmarkCall(b *testing.B) {
	m := New(Config{BaseURL: "http://model.test/v1", Model: "m",
		Client: &http.Client{Transport: played(answerOfCall())}})
	req := longRequest(5)
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range m.Stream(b.Context(), req) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// played answers every request with the same stream.
type played string

func (p played) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(string(p)))}, nil
}

// answerOfCall is an answer in events as a vendor sends them, every one with who answers.
func answerOfCall() string {
	const head = `data: {"id":"chatcmpl-000000000001","object":"chat.completion.chunk","created":1767323045,"model":"m","choices":[`
	var s strings.Builder
	event := func(delta, finish string) {
		s.WriteString(head + `{"index":0,"delta":{` + delta + `},"finish_reason":` + finish + "}]}\n\n")
	}
	event(`"role":"assistant","content":""`, "null")
	event(`"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"ls","arguments":""}}]`, "null")
	for _, piece := range []string{`{\"de`, `scri`, `ptio`, `n\": `, `\"loo`, `k, s`, `tep `, `1\", `, `\"pat`, `h\": `,
		`\"/mn`, `t/us`, `er-d`, `ata/`, `work`, `spac`, `e\"}`} {
		event(`"tool_calls":[{"index":0,"function":{"arguments":"`+piece+`"}}]`, "null")
	}
	event("", `"tool_calls"`)
	s.WriteString(head + `],"usage":{"prompt_tokens":1200,"completion_tokens":20,"total_tokens":1220,"prompt_tokens_details":{"cached_tokens":1000,"audio_tokens":0}}}` + "\n\n")
	return s.String() + "data: [DONE]\n\n"
}

// longRequest is a request after that many steps: tools, a system prompt, and a conversation whose user's message is
// followed by a note.
func longRequest(steps int) *model.Request {
	req := &model.Request{System: strings.Repeat("You are an agent that works in a sandbox.\n", 250)}
	for i := range 20 {
		req.Tools = append(req.Tools, model.Tool{
			Name: "tool_" + strconv.Itoa(i), Description: strings.Repeat("It does what its name says. ", 20),
			Parameters: []byte(`{"type":"object","properties":{"description":{"type":"string","description":"why"},"path":{"type":"string"}},"required":["description","path"]}`),
		})
	}
	req.Messages = []message.Message{message.New(message.Human, "Look at the workspace."),
		message.New(message.Human, "<system-reminder>2026-01-02</system-reminder>")}
	for i := range steps {
		id := "call_" + strconv.Itoa(i)
		req.Messages = append(req.Messages,
			message.Message{Role: message.AI,
				ToolCalls: []message.ToolCall{{ID: id, Name: "ls",
					Args: []byte(`{"description": "look, step 1", "path": "/mnt/user-data/workspace"}`)}}},
			message.Message{Role: message.Tool, Name: "ls", ToolCallID: id,
				Content: []message.Part{message.Text("/mnt/user-data/workspace (empty)")}})
	}
	return req
}

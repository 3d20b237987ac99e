package modeltest

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// requestCase checks what a model sends, against "<case>.request.json".
type requestCase struct {
	name string
	req  func() *model.Request
	// replay asks first, with the fixture of the case as the answer, and sends the answer and a result for each of its
	// calls in a second request, which is the one that is compared.
	replay bool
}

// image is a GIF of one pixel.
const image = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"

func requestCases() []requestCase {
	return []requestCase{
		{name: "conversation", req: conversation},
		{name: "settings", req: settings},
		{name: "images", req: func() *model.Request {
			return &model.Request{Messages: []message.Message{{Role: message.Human, Content: []message.Part{
				message.Text("What is this?"), {Type: message.PartImage, URL: image},
				{Type: message.PartImage, URL: "https://example.com/cat.png"}}}}}
		}},
		// Reasoning and one call; the reasoning goes back as the vendor wants it.
		{name: "reasoning_replay", req: ask, replay: true},
		// Calls whose arguments have spaces; they go back byte for byte.
		{name: "args_replay", req: ask, replay: true},
	}
}

func ask() *model.Request {
	return &model.Request{Messages: []message.Message{message.New(message.Human, "hi")}}
}

// tools are two tools: one with parameters, one without.
func tools() []model.Tool {
	return []model.Tool{
		{Name: "list_files", Description: "List files.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},` +
				`"required":["path"]}`)},
		{Name: "now", Description: "Tell the time."}}
}

// conversation has every role, a call with an invalid neighbour, two results, and an empty answer.
func conversation() *model.Request {
	call := message.Message{Role: message.AI,
		Content: []message.Part{{Type: message.PartReasoning, Text: "unsigned thought"}},
		ToolCalls: []message.ToolCall{{ID: "call_1", Name: "list_files", Args: json.RawMessage(`{"path": "a"}`)},
			{ID: "call_2", Name: "now"}}}
	return &model.Request{
		System: "Be brief.",
		Tools:  tools(),
		Messages: []message.Message{
			message.New(message.System, "Today is Monday."),
			{Role: message.Human, Name: "user-input", Content: []message.Part{message.Text("hi")}},
			message.New(message.AI, "Hello."),
			message.New(message.Human, "Which files?"),
			call,
			{Role: message.Tool, ToolCallID: "call_1", Name: "list_files",
				Content: []message.Part{message.Text("x\ny")}},
			{Role: message.Tool, ToolCallID: "call_2", Name: "now", Status: message.StatusError,
				Content: []message.Part{message.Text("no clock")}},
			message.New(message.Human, "And now?"),
			message.New(message.Human, "Quick!"),
		},
	}
}

func settings() *model.Request {
	req, temperature := ask(), 0.5
	req.Tools = tools()
	req.Settings = model.Settings{Temperature: &temperature, MaxTokens: 1000, NoTools: true}
	return req
}

func (c requestCase) run(t *testing.T, h Harness) {
	answers := []answer{load(t, h, "text")}
	if c.replay {
		answers = []answer{load(t, h, c.name), answers[0]}
	}
	s, m := start(t, h, 0, answers...)
	req := c.req()
	chunks, err := drain(t, m, req)
	if err != nil {
		t.Fatal(err)
	}
	if c.replay {
		req.Messages = append(req.Messages, withResults(fold(chunks))...)
		if _, err := drain(t, m, req); err != nil {
			t.Fatal(err)
		}
	}
	sent := s.sent()
	compareRequest(t, h, c.name, sent[len(sent)-1])
}

// withResults is an answer followed by a result for each of its calls.
func withResults(m message.Message) []message.Message {
	m.Role = message.AI
	out := []message.Message{m}
	for _, c := range m.ToolCalls {
		out = append(out, message.Message{Role: message.Tool, ToolCallID: c.ID, Name: c.Name,
			Content: []message.Part{message.Text("done")}})
	}
	return out
}

func compareRequest(t *testing.T, h Harness, name string, sent []byte) {
	t.Helper()
	want, err := fs.ReadFile(h.Fixtures, name+".request.json")
	if err != nil {
		t.Fatalf("read fixture: %v\nthe request was\n%s", err, sent)
	}
	if d := cmp.Diff(decode(t, want), decode(t, sent)); d != "" {
		t.Errorf("request (-want +got)\n%s\nthe request was\n%s", d, sent)
	}
}

func decode(t *testing.T, raw []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}

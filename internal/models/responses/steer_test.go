package responses

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// steeredTalk is a conversation in which people have said more while two tools worked.
func steeredTalk() []message.Message {
	call := func(id string) message.ToolCall {
		return message.ToolCall{ID: id, Name: "f", Args: json.RawMessage("{}")}
	}
	result := func(id string) message.Message {
		return message.Message{Role: message.Tool, ToolCallID: id, Name: "f",
			Content: []message.Part{message.Text("r" + id)}}
	}
	return []message.Message{
		message.New(message.Human, "a"), {Role: message.AI, ToolCalls: []message.ToolCall{call("1"), call("2")}},
		result("1"), result("2"), message.New(message.Human, "b"), message.New(message.Human, "c"),
	}
}

// TestWordsBehindResults stand as items of their own behind those of the results.
func TestWordsBehindResults(t *testing.T) {
	_, got, _ := strings.Cut(body(Config{}, &model.Request{Messages: steeredTalk()}), `"input":`)
	const want = `{"type":"function_call_output","call_id":"1","output":"r1"},{"type":"function_call_output","call_id":"2","output":"r2"},` +
		`{"type":"message","role":"user","content":"b"},{"type":"message","role":"user","content":"c"}]`
	if !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwithout\n%s", got, want)
	}
}

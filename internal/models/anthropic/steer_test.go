package anthropic

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

// TestWordsBehindResults stand in the turn that begins with all results, as the API demands.
func TestWordsBehindResults(t *testing.T) {
	got := body(t, Config{}, &model.Request{Messages: steeredTalk()})
	const want = `"content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"r1"}]},` +
		`{"type":"tool_result","tool_use_id":"2","content":[{"type":"text","text":"r2"}]},{"type":"text","text":"b"},{"type":"text","text":"c"`
	if !strings.Contains(got, want) || strings.Count(got, `"role":"user"`) != 2 {
		t.Errorf("got\n%s\nwithout\n%s", got, want)
	}
}

package gemini

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/message"
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

// TestWordsBehindResults stand behind all results of the turn, of which Gemini wants as many as there were calls.
func TestWordsBehindResults(t *testing.T) {
	got := contentsOf(t, Config{}, steeredTalk()...)
	var last int
	for _, part := range []string{`"functionCall"`, `"functionResponse"`, `"r2"`, `"text":"b"`, `"text":"c"`} {
		at := strings.Index(got, part)
		if at <= last {
			t.Fatalf("%s is not in its place in\n%s", part, got)
		}
		last = at
	}
	results := got[strings.Index(got, `"functionResponse"`):strings.Index(got, `"text":"b"`)]
	if strings.Count(results, `"functionResponse"`) != 2 || strings.Contains(got, `"role":"function"`) {
		t.Errorf("got\n%s", got)
	}
}

package openai

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

// TestWordsBehindResults: roles as each vendor takes them. Mistral refuses a user behind results without an answer
// between, and templates of open models want turns.
func TestWordsBehindResults(t *testing.T) {
	for dialect, want := range map[string]string{
		"openai":  "user assistant tool tool user user",
		"vllm":    "user assistant tool tool user",
		"mistral": "user assistant tool tool assistant user user",
	} {
		var sent struct{ Messages []struct{ Role string } }
		m := New(Config{Dialect: dialect})
		if err := json.Unmarshal(m.encode(m.dialect.rules.Request(&model.Request{Messages: steeredTalk()})),
			&sent); err != nil {
			t.Fatal(err)
		}
		var roles []string
		for _, m := range sent.Messages {
			roles = append(roles, m.Role)
		}
		if got := strings.Join(roles, " "); got != want {
			t.Errorf("%s: got %s, want %s", dialect, got, want)
		}
	}
}

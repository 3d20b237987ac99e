package loopdetection

import (
	"strconv"
	"testing"

	"github.com/pudu-ai/pudu/message"
)

// BenchmarkStep is what the results of one call cost, ten steps into a run.
func BenchmarkStep(b *testing.B) {
	m := New(Config{})
	asked := message.Message{ID: "m", Role: message.AI, ToolCalls: []message.ToolCall{{
		ID: "c", Name: "ls", Args: []byte(`{"description": "look, step 1", "path": "/mnt/user-data/workspace"}`),
	}}}
	results := []message.Message{{Role: message.Tool, ToolCallID: "c", Name: "ls",
		Content: []message.Part{message.Text("(empty)")}}}
	was := seen{RunID: "r"}
	for i := range 10 {
		was.Calls = append(was.Calls,
			call{Tool: "ls", Key: digest(strconv.Itoa(i)), Result: digest("r", strconv.Itoa(i))})
	}
	b.ReportAllocs()
	for b.Loop() {
		m.step(was, asked, results)
	}
}

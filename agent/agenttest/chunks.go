package agenttest

import (
	"fmt"

	"github.com/pudu-ai/pudu/message"
)

// Say is an answer of text.
func Say(text string) []message.Chunk { return Ends("stop", text) }

// Ends is an answer of text that ends for a reason. The text is in the first of two chunks, the reason in the second.
func Ends(reason, text string) []message.Chunk {
	return []message.Chunk{{Text: text}, {FinishReason: reason}}
}

// Calls is an answer that calls tools: pairs of name and arguments. The calls are in the first of two chunks. Their
// ids, "c0", "c1" ..., are the same in every answer, as with some models.
func Calls(pairs ...string) []message.Chunk {
	return calls(func(i int) string { return fmt.Sprintf("c%d", i) }, pairs)
}

// CallsOf is like [Calls], with ids that hold the number of the answer, from which [Place] finds it.
func CallsOf(answer int, pairs ...string) []message.Chunk {
	return calls(func(i int) string { return fmt.Sprintf("c%d_%d", answer, i) }, pairs)
}

// Place tells the answer and the call in it that an id of [CallsOf] belongs to, both counted from 0.
func Place(callID string) (answer, call int, err error) {
	_, err = fmt.Sscanf(callID, "c%d_%d", &answer, &call)
	return answer, call, err
}

func calls(id func(i int) string, pairs []string) []message.Chunk {
	var c message.Chunk
	for i := 0; i+1 < len(pairs); i += 2 {
		c.ToolCalls = append(
			c.ToolCalls,
			message.ToolCallChunk{Index: i / 2, ID: id(i / 2), Name: pairs[i], Args: pairs[i+1]},
		)
	}
	return []message.Chunk{c, {FinishReason: "tool_calls"}}
}

// Talk is messages as lines of role, name and text; "error" is before those that failed.
func Talk(msgs []message.Message) []string {
	var out []string
	for _, m := range msgs {
		line := string(m.Role)
		if m.Name != "" {
			line += " " + m.Name
		}
		if m.Status == message.StatusError {
			line = "error " + line
		}
		out = append(out, line+": "+m.Text())
	}
	return out
}

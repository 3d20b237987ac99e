package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// Some servers put a conversation into the model's template in a way that fails on lists of blocks, on calls and on
// tool messages. For these, everything is a plain text: calls stand in it as the model itself writes them (see
// formats.go), and results come from the user, between tags.

// proseMessages writes the conversation as plain texts.
func (m *Model) proseMessages(b []byte, f *fixed, msgs []message.Message) []byte {
	b = append(b, f.encodedSystem...)
	for i := range msgs {
		msg := &msgs[i]
		switch msg.Role {
		case message.System:
			b = appendText(b, "system", msg.Text())
		case message.Human:
			b = appendText(b, "user", flat(msg.Content))
		case message.AI:
			b = appendText(b, "assistant", withCalls(msg))
		case message.Tool:
			b = appendText(b, "user", "<tool_response>\n"+flat(msg.Content)+"\n</tool_response>")
		}
	}
	return b
}

// flat is the text of all parts.
func flat(parts []message.Part) string {
	var lines []string
	for _, p := range parts {
		if p.Type == message.PartText {
			lines = append(lines, p.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// withCalls is the text of an answer and behind it its calls.
func withCalls(msg *message.Message) string {
	var b strings.Builder
	b.WriteString(msg.Text())
	for _, c := range msg.ToolCalls {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString("<tool_call>\n<function=" + c.Name + ">\n" + parameters(c.Args) + "</function>\n</tool_call>")
	}
	return b.String()
}

// parameters writes the members of an object in their order, strings without their quotes.
func parameters(args []byte) string {
	d := json.NewDecoder(bytes.NewReader(args))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	var b strings.Builder
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			break
		}
		text := string(value)
		if s, ok := rawjson.String(value); ok {
			text = s
		}
		b.WriteString("<parameter=" + key.(string) + ">\n" + text + "\n</parameter>\n") //nolint:forcetypeassert // keys are strings
	}
	return b.String()
}

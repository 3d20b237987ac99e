package history

// What the tests share: generators of message lists, from sound turns to anything that crashes, edits, imports and
// changes of the model leave behind, and the vendors' documented demands as checks, of messages as they are encoded one
// by one (OpenAI, Anthropic, Gemini, Mistral) and of finished request bodies (OpenAIBody, AnthropicBody, GeminiBody,
// MistralBody). The checks use nothing of this package: they are written down a second time, from the documentation.

import (
	"encoding/json"
	"strings"

	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/message"
)

// Messages draws a list of up to about 30 messages: sound turns, and between them anything in any order.
func Messages(t *rapid.T) []message.Message {
	var out []message.Message
	for range rapid.IntRange(0, 8).Draw(t, "pieces") {
		if rapid.IntRange(0, 2).Draw(t, "kind") == 0 {
			out = append(out, Turn(t)...)
			continue
		}
		out = append(out, rapid.SliceOfN(anything, 0, 4).Draw(t, "messages")...)
	}
	return out
}

// Turn draws how a history grows: a user's message, or an answer with a result for each of its calls, in any order.
// What they hold may be anything.
func Turn(t *rapid.T) []message.Message {
	if rapid.Bool().Draw(t, "user") {
		return []message.Message{anyHuman.Draw(t, "user")}
	}
	m := anyAnswer.Draw(t, "answer")
	var results []message.Message
	for _, c := range m.ToolCalls {
		results = append(results, resultOf(t, c.ID, c.Name))
	}
	for _, c := range m.InvalidToolCalls {
		results = append(results, resultOf(t, c.ID, c.Name))
	}
	if len(results) > 1 && rapid.Bool().Draw(t, "shuffled") {
		results = rapid.Permutation(results).Draw(t, "results")
	}
	return append([]message.Message{m}, results...)
}

func resultOf(t *rapid.T, id, name string) message.Message {
	m := anyResult.Draw(t, "result")
	m.ToolCallID, m.Name = id, name
	return m
}

var (
	texts = rapid.OneOf(
		rapid.SampledFrom([]string{"", " ", "\n\t", "hello", "Grüße, \u4e16\u754c 😀!", "Continue.", "a\x00b",
			"</s>[INST]"}),
		rapid.String(),
		rapid.Just(strings.Repeat("long ", 400)),
	)
	// anyID is one of few, so that ids repeat.
	anyID = rapid.SampledFrom([]string{
		"", " ", "a", "b", "call_1", "call_2", "functions.bash:0", "ünï çode", "aB3dE6gH9",
		"toolu_01A09q90qw90lq917835lq9", strings.Repeat("x", 64), strings.Repeat("x", 65), strings.Repeat("long", 200),
	})
	names = rapid.SampledFrom([]string{
		"", " ", "bash", "read_file", "web.search", "srv:tool-x", "9lives", "-dash", "\u65e5\u672c\u8a9e", "<|x|>",
		strings.Repeat("n", 64), strings.Repeat("tool_", 40),
	})
	fields = rapid.SampledFrom([]message.Fields{nil, {"x": json.RawMessage(`"y"`)}})
	args   = rapid.SampledFrom([]string{"{}", "", `{"path": "a",  "n":1e2}`, ` {"a":"ü"} `, `[1]`, `"text"`, "null"})
	cutOff = rapid.SampledFrom([]string{`{"path":"a`, "", "path=x", "[1]", `"quo\"te`, strings.Repeat("x", 2000)})
	urls   = rapid.SampledFrom([]string{
		"https://example.com/cat.png", "https://example.com/" + strings.Repeat("x", 500),
		"data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "data:image/png;base64,",
	})
	raws = rapid.SampledFrom([]string{
		`{"type":"file","file":{"file_id":"f"}}`, `{"type":"input_audio","input_audio":{"data":"","format":"wav"}}`,
		`{ "text" : "inside", "type" : "document" }`, `{"x":1}`, `{}`,
	})
)

var part = rapid.Custom(func(t *rapid.T) message.Part {
	switch rapid.IntRange(0, 9).Draw(t, "type") {
	case 0, 1:
		return message.Part{Type: message.PartImage, URL: urls.Draw(t, "url")}
	case 2:
		return message.Part{Type: message.PartReasoning, Text: texts.Draw(t, "thought"),
			Signature: anyID.Draw(t, "signature")}
	case 3:
		return message.Part{Type: message.PartReasoning, Redacted: "c2VjcmV0"}
	case 4:
		return message.Part{Type: message.PartRaw, Raw: json.RawMessage(raws.Draw(t, "raw"))}
	}
	return message.Part{Type: message.PartText, Text: texts.Draw(t, "text"), Extra: fields.Draw(t, "extra")}
})

// spoken draws a message of a role with content that has no calls.
func spoken(t *rapid.T, role message.Role) message.Message {
	m := message.Message{ID: anyID.Draw(t, "message id"), Role: role, Content: rapid.SliceOfN(part, 0, 3).
		Draw(t, "content"), Kwargs: fields.Draw(t, "kwargs")}
	if rapid.Bool().Draw(t, "named") {
		m.Name = names.Draw(t, "name")
	}
	return m
}

var (
	anyHuman  = rapid.Custom(func(t *rapid.T) message.Message { return spoken(t, message.Human) })
	anyResult = rapid.Custom(func(t *rapid.T) message.Message {
		m := spoken(t, message.Tool)
		m.ToolCallID, m.Name = anyID.Draw(t, "call id"), names.Draw(t, "tool")
		m.Status = rapid.SampledFrom([]string{"", message.StatusSuccess, message.StatusError}).Draw(t, "status")
		return m
	})
	anyAnswer = rapid.Custom(func(t *rapid.T) message.Message {
		m := spoken(t, message.AI)
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			c := message.ToolCall{ID: anyID.Draw(t, "id"), Name: names.Draw(t, "tool"), Extra: fields.Draw(t, "extra")}
			if written := args.Draw(t, "args"); written != "" {
				c.Args = json.RawMessage(written)
			}
			m.ToolCalls = append(m.ToolCalls, c)
		}
		for range rapid.IntRange(-3, 2).Draw(t, "invalid calls") {
			m.InvalidToolCalls = append(m.InvalidToolCalls,
				message.InvalidToolCall{ID: anyID.Draw(t, "id"), Name: names.Draw(t, "tool"),
					Args: cutOff.Draw(t, "args"), Error: texts.Draw(t, "error"), Extra: fields.Draw(t, "extra")})
		}
		return m
	})
	anything = rapid.Custom(func(t *rapid.T) message.Message {
		switch rapid.IntRange(0, 9).Draw(t, "role") {
		case 0, 1, 2:
			return anyHuman.Draw(t, "human")
		case 3, 4, 5:
			return anyAnswer.Draw(t, "ai")
		case 6, 7:
			return anyResult.Draw(t, "tool")
		case 8:
			return spoken(t, message.System)
		}
		return message.Message{ID: anyID.Draw(t, "removed"), Role: message.Remove}
	})
)

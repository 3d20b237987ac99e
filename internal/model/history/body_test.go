package history

import (
	"strings"
	"testing"
)

// TestBodies: what the vendors' pages show as right passes, and each documented error is found.
func TestBodies(t *testing.T) {
	const (
		chatCall = `{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"abcdefghi","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		chatDone = chatCall + `,{"role":"tool","tool_call_id":"abcdefghi","content":"r"}`
		use      = `{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"f","input":{}}]}`
		used     = `{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"r"},{"type":"image","source":{}}]}`
		called   = `{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"text":"hm","thought":true},{"functionCall":{"name":"f","args":{}},"thoughtSignature":"s"}]}`
		response = `{"functionResponse":{"name":"f","response":{"output":"r"}}}`
	)
	for _, c := range []struct {
		name, vendor, list, want string
	}{
		{"a turn", "openai", chatDone, ""},
		{"an image", "openai",
			`{"role":"user","content":[{"type":"text","text":"q"},{"type":"image_url","image_url":{"url":"u"}}]}`, ""},
		{"nothing", "openai", ``, "no messages"},
		{"no result", "openai", chatCall, "1 calls have no result at the end"},
		{"a user between", "openai", chatCall + `,{"role":"user","content":"q"}`, "1 calls have no result"},
		{"an orphan", "openai", `{"role":"tool","tool_call_id":"a","content":"r"}`, "a result without a call"},
		{"a long id", "openai", strings.ReplaceAll(chatDone, "abcdefghi", strings.Repeat("a", 65)), "call id"},
		{"a tool's name", "openai", strings.ReplaceAll(chatDone, `"name":"f"`, `"name":"a.b"`), "tool"},
		{"a speaker's name", "openai", `{"role":"user","name":"a b","content":"q"}`, "speaker"},
		{"null content", "openai", `{"role":"assistant","content":null}`, "content is null"},
		{"arguments", "openai", strings.ReplaceAll(chatDone, `"arguments":"{}"`, `"arguments":"{"`), "arguments"},
		{"an image of a tool", "openai", chatCall +
			`,{"role":"tool","tool_call_id":"abcdefghi","content":[{"type":"image_url","image_url":{"url":"u"}}]}`,
			"an image"},
		{"a block of another vendor", "openai", `{"role":"user","content":[{"type":"document"}]}`,
			`a block of type "document"`},
		{"a role", "openai", `{"role":"human","content":"q"}`, "role"},
		{"a turn", "mistral", chatDone, ""},
		{"a user behind a tool", "mistral", chatDone + `,{"role":"user","content":"q"}`, "a user behind a tool"},
		{"an answer last", "mistral", `{"role":"user","content":"q"},{"role":"assistant","content":"a"}`,
			"the last message"},
		{"an id", "mistral", strings.ReplaceAll(chatDone, "abcdefghi", "call_1"), "call id"},
		{"an empty answer", "mistral",
			`{"role":"user","content":"q"},{"role":"assistant","content":""},{"role":"user","content":"q"}`,
			"no content"},
		{"a later system message", "mistral", `{"role":"user","content":"q"},{"role":"system","content":"s"}`,
			"a system message behind others"},
		{"a turn", "anthropic", use + `,{"role":"user","content":[` + used + `,{"type":"text","text":"q"}]}`, ""},
		{"thinking",
			"anthropic", `{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":"a"}]},{"role":"user","content":"q"}`, ""},
		{"thinking alone",
			"anthropic", `{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"}]},{"role":"user","content":"q"}`, "no content"},
		{"unsigned thinking",
			"anthropic",
			`{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"a"}]}`, "block"},
		{"nothing", "anthropic", ``, "the last message"},
		{"an answer first", "anthropic", `{"role":"assistant","content":"a"},{"role":"user","content":"q"}`,
			"the first message"},
		{"an empty list", "anthropic", `{"role":"user","content":[]}`, "content []"},
		{"a blank text", "anthropic", `{"role":"user","content":[{"type":"text","text":" "}]}`, "a blank text"},
		{"a prefilled answer", "anthropic", `{"role":"user","content":"q"},{"role":"assistant","content":"a"}`,
			"the last message"},
		{"no result", "anthropic", use + `,{"role":"user","content":"q"}`, "0 results for 1 calls"},
		{"a result behind a text", "anthropic", use + `,{"role":"user","content":[{"type":"text","text":"q"},` + used +
			`]}`, "behind other blocks"},
		{"an orphan", "anthropic", `{"role":"user","content":[` + used + `]}`, "a result without a call"},
		{"an id twice", "anthropic", use + `,{"role":"user","content":[` + used + `]},` + use +
			`,{"role":"user","content":[` + used + `]}`, "twice"},
		{"an input", "anthropic", strings.ReplaceAll(use, `"input":{}`, `"input":[]`), "input"},
		{"a system message", "anthropic", `{"role":"system","content":"s"}`, "role"},
		{"a turn", "gemini", called + `,{"role":"user","parts":[` + response + `]}`, ""},
		{"users side by side",
			"gemini",
			`{"role":"user","parts":[{"text":"q"}]},{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":""}}]}`, ""},
		{"no parts", "gemini", `{"role":"user","parts":[]}`, "no parts"},
		{"an empty text", "gemini", `{"role":"user","parts":[{"text":""}]}`, "a blank text"},
		{"no kind", "gemini", `{"role":"user","parts":[{}]}`, "0 kinds"},
		{"a call first", "gemini", strings.TrimPrefix(called, `{"role":"user","parts":[{"text":"q"}]},`),
			"the first message"},
		{"two answers",
			"gemini",
			`{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"a"}]}`, "two messages of one role"},
		{"too many responses", "gemini", called + `,{"role":"user","parts":[` + response + `,` + response + `]}`,
			"2 results for 1 calls"},
		{"another function", "gemini", called + `,{"role":"user","parts":[` +
			strings.ReplaceAll(response, `"f"`, `"g"`) + `]}`, "result of"},
		{"a response that is no object", "gemini", called +
			`,{"role":"user","parts":[{"functionResponse":{"name":"f","response":"r"}}]}`, "no object"},
		{"a user's call", "gemini", `{"role":"user","parts":[{"functionCall":{"name":"f"}}]}`, "in the role"},
		{"a name", "gemini", strings.ReplaceAll(called, `"name":"f"`, `"name":"1f"`), "tool"},
	} {
		t.Run(c.vendor+"/"+c.name, func(t *testing.T) {
			checks := map[string]func([]byte) error{
				"openai": OpenAIBody, "mistral": MistralBody, "anthropic": AnthropicBody, "gemini": GeminiBody}
			member := "messages"
			if c.vendor == "gemini" {
				member = "contents"
			}
			err := checks[c.vendor]([]byte(`{"` + member + `":[` + c.list + `]}`))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

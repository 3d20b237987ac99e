package wires

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/models/responses"
	"github.com/pudu-ai/pudu/model"
)

func openItems(address, name string, c *http.Client) model.ChatModel {
	thinking := true
	return responses.New(responses.Config{
		Name: "bench", BaseURL: address + "/v1", Model: name, APIKey: "none", Client: c,
		Settings: model.Settings{Thinking: &thinking},
	})
}

// itemsAnswer begins with a reasoning item, which the next request repeats.
func itemsAnswer(a Answer, calls *int, prompt int) string {
	var b strings.Builder
	event := func(name, format string, args ...any) {
		b.WriteString("event: " + name + "\ndata: {\"type\":\"" + name + `",` + fmt.Sprintf(format, args...) + "}\n\n")
	}
	n := 0
	done := func(item string, args ...any) {
		event("response.output_item.done", `"output_index":%d,"item":%s`, n, fmt.Sprintf(item, args...))
		n++
	}
	event("response.created",
		`"response":{"id":"r","object":"response","status":"in_progress","model":"bench","output":[]}`)
	done(`{"type":"reasoning","id":"rs_%d","summary":[{"type":"summary_text","text":"thought %d"}],`+
		`"encrypted_content":"Y29udGVudA%d"}`, *calls, *calls, *calls)
	if a.Text != "" {
		event("response.output_item.added", `"output_index":%d,"item":{"type":"message","id":"msg_%d",`+
			`"status":"in_progress","role":"assistant","content":[]}`, n, *calls)
		for _, word := range a.words() {
			event("response.output_text.delta", `"item_id":"msg_%d","output_index":%d,"content_index":0,`+
				`"delta":%s,"logprobs":[],"obfuscation":"aZ3kQ"`, *calls, n, strconv.Quote(word))
		}
		done(`{"type":"message","id":"msg_%d","status":"completed","role":"assistant",`+
			`"content":[{"type":"output_text","text":%s,"annotations":[]}]}`, *calls, strconv.Quote(a.Text))
	}
	for _, c := range a.Calls {
		*calls++
		done(`{"type":"function_call","id":"fc_%d","status":"completed","call_id":"call_%d","name":%q,"arguments":%s}`,
			*calls, *calls, c.Tool, strconv.Quote(c.Args))
	}
	event("response.completed", `"response":{"id":"r","object":"response","status":"completed","model":"bench",`+
		`"usage":{"input_tokens":%d,"output_tokens":60,"total_tokens":%d}}`, prompt, prompt+60)
	return b.String()
}

// itemsPrefix has the tools and the instructions before the items.
func itemsPrefix(body []byte) []byte { return members(body, "tools", "instructions", "input") }

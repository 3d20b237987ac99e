package promptbench

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/models/anthropic"
	"github.com/pudu-ai/pudu/internal/models/openai"
	"github.com/pudu-ai/pudu/internal/rawjson"
	"github.com/pudu-ai/pudu/model"
)

// Wire is the way in which a provider puts the conversation.
type Wire struct {
	// Name is the provider's package.
	Name string
	// open makes the provider's model, which sends to the transport.
	open func(name string, to http.RoundTripper) model.ChatModel
	// answer is the stream of an answer to a request of so many tokens. It numbers its calls on from calls.
	answer func(a answer, calls *int, prompt int) string
	// prefix is the part of a body that the next one should begin with, in the order in which the provider's cache takes it.
	prefix func(body []byte) []byte
}

const nowhere = "http://model.invalid"

// Wires are those of all providers, the one of chat completions first.
func Wires() []Wire {
	return []Wire{
		{"openai", openChat, chatAnswer, chatPrefix},
		{"anthropic", openMessages, messagesAnswer, messagesPrefix},
	}
}

func openChat(name string, to http.RoundTripper) model.ChatModel {
	return openai.New(openai.Config{Name: "bench", BaseURL: nowhere + "/v1", Model: name, Dialect: "openai", Client: &http.Client{Transport: to}})
}

func chatAnswer(a answer, calls *int, prompt int) string {
	var b strings.Builder
	b.WriteString(`data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":` + strconv.Quote(a.text))
	finish := "stop"
	for i, c := range a.calls {
		sep := ","
		if i == 0 {
			sep, finish = `,"tool_calls":[`, "tool_calls"
		}
		*calls++
		fmt.Fprintf(&b, `%s{"index":%d,"id":"call_%d","type":"function","function":{"name":%q,"arguments":%q}}`, sep, i, *calls, c.tool, c.args)
	}
	if len(a.calls) > 0 {
		b.WriteString("]")
	}
	b.WriteString(`},"finish_reason":"` + finish + `"}]}` + "\n\n")
	fmt.Fprintf(&b, `data: {"id":"c","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":60,"total_tokens":%d}}`, prompt, prompt+60)
	b.WriteString("\n\ndata: [DONE]\n\n")
	return b.String()
}

// chatPrefix is all up to the bracket that closes the messages, which stand last.
func chatPrefix(body []byte) []byte {
	if i := bytes.LastIndex(body, []byte("]")); i >= 0 {
		return body[:i]
	}
	return body
}

func openMessages(name string, to http.RoundTripper) model.ChatModel {
	thinking := true
	return anthropic.New(anthropic.Config{
		Name: "bench", BaseURL: nowhere, Model: name, Client: &http.Client{Transport: to}, Settings: model.Settings{Thinking: &thinking},
	})
}

// messagesAnswer begins with a signed thought, as all answers do while thinking is on.
func messagesAnswer(a answer, calls *int, prompt int) string {
	var b strings.Builder
	event := func(name, format string, args ...any) {
		b.WriteString("event: " + name + "\ndata: " + fmt.Sprintf(format, args...) + "\n\n")
	}
	event("message_start", `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"bench","content":[],"usage":{"input_tokens":%d,"output_tokens":1}}}`, prompt)
	n := 0
	block := func(start string, deltas ...string) {
		event("content_block_start", `{"type":"content_block_start","index":%d,"content_block":%s}`, n, start)
		for _, d := range deltas {
			event("content_block_delta", `{"type":"content_block_delta","index":%d,"delta":%s}`, n, d)
		}
		event("content_block_stop", `{"type":"content_block_stop","index":%d}`, n)
		n++
	}
	block(`{"type":"thinking","thinking":"","signature":""}`,
		fmt.Sprintf(`{"type":"thinking_delta","thinking":"thought %d"}`, *calls), fmt.Sprintf(`{"type":"signature_delta","signature":"c2lnbmF0dXJl%d"}`, *calls))
	if a.text != "" {
		block(`{"type":"text","text":""}`, `{"type":"text_delta","text":`+strconv.Quote(a.text)+`}`)
	}
	finish := "end_turn"
	for _, c := range a.calls {
		*calls++
		finish = "tool_use"
		block(fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":%q,"input":{}}`, *calls, c.tool),
			`{"type":"input_json_delta","partial_json":`+strconv.Quote(c.args)+`}`)
	}
	event("message_delta", `{"type":"message_delta","delta":{"stop_reason":%q},"usage":{"output_tokens":60}}`, finish)
	event("message_stop", `{"type":"message_stop"}`)
	return b.String()
}

// cacheMark is where a cache is to end: a mark says nothing to the model, and moves on with the conversation.
const cacheMark = `"cache_control":{"type":"ephemeral"}`

// messagesPrefix has the tools before the system prompt, as the documentation of the cache does.
func messagesPrefix(body []byte) []byte {
	for _, mark := range []string{"," + cacheMark, cacheMark + ","} {
		body = bytes.ReplaceAll(body, []byte(mark), nil)
	}
	return members(body, "tools", "system", "messages")
}

// members are those of an object, one behind the other; the last is an open list.
func members(body []byte, names ...string) []byte {
	all, ok := rawjson.Members(body)
	if !ok {
		return body
	}
	var b []byte
	for _, name := range names {
		b = append(append(b, name+":"...), all[name]...)
	}
	return bytes.TrimSuffix(b, []byte("]"))
}

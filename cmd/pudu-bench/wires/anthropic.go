package wires

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/models/anthropic"
	"github.com/pudu-ai/pudu/model"
)

func openMessages(address, name string, c *http.Client) model.ChatModel {
	thinking := true
	return anthropic.New(anthropic.Config{
		Name: "bench", BaseURL: address, Model: name, APIKey: "none", Client: c,
		Settings: model.Settings{Thinking: &thinking},
	})
}

// messagesAnswer begins with a signed thought, as all answers do while thinking is on.
func messagesAnswer(a Answer, calls *int, prompt int) string {
	var b strings.Builder
	event := func(name, format string, args ...any) {
		b.WriteString("event: " + name + "\ndata: " + fmt.Sprintf(format, args...) + "\n\n")
	}
	event("message_start", `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant",`+
		`"model":"bench","content":[],"usage":{"input_tokens":%d,"output_tokens":1}}}`, prompt)
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
		fmt.Sprintf(`{"type":"thinking_delta","thinking":"thought %d"}`, *calls),
		fmt.Sprintf(`{"type":"signature_delta","signature":"c2lnbmF0dXJl%d"}`, *calls))
	if words := a.words(); len(words) > 0 {
		for i, word := range words {
			words[i] = `{"type":"text_delta","text":` + strconv.Quote(word) + `}`
		}
		block(`{"type":"text","text":""}`, words...)
	}
	finish := "end_turn"
	for _, c := range a.Calls {
		*calls++
		finish = "tool_use"
		block(fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":%q,"input":{}}`, *calls, c.Tool),
			`{"type":"input_json_delta","partial_json":`+strconv.Quote(c.Args)+`}`)
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
	return openTurn(members(body, "tools", "system", "messages"))
}

package prompts

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/models/openai"
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
		{"responses", openItems, itemsAnswer, itemsPrefix},
		{"anthropic", openMessages, messagesAnswer, messagesPrefix},
		{"gemini", openContents, contentsAnswer, contentsPrefix},
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

// openTurn leaves the last message of the list open too: what the same side says next goes into it, block behind block.
func openTurn(list []byte) []byte { return bytes.TrimSuffix(list, []byte("]}")) }

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

// Package wires plays the providers' side: how each of them streams an answer, and what of a request its cache can use.
// The events are those of the vendors' documentation.
package wires

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
	// Open makes the provider's model of a server.
	Open func(address, name string, c *http.Client) model.ChatModel
	// Answer is the stream of an answer to a request of so many tokens, an event for each word of its text. It numbers
	// its calls on from calls.
	Answer func(a Answer, calls *int, prompt int) string
	// Prefix is the part of a body that the next one should begin with, in the order in which the provider's cache
	// takes it.
	Prefix func(body []byte) []byte
}

// Answer is one of the model's: text, calls, or both.
type Answer struct {
	Text  string
	Calls []Call
}

// Call is a call of a tool with its arguments, an object of JSON.
type Call struct{ Tool, Args string }

// words are the pieces of the text.
func (a Answer) words() (list []string) {
	for word := range strings.SplitAfterSeq(a.Text, " ") {
		if word != "" {
			list = append(list, word)
		}
	}
	return list
}

// All are those of all providers, the one of chat completions first.
func All() []Wire {
	return []Wire{
		{"openai", openChat, chatAnswer, chatPrefix},
		{"responses", openItems, itemsAnswer, itemsPrefix},
		{"anthropic", openMessages, messagesAnswer, messagesPrefix},
		{"gemini", openContents, contentsAnswer, contentsPrefix},
	}
}

func openChat(address, name string, c *http.Client) model.ChatModel {
	return openai.New(openai.Config{
		Name: "bench", BaseURL: address + "/v1", Model: name, APIKey: "none", Dialect: "openai", Client: c,
	})
}

func chatAnswer(a Answer, calls *int, prompt int) string {
	var b strings.Builder
	chunk := func(choices, usage string) {
		b.WriteString(`data: {"id":"c","object":"chat.completion.chunk","created":1767323045,"model":"bench",` +
			`"choices":[` + choices + "]" + usage + "}\n\n")
	}
	delta := func(d, finish string) { chunk(`{"index":0,"delta":`+d+`,"finish_reason":`+finish+"}", "") }
	for _, word := range a.words() {
		delta(`{"content":`+strconv.Quote(word)+"}", "null")
	}
	finish := `"stop"`
	for i, c := range a.Calls {
		*calls++
		finish = `"tool_calls"`
		delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"call_%d","type":"function","function":{"name":%q,`+
			`"arguments":%q}}]}`,
			i, *calls, c.Tool, c.Args), "null")
	}
	delta("{}", finish)
	chunk("", fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"completion_tokens":60,"total_tokens":%d}`, prompt, prompt+60))
	return b.String() + "data: [DONE]\n\n"
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

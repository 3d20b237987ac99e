package wires

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/models/gemini"
	"github.com/pudu-ai/pudu/model"
)

func openContents(address, name string, c *http.Client) model.ChatModel {
	thinking := true
	return gemini.New(gemini.Config{
		Name: "bench", BaseURL: address, Model: "gemini-3-" + name, APIKey: "none", Client: c,
		Settings: model.Settings{Thinking: &thinking},
	})
}

// contentsAnswer signs the first of its calls, or the last word of its text.
func contentsAnswer(a Answer, calls *int, prompt int) string {
	sign := fmt.Sprintf(`,"thoughtSignature":"c2lnbmF0dXJl%d"`, 1000+*calls)
	parts := []string{fmt.Sprintf(`{"text":"thought %d","thought":true}`, *calls)}
	words := a.words()
	for i, word := range words {
		part := `{"text":` + strconv.Quote(word)
		if len(a.Calls) == 0 && i == len(words)-1 {
			part += sign
		}
		parts = append(parts, part+"}")
	}
	for _, c := range a.Calls {
		*calls++
		call := fmt.Sprintf(`{"functionCall":{"id":"call-%d","name":%q,"args":%s}`, *calls, c.Tool, c.Args)
		parts, sign = append(parts, call+sign+"}"), ""
	}
	var b strings.Builder
	for i, part := range parts {
		finish := ""
		if i == len(parts)-1 {
			finish = `,"finishReason":"STOP"`
		}
		fmt.Fprintf(&b, `data: {"candidates":[{"index":0,"content":{"role":"model","parts":[%s]}%s}],"usageMetadata":`+
			`{"promptTokenCount":%d,"candidatesTokenCount":60,"totalTokenCount":%d},"modelVersion":"bench",`+
			`"responseId":"r"}`+"\n\n",
			part, finish, prompt, prompt+60)
	}
	return b.String()
}

// contentsPrefix has the system prompt and the tools before the contents.
func contentsPrefix(body []byte) []byte {
	return openTurn(members(body, "systemInstruction", "tools", "contents"))
}

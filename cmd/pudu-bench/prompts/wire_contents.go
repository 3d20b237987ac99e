package prompts

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/models/gemini"
	"github.com/pudu-ai/pudu/model"
)

func openContents(name string, to http.RoundTripper) model.ChatModel {
	thinking := true
	return gemini.New(gemini.Config{
		Name: "bench", BaseURL: nowhere, Model: "gemini-3-" + name, Client: &http.Client{Transport: to}, Settings: model.Settings{Thinking: &thinking},
	})
}

// contentsAnswer signs the first of its calls, or its text.
func contentsAnswer(a answer, calls *int, prompt int) string {
	sign := fmt.Sprintf(`"thoughtSignature":"c2lnbmF0dXJl%d"`, 1000+*calls)
	parts := []string{fmt.Sprintf(`{"text":"thought %d","thought":true}`, *calls)}
	if a.text != "" {
		text := `{"text":` + strconv.Quote(a.text)
		if len(a.calls) == 0 {
			text += "," + sign
		}
		parts = append(parts, text+"}")
	}
	for i, c := range a.calls {
		*calls++
		call := fmt.Sprintf(`{"functionCall":{"id":"call-%d","name":%q,"args":%s}`, *calls, c.tool, c.args)
		if i == 0 {
			call += "," + sign
		}
		parts = append(parts, call+"}")
	}
	return fmt.Sprintf(`data: {"candidates":[{"index":0,"content":{"role":"model","parts":[%s]},"finishReason":"STOP"}],`+
		`"usageMetadata":{"promptTokenCount":%d,"candidatesTokenCount":60,"totalTokenCount":%d},"modelVersion":"bench","responseId":"r"}`+"\n\n",
		strings.Join(parts, ","), prompt, prompt+60)
}

// contentsPrefix has the system prompt and the tools before the contents.
func contentsPrefix(body []byte) []byte {
	return openTurn(members(body, "systemInstruction", "tools", "contents"))
}

package goals

import (
	stdbytes "bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"

	"github.com/pudu-ai/pudu/internal/models/openai"
)

// serveAnswers starts a chat-completions server on loopback that streams each answer in so many chunks, each sent at
// once: a call of the tool until the request holds that many of the model's messages, then the last word.
func serveAnswers(steps, chunks int, p prose) *httptest.Server {
	words := make([]string, chunks-1)
	for i := range words {
		words[i] = delta(`{"content":`+strconv.Quote(p.text(35))+`}`, "null")
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		flusher := http.NewResponseController(w)
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(s string) {
			_, _ = io.WriteString(w, s) // a client that left is not missed
			_ = flusher.Flush()
		}
		for _, word := range words {
			send(word)
		}
		send(lastDelta(stdbytes.Count(body, []byte(`"role":"assistant"`)), steps) + usageAndDone)
	}))
}

const usageAndDone = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767323045,"model":"bench","choices":[],` +
	`"usage":{"prompt_tokens":1200,"completion_tokens":200,"total_tokens":1400}}` + "\n\ndata: [DONE]\n\n"

func delta(d, finish string) string {
	return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767323045,"model":"bench",` +
		`"choices":[{"index":0,"delta":` + d + `,"finish_reason":` + finish + `}]}` + "\n\n"
}

func lastDelta(done, steps int) string {
	if done >= steps {
		return delta(`{}`, `"stop"`)
	}
	call := fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":%q,"arguments":%q}}]}`, done, toolName, toolArgs)
	return delta(call, `"tool_calls"`)
}

// serveBytes starts a server that answers each request with the same bytes in one piece.
func serveBytes(body []byte) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body) // the next write fails if this does
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(body)
	}))
}

func clientOf(s *httptest.Server) *openai.Model {
	return openai.New(openai.Config{Name: "bench", BaseURL: s.URL + "/v1", Model: "bench", APIKey: "none", Dialect: "openai"})
}

package goals

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/wires"
)

// serveAnswers starts a chat-completions server on loopback that streams each answer in so many chunks, each sent at
// once: a call of the tool until the request holds that many of the model's messages, then the last word.
func serveAnswers(steps, chunks int, p prose) *httptest.Server {
	last := wires.Answer{}
	for range chunks - 1 {
		last.Text += strings.ReplaceAll(p.text(34), " ", "-") + " "
	}
	step, calls := last, 0
	step.Calls = []wires.Call{{Tool: toolName, Args: toolArgs}}
	var answers []string
	for range steps {
		answers = append(answers, chat().Answer(step, &calls, 1200))
	}
	answers = append(answers, chat().Answer(last, &calls, 1200))
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		done := min(bytes.Count(body, []byte(`"role":"assistant"`)), steps)
		for event := range strings.SplitAfterSeq(answers[done], "\n\n") {
			_, _ = io.WriteString(w, event) // a client that left is not missed
			_ = http.NewResponseController(w).Flush()
		}
	}))
}

// chat is the wire of chat completions.
func chat() wires.Wire { return wires.All()[0] }

// serveBytes starts a server that answers each request with the same bytes in one piece.
func serveBytes(body []byte) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body) // the next write fails if this does
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(body)
	}))
}

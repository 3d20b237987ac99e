package goals

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
	"github.com/pudu-ai/pudu/internal/lib/units"
	"github.com/pudu-ai/pudu/internal/models/anthropic"
	"github.com/pudu-ai/pudu/internal/models/gemini"
	"github.com/pudu-ai/pudu/internal/models/openai"
	"github.com/pudu-ai/pudu/internal/models/responses"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// wire is how a provider streams an answer of text.
type wire struct {
	name string
	open func(url string) model.ChatModel
	// head begins the answer, event has a piece of text, tail ends the answer.
	head, tail string
	event      func(text string) string
}

// wires are those of all providers; the events are what the vendors' documentation shows.
func wires() []wire {
	return []wire{
		{
			name: "openai", tail: delta(`{}`, `"stop"`) + usageAndDone,
			open: func(url string) model.ChatModel {
				return openai.New(openai.Config{Name: "bench", BaseURL: url + "/v1", Model: "bench", APIKey: "none", Dialect: "openai"})
			},
			event: func(text string) string { return delta(`{"content":`+strconv.Quote(text)+`}`, "null") },
		},
		{
			name: "responses",
			head: named("response.created", `"sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"bench","output":[]}`) +
				named("response.output_item.added", `"sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}`),
			tail: named("response.completed", `"sequence_number":9,"response":{"id":"resp_1","object":"response","status":"completed","model":"bench","output":[],"usage":{"input_tokens":1200,"output_tokens":200,"total_tokens":1400}}`),
			open: func(url string) model.ChatModel {
				return responses.New(responses.Config{Name: "bench", BaseURL: url + "/v1", Model: "bench", APIKey: "none"})
			},
			event: func(text string) string {
				return named("response.output_text.delta", `"sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":`+strconv.Quote(text)+`,"logprobs":[],"obfuscation":"aZ3kQ"`)
			},
		},
		{
			name: "anthropic",
			head: named("message_start", `"message":{"id":"msg_1","type":"message","role":"assistant","model":"bench","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1200,"output_tokens":1}}`) +
				named("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`),
			tail: named("content_block_stop", `"index":0`) +
				named("message_delta", `"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":200}`) + "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
			open: func(url string) model.ChatModel {
				return anthropic.New(anthropic.Config{Name: "bench", BaseURL: url, Model: "bench", APIKey: "none"})
			},
			event: func(text string) string {
				return named("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":`+strconv.Quote(text)+`}`)
			},
		},
		{
			name: "gemini", tail: candidate(`{"text":""}`, `"finishReason":"STOP",`),
			open: func(url string) model.ChatModel {
				return gemini.New(gemini.Config{Name: "bench", BaseURL: url, Model: "bench", APIKey: "none"})
			},
			event: func(text string) string { return candidate(`{"text":`+strconv.Quote(text)+`}`, "") },
		},
	}
}

func named(event, fields string) string {
	return "event: " + event + "\ndata: {\"type\":\"" + event + `",` + fields + "}\n\n"
}

func candidate(part, finish string) string {
	return `data: {"candidates": [{"content": {"parts": [` + part + `],"role": "model"},` + finish + `"index": 0}],` +
		`"usageMetadata": {"promptTokenCount": 1200,"candidatesTokenCount": 200,"totalTokenCount": 1400},"modelVersion": "bench","responseId": "r"}` + "\n\n"
}

// answer is a whole answer of so many pieces.
func (w wire) answer(pieces int) string {
	var b strings.Builder
	b.WriteString(w.head)
	for i := range pieces {
		b.WriteString(w.event("word" + strconv.Itoa(i%10) + " "))
	}
	b.WriteString(w.tail)
	return b.String()
}

// measureFirst measures what a provider adds to the wait for the first token: from the call to the first piece, beside
// sending the same body and reading the first bytes of text. The server answers with one piece at once, and keeps the rest
// until the client has left.
func measureFirst(ctx context.Context, _ env, r *measure.Table) error {
	for _, w := range wires() {
		first := w.head + w.event("word ")
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
			_, _ = io.Copy(io.Discard, req.Body)
			rw.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(rw, first)
			_ = http.NewResponseController(rw).Flush()
			<-req.Context().Done()
		}))
		m := w.open(server.URL)
		ask := &model.Request{System: strings.Repeat("You work with care. ", 500), Messages: []message.Message{message.New(message.Human, "count")}}
		through := func(ctx context.Context) ([]time.Duration, error) {
			start := time.Now()
			for c, err := range m.Stream(ctx, ask) {
				if err != nil || c.Text != "" {
					return []time.Duration{time.Since(start)}, err
				}
			}
			return nil, fmt.Errorf("%s: no text came", w.name)
		}
		bare := func(ctx context.Context) ([]time.Duration, error) {
			took, err := firstBytes(ctx, server.URL, len(ask.System), len(first))
			return []time.Duration{took}, err
		}
		took, err := compare(ctx, 50, through, bare)
		server.Close()
		if err != nil {
			return err
		}
		r.Add(measure.Figure{Name: "first token, " + w.name, Unit: units.Seconds, Value: took[0], Beside: took[1]})
		r.Add(measure.Figure{Name: "  what the provider adds to it",
			Unit: units.Seconds, Value: took[0] - took[1], Goal: measure.Within(1e-3)})
	}
	return nil
}

// firstBytes is how long it takes to send a body of one size and to receive so many bytes.
func firstBytes(ctx context.Context, url string, send, receive int) (time.Duration, error) {
	start := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(strings.Repeat("x", send)))
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.ReadFull(resp.Body, make([]byte, receive))
	return time.Since(start), err
}

package goals

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
	"github.com/pudu-ai/pudu/cmd/pudu-bench/wires"
	"github.com/pudu-ai/pudu/internal/lib/units"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// wordsAnswer is an answer of so many words.
func wordsAnswer(w wires.Wire, words int) string {
	calls := 0
	return w.Answer(wires.Answer{Text: strings.Repeat("word ", words)}, &calls, 1200)
}

// measureFirst measures what a provider adds to the wait for the first token: from the call to the first piece, beside
// sending the same body and reading the first bytes of text. The server answers with one piece at once, and keeps the
// rest until the client has left.
func measureFirst(ctx context.Context, _ env, r *measure.Table) error {
	for _, w := range wires.All() {
		first := wordsAnswer(w, 2)
		text := strings.Index(first, "word ")
		first = first[:text+strings.Index(first[text:], "\n\n")+2]
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
			_, _ = io.Copy(io.Discard, req.Body)
			rw.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(rw, first)
			_ = http.NewResponseController(rw).Flush()
			<-req.Context().Done()
		}))
		m := w.Open(server.URL, "bench", nil)
		ask := &model.Request{System: strings.Repeat("You work with care. ", 500),
			Messages: []message.Message{message.New(message.Human, "count")}}
		through := func(ctx context.Context) ([]time.Duration, error) {
			start := time.Now()
			for c, err := range m.Stream(ctx, ask) {
				if err != nil || c.Text != "" {
					return []time.Duration{time.Since(start)}, err
				}
			}
			return nil, fmt.Errorf("%s: no text came", w.Name)
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
		r.Add(measure.Figure{Name: "first token, " + w.Name, Unit: units.Seconds, Value: took[0], Beside: took[1]})
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

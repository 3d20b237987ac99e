package gemini

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// TestAnEventCostsLittle bounds what an event of text allocates; the budget from socket to event is 12.
func TestAnEventCostsLittle(t *testing.T) {
	s := &stream{origin: &wire.Origin{Provider: "gemini"}}
	const events = 1000
	first, _, _ := bytes.Cut(textStream([]string{" token", ""}), []byte("\n\n"))
	body := bytes.Repeat(append(first, "\n\n"...), events)
	n := testing.AllocsPerRun(10, func() {
		_ = s.origin.Read(bytes.NewReader(body), s, func(message.Chunk, error) bool { return true })
	}) / events
	if n > 3 {
		t.Errorf("%v allocations for one event of text, want at most 3", n)
	}
}

func BenchmarkStreamedToken(b *testing.B) {
	const tokens = 1000
	texts := make([]string, tokens)
	for i := range texts {
		texts[i] = " token"
	}
	body := textStream(texts)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write(body) }))
	defer srv.Close()
	m := New(Config{BaseURL: srv.URL, Model: "m"})
	b.ReportAllocs()
	for b.Loop() {
		if got, err := model.Collect(m.Stream(b.Context(), &model.Request{})); err != nil ||
			len(got.Text()) != 6*tokens {
			b.Fatal(len(got.Text()), err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/tokens, "ns/token")
}

package responses

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// body is the request that a model sends.
func body(cfg Config, req *model.Request) string { return string(New(cfg).encode(req)) }

// play reads an answer of these events.
func play(events ...string) ([]message.Chunk, error) {
	var chunks []message.Chunk
	s := &stream{origin: &wire.Origin{Provider: "openai", Model: "m"}}
	err := s.origin.Read(strings.NewReader("data: "+strings.Join(events, "\n\ndata: ")+"\n\n"), s,
		func(c message.Chunk, _ error) bool {
			chunks = append(chunks, c)
			return true
		})
	return chunks, err
}

// hear is the message of an answer, as it comes back from the store.
func hear(t testing.TB, events ...string) message.Message {
	t.Helper()
	chunks, err := play(events...)
	if err != nil {
		t.Fatal(err)
	}
	return stored(t, fold(chunks))
}

func fold(chunks []message.Chunk) message.Message {
	var b message.Builder
	for _, c := range chunks {
		b.Add(c)
	}
	return b.Message()
}

// fataler is what tests and properties have in common.
type fataler interface {
	Fatal(args ...any)
	Helper()
}

func stored(t fataler, m message.Message) (out message.Message) {
	t.Helper()
	data, err := m.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return out
}

// inputOf is what a request has as its input.
func inputOf(t fataler, body string) (items []json.RawMessage) {
	t.Helper()
	var in struct{ Input []json.RawMessage }
	if err := json.Unmarshal([]byte(body), &in); err != nil {
		t.Fatal(err, body)
	}
	return in.Input
}

// joined are items as one text.
func joined(items []json.RawMessage) string {
	var b strings.Builder
	for _, it := range items {
		b.Write(it)
		b.WriteByte('\n')
	}
	return b.String()
}

const completed = `{"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","model":"m-1","error":null,"incomplete_details":null,"output":[],"usage":null}}`

// itemDone is the event that brings a complete item.
func itemDone(index, item string) string {
	return `{"type":"response.output_item.done","output_index":` + index + `,"item":` + item + `}`
}

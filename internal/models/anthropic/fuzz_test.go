package anthropic

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// FuzzCommon: what the short way reads, encoding/json reads alike.
func FuzzCommon(f *testing.F) {
	for _, s := range []string{
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello, w\u00f6rld"}}`,
		` { "delta" : {"partial_json":"{\"a\":\"\\n","type":"input_json_delta"} , "index" : 12,"type":"content_block_delta" } `,
		`{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"a\tä\/"},"index":2}`,
		`{"type":"content_block_delta","delta":{"type":"text_delta","text":"\q"}}`, `{"type":"content_block_delta","index":01,"delta":{}}`,
		`{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"},"delta":{"type":"text_delta"}}`, `{"type":"ping"}`, `{`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var short, long event
		if !common(data, &short) {
			return
		}
		if err := json.Unmarshal(data, &long); err != nil {
			t.Fatalf("no JSON: %v", err)
		}
		if d := cmp.Diff(long, short); d != "" {
			t.Errorf("(-encoding/json +common)\n%s", d)
		}
	})
}

// FuzzStream: an answer of any bytes ends in a message or an error, however its bytes come, and a message that came
// whole becomes a valid request.
func FuzzStream(f *testing.F) {
	files, _ := filepath.Glob("testdata/modeltest/*.http")
	more, _ := filepath.Glob("testdata/answers/*.sse")
	for _, file := range append(files, more...) {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if _, answer, ok := bytes.Cut(raw, []byte("\n\n")); ok && filepath.Ext(file) == ".http" {
			raw = answer
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		whole, err := readAll(bytes.NewReader(answer))
		pieces, errPieces := readAll(iotest.OneByteReader(bytes.NewReader(answer)))
		if (err == nil) != (errPieces == nil) {
			t.Fatalf("whole: %v, in pieces: %v", err, errPieces)
		}
		if d := cmp.Diff(whole, pieces); d != "" {
			t.Fatalf("(-whole +pieces)\n%s", d)
		}
		if err != nil {
			return
		}
		body, _, err := New(Config{}).encode(&model.Request{Messages: []message.Message{whole}})
		if err != nil || !json.Valid(body) {
			t.Fatalf("%v: %s", err, body)
		}
	})
}

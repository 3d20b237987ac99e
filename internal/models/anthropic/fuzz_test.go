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

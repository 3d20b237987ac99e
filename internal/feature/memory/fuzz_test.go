package memory_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/feature/memory"
)

// FuzzParseFact: a file of a fact is refused, or what was read of it is written and read alike.
func FuzzParseFact(f *testing.F) {
	f.Add("---\nid: fact_1\ncategory: context\nconfidence: 0.9\nsource: {type: manual}\n---\n\n# Likes tea\n\nLikes tea\n")
	f.Add("\ufeff---\r\nid: a\r\nconfidence: .nan\r\nsource: {type: conversation, threadId: manual}\r\n---\r\n# only a title")
	f.Add("---\nid: &a a\ntopics: [*a, '---', \"\\x00\"]\n---\n#\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		fact, err := memory.ParseFact([]byte(text))
		if err != nil || fact.Content == "" {
			return
		}
		once := again(t, fact)
		if once.ID != fact.ID || once.Content != fact.Content {
			t.Errorf("read %q %q, written and read %q %q", fact.ID, fact.Content, once.ID, once.Content)
		}
		if diff := cmp.Diff(once, again(t, once), sameNumber); diff != "" {
			t.Error(diff)
		}
	})
}

// sameNumber takes what is no number for itself.
var sameNumber = cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })

func again(t *testing.T, fact memory.FactDoc) memory.FactDoc {
	t.Helper()
	raw, err := fact.File()
	if err != nil {
		t.Fatal(err)
	}
	if fact, err = memory.ParseFact(raw); err != nil {
		t.Fatalf("%v in %q", err, raw)
	}
	return fact
}

// FuzzParseDocument: a document is refused, or can be written, and its files can be read, or an id that is no name of a
// file is named.
func FuzzParseDocument(f *testing.F) {
	f.Add(`{"version":"2.0","facts":[{"id":"a","content":"b","source":{"type":"manual"},"confidence":null}],"user":{"workContext":{"summary":"s"}}}`)
	f.Add(`{"facts":[{"id":"../a","content":"b","scope":{"agentName":"../../x"}}]}`)
	f.Add(`{"facts":[{"id":"a","content":"# b\n---\n","source":"thread"}]} {}`)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := memory.ParseDocument([]byte(text))
		if err != nil {
			return
		}
		raw, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := memory.ParseDocument(raw); err != nil {
			t.Errorf("%v in %s", err, raw)
		}
		files, err := d.Files()
		if err != nil {
			return
		}
		for name := range files {
			if strings.Contains(name, "..") || strings.HasPrefix(name, "/") {
				t.Errorf("a file at %q", name)
			}
		}
		if _, err := memory.ReadFolder(mapFS(files)); err != nil {
			t.Error(err)
		}
	})
}

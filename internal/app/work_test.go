package app

import (
	"context"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/tool"
)

// TestEveryKindOfJobIsInTheDocs, with the tries that it has, and every one of the docs is there.
func TestEveryKindOfJobIsInTheDocs(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(raw), "| kind | key | what | tries |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	docs := make(map[string]string) // the tries of each kind
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?`) \\| .* \\| (.*?) \\|$").FindAllStringSubmatch(table, -1) {
		for _, name := range regexp.MustCompile("`(.*?)`").FindAllStringSubmatch(row[1], -1) {
			docs[name[1]] = row[2]
		}
	}
	kinds, err := engineOf(t, &vendor{},
		"models:\n  - {name: main, provider: openai, model: main-1, api_key: k, VENDOR}\n").kinds()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds {
		want := strconv.Itoa(k.Tries)
		if k.Every > 0 {
			want = "for ever"
		}
		if docs[k.Name] != want {
			t.Errorf("docs/operations.md has %q tries of %s, which has %s", docs[k.Name], k.Name, want)
		}
		delete(docs, k.Name)
	}
	for name := range docs {
		t.Errorf("docs/operations.md has %s, which there is not", name)
	}
}

// TestKindsOfAProgramFitToTheOthers, and a tool asks for those alone.
func TestKindsOfAProgramFitToTheOthers(t *testing.T) {
	t.Parallel()
	e := engineOf(t, &vendor{},
		"models:\n  - {name: main, provider: openai, model: main-1, api_key: k, VENDOR, use_responses_api: false}\n")
	do := func(context.Context, job.Job, tool.Env) error { return nil }
	for name, want := range map[string]string{"mail": "", "webhook": `"webhook"`, "clean-up": `"clean-up"`,
		"": "1 to 256"} {
		e.own.Work = []Work{{Kind: job.Kind{Name: name}, Do: do}}
		if _, err := e.kinds(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	e.own.Work = []Work{{Kind: job.Kind{Name: "mail"}}}
	if _, err := e.kinds(); err == nil || !strings.Contains(err.Error(), "Run is missing") {
		t.Errorf("nobody does it: %v", err)
	}
	for kind, want := range map[string]string{"mail": "", "webhook": "mail", "": "mail"} {
		if err := e.later(tool.Job{Kind: kind, Key: "k"}); (err == nil) != (want == "") ||
			err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("asked for %q: %v", kind, err)
		}
	}
	if err := e.later(tool.Job{Kind: "mail"}); err == nil {
		t.Error("a job without a key was taken")
	}
}

package app

import (
	"context"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/tool"
)

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

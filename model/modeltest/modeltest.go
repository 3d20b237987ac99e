// Package modeltest is the suite that every model provider passes. A provider plugs in with a [Harness]: how to make
// its model, and a folder of fixtures that show its vendor's documented answers. The suite serves the fixtures from a
// local HTTP server, in whole or in pieces, cut off or silent, and checks what comes out of the model.
//
// The fixture of a case is "<case>.http": a status line, headers, a blank line and the body, with plain LF line ends.
// All vendors tell the same story in their own shape, so the suite knows what must come out; see the tables in
// answers.go, requests.go and failures.go. Cases that check what is sent have a "<case>.request.json" besides: the
// request body that the vendor documents, compared as JSON.
package modeltest

import (
	"io/fs"
	"net/http"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/model"
)

// Key is the API key that the suite hands out. A provider's errors must not show it; put it into bad_key.http.
const Key = "sk-modeltest-0123456789abcdef"

// ModelName is the vendor's model name that the suite asks for.
const ModelName = "test-model"

// Harness plugs a provider into the suite.
type Harness struct {
	// New makes a model that sends its requests to t.
	New func(t Target) model.ChatModel
	// Fixtures holds the files of the cases, usually os.DirFS("testdata/modeltest").
	Fixtures fs.FS
	// Text writes the vendor's complete answer body that streams these texts, one event each.
	Text func(texts []string) []byte
	// Impossible names the cases that the vendor cannot have, each with the reason.
	Impossible map[string]string
}

// Target is where a model under test sends its requests, and with what.
type Target struct {
	BaseURL string
	Key     string
	Model   string
	// Client must be used, so that the suite can close its connections and look for leaks. It is nil where the
	// provider's own is what is tested.
	Client *http.Client
	// Idle is the idle time-out; 0 means the provider's default.
	Idle time.Duration
}

// Run runs all cases as subtests of t, one after the other.
func Run(t *testing.T, h Harness) {
	known := map[string]bool{}
	run := func(name string, test func(t *testing.T, h Harness)) {
		known[name] = true
		if h.Impossible[name] != "" {
			return
		}
		t.Run(name, func(t *testing.T) { test(t, h) })
	}
	for _, c := range answerCases() {
		run(c.name, c.run)
	}
	for _, c := range requestCases() {
		run(c.name, c.run)
	}
	for _, c := range failureCases() {
		run(c.name, c.run)
	}
	for _, c := range connectionCases() {
		run(c.name, c.run)
	}
	for _, c := range networkCases() {
		run(c.name, c.run)
	}
	for name, reason := range h.Impossible {
		if !known[name] || reason == "" {
			t.Errorf("Impossible names %q with reason %q: no such case, or no reason", name, reason)
		}
	}
}

package llmerror

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/model"
)

// retryEvent is the custom event that announces another try.
type retryEvent struct {
	Type        string `json:"type"`
	Attempt     int    `json:"attempt"` // the try that failed, from 1
	MaxAttempts int    `json:"max_attempts"`
	WaitMS      int64  `json:"wait_ms"`
	Reason      string `json:"reason"`
	Message     string `json:"message"`
	// Detail is what is the matter, in words, with what the provider said.
	Detail string `json:"detail"`
}

// fallbackEvent is the custom event that announces another model.
type fallbackEvent struct {
	Type    string `json:"type"`
	From    string `json:"from"`
	To      string `json:"to"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// queuedEvent is the custom event of a call that waits for its key or for a place among the calls of the process.
type queuedEvent struct {
	Type    string `json:"type"`
	Model   string `json:"model"`
	Ahead   int    `json:"ahead"` // calls before it
	Message string `json:"message"`
}

func (a *asking) announceRetry(failure *model.Error, try, most int, wait time.Duration) {
	a.announce(retryEvent{
		Type: "llm_retry", Attempt: try, MaxAttempts: most, WaitMS: wait.Milliseconds(),
		Reason: string(failure.Class), Message: retryText(failure.Class, try, most, wait),
		Detail: strings.TrimSuffix(troubleOf(failure.Provider+"/"+failure.Model, failure.Class)+"."+quoted(failure),
			"."),
	})
}

// announceFallback says that the model is asked in the place of those that were left. It is said once in a turn, as
// long as the same one answers.
func (a *asking) announceFallback(to *Candidate) {
	name, left := to.name(), a.left
	a.left = nil
	if len(left) == 0 || name == a.answered {
		return
	}
	a.announce(fallbackEvent{
		Type: "llm_fallback", From: a.from, To: name, Reason: string(a.why),
		Message: strings.Join(left, "; ") + "; " + name + " answers",
	})
}

func (a *asking) queued(c *Candidate) func(ahead int) {
	return func(ahead int) {
		a.announce(queuedEvent{
			Type: "llm_queued", Model: c.name(), Ahead: ahead,
			Message: fmt.Sprintf("waiting for a place among the calls of %s; %d before this one", c.name(), ahead),
		})
	}
}

func (a *asking) announce(v any) {
	if a.emit == nil {
		return
	}
	if raw, err := json.Marshal(v); err == nil { // strings and numbers always encode
		a.emit(raw)
	}
}

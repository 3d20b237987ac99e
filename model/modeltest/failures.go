package modeltest

import (
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/model"
)

// failureCase is an answer that is an error.
type failureCase struct {
	name   string
	class  model.Class
	status int // 0: not checked
	wait   time.Duration
	ending ending
}

func failureCases() []failureCase {
	return []failureCase{
		{name: "bad_request", class: model.ClassBadRequest, status: 400},
		{name: "too_long", class: model.ClassContextLength, status: 400},
		{name: "bad_key", class: model.ClassAuth, status: 401},
		{name: "no_credit", class: model.ClassQuota},
		{name: "not_found", class: model.ClassNotFound, status: 404},
		{name: "rate_limit", class: model.ClassRateLimit, status: 429},
		{name: "rate_limit_wait", class: model.ClassRateLimit, status: 429, wait: 7 * time.Second},
		{name: "quota", class: model.ClassQuota, status: 429},
		{name: "server_error", class: model.ClassTransient, status: 500},
		{name: "unavailable", class: model.ClassBusy, status: 503},
		{name: "overloaded", class: model.ClassBusy, status: 529},
		{name: "web_page", class: model.ClassBadRequest, status: 200},
		// Text, then an error inside the stream, which says that the server is overloaded.
		{name: "stream_error", class: model.ClassBusy},
		// Text, then the connection breaks.
		{name: "cut_stream", class: model.ClassTransient, ending: endCut},
		// Text, then a proper end without a finish reason.
		{name: "no_finish", class: model.ClassTransient},
		// The head of a stream, and nothing.
		{name: "empty_stream", class: model.ClassTransient},
		// An event that is no JSON.
		{name: "garbage", class: model.ClassTransient},
	}
}

func (c failureCase) run(t *testing.T, h Harness) {
	a := load(t, h, c.name)
	a.ending = c.ending
	s, m := start(t, h, 0, a)
	_, err := drain(t, m, ask())
	e := model.AsError(err)
	if e == nil {
		t.Fatalf("error %v, want a model.Error", err)
	}
	if e.Class != c.class || c.status != 0 && e.Status != c.status || e.RetryAfter != c.wait {
		t.Errorf("class %s, status %d, wait %v; want %s, %d, %v: %v", e.Class, e.Status, e.RetryAfter, c.class,
			c.status, c.wait, err)
	}
	if e.Message == "" || len(e.Message) > 2000 || e.Provider == "" || e.Model != ModelName {
		t.Errorf("the error is incomplete: %#v", e)
	}
	if strings.Contains(err.Error(), Key) {
		t.Errorf("the error shows the key: %v", err)
	}
	if n := len(s.sent()); n != 1 {
		t.Errorf("%d requests, want 1: a provider does not try again", n)
	}
}

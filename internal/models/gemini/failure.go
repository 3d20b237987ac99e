package gemini

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/model"
)

// maxDelay bounds what a server may ask for, as with Retry-After.
const maxDelay = 24 * time.Hour

// status is google.rpc.Status, which is in every error. What can be done about one is often told by its details alone.
type status struct {
	Status  string   `json:"status"`
	Message string   `json:"message"`
	Details []detail `json:"details"`
}

// detail has the fields of google.rpc.ErrorInfo, RetryInfo and QuotaFailure; which ones count depends on the type.
type detail struct {
	Type       string      `json:"@type"`
	Reason     string      `json:"reason"`
	RetryDelay string      `json:"retryDelay"`
	Violations []violation `json:"violations"`
}

// violation is a quota that is used up.
type violation struct {
	QuotaID string `json:"quotaId"`
}

// refine adds to an error what the status in the answer says.
func refine(e *model.Error, body []byte) { readStatus(body).refine(e) }

// readStatus reads {"error": status}, the bare status, and a list of one of them. Anything else has nothing to add.
func readStatus(body []byte) *status {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &outer) == nil && len(outer.Error) > 0 {
		body = outer.Error
	}
	s := &status{}
	if json.Unmarshal(body, s) != nil {
		return &status{}
	}
	return s
}

// refine adds what the details say: a wrong key has the status of a bad request, an exhausted day that of a rate limit.
func (s *status) refine(e *model.Error) {
	if s.Status != "" {
		e.Code = s.Status
	}
	for i := range s.Details {
		d := &s.Details[i]
		switch {
		case strings.HasPrefix(d.Reason, "API_KEY_"):
			e.Class, e.Code = model.ClassAuth, d.Reason
		case d.RetryDelay != "":
			e.RetryAfter = max(e.RetryAfter, delay(d.RetryDelay))
		case d.perDay() && e.Class == model.ClassRateLimit:
			e.Class = model.ClassQuota
		}
	}
	words := strings.ToLower(s.Message)
	switch {
	case e.Class == model.ClassRateLimit && strings.Contains(words, "credits are depleted"):
		e.Class = model.ClassQuota
	case e.Class == model.ClassBadRequest && strings.Contains(words, "request payload size exceeds"):
		e.Class = model.ClassContextLength
	}
	if e.Class == model.ClassQuota { // the delay is that of the minute's limit, after which the day's still holds
		e.RetryAfter = 0
	}
}

// perDay reports whether a quota of a whole day is used up.
func (d *detail) perDay() bool {
	return slices.ContainsFunc(d.Violations, func(v violation) bool { return strings.Contains(v.QuotaID, "PerDay") })
}

// delay reads a protobuf duration such as "7s" or "34.074824224s".
func delay(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0
	}
	return min(max(d, 0), maxDelay)
}

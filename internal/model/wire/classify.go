package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/model"
)

// Detail is what a provider says about a failure.
type Detail struct {
	Code    string // error.code, as text
	Type    string // error.type or error.status
	Message string
}

// ParseDetail reads the error shapes in use: {"error":{...}}, {"error":"text"}, the bare object, {"detail":...}, and a
// list of one of them. Anything else becomes the message as it is; a web page becomes a short note.
func ParseDetail(body []byte) Detail {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var obj struct {
		Error   json.RawMessage `json:"error"`
		Detail  json.RawMessage `json:"detail"`
		Code    json.RawMessage `json:"code"`
		Type    json.RawMessage `json:"type"`
		Status  json.RawMessage `json:"status"`
		Message json.RawMessage `json:"message"`
	}
	if json.Unmarshal(body, &obj) != nil {
		return Detail{Message: plain(body)}
	}
	if len(obj.Error) > 0 && string(obj.Error) != "null" {
		return ParseDetail(obj.Error)
	}
	d := Detail{Code: text(obj.Code), Type: cmp.Or(text(obj.Type), text(obj.Status)),
		Message: cmp.Or(text(obj.Message), text(obj.Detail))}
	if d.Message == "" && d.Code == "" && d.Type == "" {
		d.Message = plain(body)
	}
	return d
}

// text is a JSON string's content, or the JSON of anything else but null.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func plain(body []byte) string {
	var s string
	if json.Unmarshal(body, &s) == nil {
		return s
	}
	if bytes.HasPrefix(body, []byte("<")) {
		return "the answer is a web page, not an API's"
	}
	return string(body)
}

// Words in codes, types and messages that tell the class better than the status does. They are matched in lower case.
var (
	contextWords = []string{"context_length_exceeded", "context length", "context window", "prompt is too long",
		"input is too long", "maximum context", "too many tokens", "request_too_large", "input token count",
		"reduce the length of the messages", "exceed_context_size", "exceed context limit"}
	quotaWords = []string{"insufficient_quota", "insufficient balance", "insufficient_balance", "credit balance",
		"account balance", "your balance", "billing_error", "billing_hard_limit", "billing_not_active",
		"out of credits",
		"insufficient credits", "arrearage", "payment_required"}
	burstWords = []string{"limit_burst_rate", "burst_rate", "rate increased too quickly"}
	busyWords  = []string{"overloaded", "service_unavailable", "server is busy", "at capacity", "engine_busy"}
)

// Classify sorts a failure by its status and, where they say more, the provider's own words. status 0 means that the
// failure came inside a stream.
func Classify(status int, d Detail) model.Class {
	words := strings.ToLower(d.Code + "\n" + d.Type + "\n" + d.Message)
	if n, err := strconv.Atoi(d.Code); status == 0 && err == nil && n >= 400 && n < 600 {
		status = n
	}
	switch client := status == 0 || status >= 400 && status < 500; {
	case client && status != 401 && status != 429 && has(words, contextWords), status == 413:
		return model.ClassContextLength
	case status == 402, client && status != 401 && has(words, quotaWords):
		return model.ClassQuota
	case client && has(words, burstWords):
		return model.ClassBurst
	}
	if status == 0 {
		return classOfWords(words)
	}
	return classOfStatus(status)
}

func classOfStatus(status int) model.Class {
	switch status {
	case 401, 403:
		return model.ClassAuth
	case 404:
		return model.ClassNotFound
	case 408, 409, 425:
		return model.ClassTransient
	case 429:
		return model.ClassRateLimit
	case 503, 529:
		return model.ClassBusy
	}
	if status >= 500 {
		return model.ClassTransient
	}
	return model.ClassBadRequest
}

// classOfWords sorts an error without a status. What nobody knows is worth another try.
func classOfWords(words string) model.Class {
	switch {
	case has(words, busyWords):
		return model.ClassBusy
	case has(words, []string{"rate_limit", "rate limit", "too many requests", "resource_exhausted"}):
		return model.ClassRateLimit
	case has(words, []string{"authentication_error", "invalid_api_key", "permission_error", "unauthenticated"}):
		return model.ClassAuth
	case has(words, []string{"not_found", "model_not_found"}):
		return model.ClassNotFound
	case has(words, []string{"invalid_request", "invalid_argument", "bad_request"}):
		return model.ClassBadRequest
	}
	return model.ClassTransient
}

func has(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

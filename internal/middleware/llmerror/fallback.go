package llmerror

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// Keys of additional_kwargs of a fallback, beside [message.KeyErrorFallback].
const (
	KeyErrorType   = "error_type"   // a class name as client libraries of model providers have them
	KeyErrorReason = "error_reason" // a model.Class, or ReasonCircuitOpen
	KeyErrorDetail = "error_detail" // the provider's own words
)

// ReasonCircuitOpen is the reason of a fallback for a call that was not made, because the ones before it failed.
const ReasonCircuitOpen = "circuit_open"

// FallbackOf reports whether the message stands in for a failed model call, and why the call failed. A run whose last
// answer is one has failed; its text tells people what to do. One from an earlier run says nothing about this run.
func FallbackOf(m message.Message) (reason string, ok bool) {
	if m.Role != message.AI || !bytes.Equal(m.Kwargs[message.KeyErrorFallback], []byte("true")) {
		return "", false
	}
	if json.Unmarshal(m.Kwargs[KeyErrorReason], &reason) != nil {
		reason = "unknown"
	}
	return reason, true
}

// explain is the answer in the place of the one that no model gave.
func (a *asking) explain() *agent.ModelResponse {
	var text string
	var first *model.Error
	for i, f := range a.failed {
		switch {
		case f == nil:
		case first == nil:
			first, text = f.err, failureText(a.list[i].Model.Name(), f.err, f.tries)
		default:
			text += " " + otherText(a.list[i].name(), f.err)
		}
	}
	detail := cmp.Or(strings.TrimSpace(first.Message), first.Error())
	return respond(text, errorType(first), string(first.Class), detail)
}

func respond(text, typ, reason, detail string) *agent.ModelResponse {
	m := message.New(message.AI, text)
	m.Kwargs = message.Fields{
		message.KeyErrorFallback: json.RawMessage("true"),
		KeyErrorType:             quote(typ),
		KeyErrorReason:           quote(reason),
		KeyErrorDetail:           quote(detail),
	}
	return &agent.ModelResponse{Message: m}
}

// quote encodes a string, which cannot fail.
func quote(s string) json.RawMessage {
	raw, _ := json.Marshal(s)
	return raw
}

// errorType names the failure as clients know it from the libraries of model providers.
func errorType(e *model.Error) string {
	switch e.Class {
	case ReasonCircuitOpen:
		return "CircuitBreakerOpen"
	case model.ClassAuth:
		if e.Status == 403 {
			return "PermissionDeniedError"
		}
		return "AuthenticationError"
	case model.ClassQuota, model.ClassRateLimit, model.ClassBurst:
		return "RateLimitError"
	case model.ClassContextLength:
		return "ContextOverflowError"
	case model.ClassNotFound:
		return "NotFoundError"
	case model.ClassBadRequest:
		return "BadRequestError"
	case model.ClassTooLarge:
		return "APIResponseValidationError"
	}
	if e.Status == 0 {
		return "APIConnectionError"
	}
	return "InternalServerError"
}

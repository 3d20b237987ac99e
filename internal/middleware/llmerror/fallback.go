package llmerror

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"time"

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

// fallback is the answer in place of the one that failed after so many tries.
func fallback(name string, e *model.Error, tries int) *agent.ModelResponse {
	text := failureText(name, e, tries)
	return respond(text, errorType(e), string(e.Class), cmp.Or(strings.TrimSpace(e.Message), e.Error()))
}

func circuitOpen(name string, wait time.Duration) *agent.ModelResponse {
	text := circuitText(name, wait)
	return respond(text, "CircuitBreakerOpen", ReasonCircuitOpen, text)
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
	}
	if e.Status == 0 {
		return "APIConnectionError"
	}
	return "InternalServerError"
}

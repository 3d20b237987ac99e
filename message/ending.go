package message

import (
	"maps"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
)

// FinishReason returns why the model stopped, in the provider's own word: the finish_reason of response_metadata, else
// its stop_reason; "" if it has neither.
func (m *Message) FinishReason() string {
	for _, key := range finishKeys {
		if reason, ok := rawjson.String(m.ResponseMetadata[key]); ok && reason != "" {
			return reason
		}
	}
	return ""
}

var finishKeys = []string{"finish_reason", "stop_reason"}

// lengthReasons are what providers call it when the answer reached the most that the model may write, in lower case.
var lengthReasons = []string{
	"length", "max_tokens", "max_output_tokens", "model_length", "max_length", "model_context_window_exceeded",
	"continuation", // of Gemini
}

// Truncated reports whether the answer ends where it does because it reached a length limit of the model.
func (m *Message) Truncated() bool {
	reason := m.FinishReason()
	return reason != "" && slices.Contains(lengthReasons, strings.ToLower(reason))
}

// rawCallKeys are the keys of additional_kwargs under which some providers keep a copy of the calls.
var rawCallKeys = []string{"tool_calls", "function_call"}

// AsksForTools reports whether the message calls tools: with valid or invalid calls, or only in a provider's own copy.
func (m *Message) AsksForTools() bool {
	if len(m.ToolCalls)+len(m.InvalidToolCalls) > 0 {
		return true
	}
	for _, key := range rawCallKeys {
		switch string(m.Kwargs[key]) {
		case "", "null", "[]", "{}":
		default:
			return true
		}
	}
	return false
}

// WithoutCalls returns the message without its calls and without a provider's copies of them, which would be sent back
// to it. m itself is not changed.
func (m *Message) WithoutCalls() Message {
	out := *m
	out.ToolCalls, out.InvalidToolCalls = nil, nil
	out.Kwargs = maps.Clone(m.Kwargs)
	for _, key := range rawCallKeys {
		delete(out.Kwargs, key)
	}
	return out
}

package safetyfinish

import (
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
)

// Detector tells an answer that a provider stopped for its content by the finish reason.
type Detector struct {
	// Kind is "openai", "anthropic" or "gemini"; another one needs Reasons.
	Kind string
	// Reasons are the finish reasons that count, whatever their case; one that ends with * stands for all that begin
	// like it. None means those that the kind has.
	Reasons []string
}

// name is what clients know the detector as.
func (d Detector) name() string {
	switch d.Kind {
	case "openai":
		return "openai_compatible_content_filter"
	case "anthropic":
		return "anthropic_refusal"
	case "gemini":
		return "gemini_safety"
	}
	return d.Kind
}

func (d Detector) reasons() []string {
	if len(d.Reasons) > 0 {
		return d.Reasons
	}
	switch d.Kind {
	case "openai":
		return []string{"content_filter"}
	case "anthropic":
		return []string{"refusal"}
	case "gemini":
		return []string{"SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "RECITATION", "LANGUAGE", "MODEL_ARMOR",
			"JAILBREAK", "OTHER", "IMAGE_*"}
	}
	return nil
}

// builtIn are the detectors that are used if none are named.
func builtIn() []Detector { return []Detector{{Kind: "openai"}, {Kind: "anthropic"}, {Kind: "gemini"}} }

// finding is what a detector found.
type finding struct{ detector, field, value string }

// find asks the detectors. A provider's word may stand in either field, whoever made the message.
func find(detectors []Detector, m *message.Message) (finding, bool) {
	for _, field := range []string{"finish_reason", "stop_reason"} {
		value, ok := rawjson.String(m.ResponseMetadata[field])
		if !ok || value == "" {
			continue
		}
		for _, d := range detectors {
			if slices.ContainsFunc(d.reasons(), func(r string) bool { return matches(r, value) }) {
				return finding{d.name(), field, value}, true
			}
		}
	}
	return finding{}, false
}

func matches(pattern, value string) bool {
	if start, open := strings.CutSuffix(pattern, "*"); open {
		return len(value) >= len(start) && strings.EqualFold(value[:len(start)], start)
	}
	return strings.EqualFold(pattern, value)
}

package config

import (
	"reflect"
	"strconv"
	"strings"
)

// SafetyFinish says what happens to an answer that the model's provider stopped for its content.
type SafetyFinish struct {
	Enabled bool `key:"enabled"`
	// Detectors are what tells such an answer; nil means all that there are.
	Detectors SafetyDetectors `key:"detectors"`
}

// SafetyDetector tells the stopped answers of one kind of provider.
type SafetyDetector struct {
	// Use is the detector as written; Kind is what it means: [SafetyOpenAI], [SafetyAnthropic] or [SafetyGemini].
	Use    string `key:"use" required:"true"`
	Kind   string
	Config SafetyDetectorConfig `key:"config"`
	Line   int                  `key:"@line"`
}

// SafetyDetectorConfig tunes a detector.
type SafetyDetectorConfig struct {
	// Reasons are the finish reasons that it looks for; none means its own.
	Reasons []string `key:"finish_reasons,stop_reasons"`
}

// The detectors.
const (
	SafetyOpenAI    = "openai"
	SafetyAnthropic = "anthropic"
	SafetyGemini    = "gemini"
)

// safetyClasses are DeerFlow's names of the detectors.
var safetyClasses = map[string]string{
	"OpenAICompatibleContentFilterDetector": SafetyOpenAI,
	"AnthropicRefusalDetector":              SafetyAnthropic,
	"GeminiSafetyDetector":                  SafetyGemini,
}

// SafetyDetectors is a list that must not be empty if it is written. Without entries that can be used it is nil.
type SafetyDetectors []SafetyDetector

var _ custom = (*SafetyDetectors)(nil)

func (list *SafetyDetectors) decode(d *decoder, t *tree, at string) {
	var all []SafetyDetector
	before := len(d.problems)
	d.list(t, at, reflect.ValueOf(&all).Elem(), "")
	if len(d.problems) > before {
		return
	}
	if len(all) == 0 {
		d.failf(t.line, at,
			`is empty, so nothing would be detected: write "enabled: false" for that, or leave it out for all `+
				`detectors`)
		return
	}
	for i := range all {
		if all[i].resolve(d, at+"["+strconv.Itoa(i)+"].use") {
			*list = append(*list, all[i])
		}
	}
}

// resolve finds out what the name means. A class that only DeerFlow's Python could load is left out.
func (s *SafetyDetector) resolve(d *decoder, at string) bool {
	switch s.Use {
	case SafetyOpenAI, SafetyAnthropic, SafetyGemini:
		s.Kind = s.Use
		return true
	}
	module, class, isClass := strings.Cut(s.Use, ":")
	if kind := safetyClasses[class]; kind != "" && strings.HasPrefix(module, "deerflow.") {
		s.Kind = kind
		return true
	}
	known := []string{SafetyOpenAI, SafetyAnthropic, SafetyGemini}
	if isClass {
		d.warnf(s.Line, at, "%s cannot be loaded and is left out; there are %s, each with its finish_reasons", s.Use,
			strings.Join(known, ", "))
		return false
	}
	d.failf(s.Line, at, "%q is not known: one of %s%s", s.Use, strings.Join(known, ", "), suggest(s.Use, known))
	return false
}

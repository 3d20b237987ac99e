package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSettingsOr(t *testing.T) {
	cold, hot, on, off := 0.0, 1.0, true, false
	def := Settings{Temperature: &hot, MaxTokens: 9, Thinking: &on, Effort: "high", NoTools: true}
	for name, tt := range map[string]struct{ s, want Settings }{
		"everything open": {Settings{}, Settings{Temperature: &hot, MaxTokens: 9, Thinking: &on, Effort: "high"}},
		"a senseless bound": {Settings{MaxTokens: -1}, Settings{Temperature: &hot, MaxTokens: 9, Thinking: &on,
			Effort: "high"}},
		"nothing open": {Settings{Temperature: &cold, MaxTokens: 1, Thinking: &off, Effort: "low", NoTools: true},
			Settings{Temperature: &cold, MaxTokens: 1, Thinking: &off, Effort: "low", NoTools: true}},
	} {
		if d := cmp.Diff(tt.want, tt.s.Or(def)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

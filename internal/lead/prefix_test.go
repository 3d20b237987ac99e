package lead_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/internal/config"
)

// TestEveryRequestBeginsAsTheOneBeforeIt: whatever the model answers, the tools bring, the user sends and the clock
// shows, and wherever the program is killed: a request is what the one before it was, and more; and every provider
// takes it.
func TestEveryRequestBeginsAsTheOneBeforeIt(t *testing.T) {
	tell(t, false)
}

// TestOnlyACompactionBreaksThePrefix is the same for threads that are compacted.
func TestOnlyACompactionBreaksThePrefix(t *testing.T) {
	tell(t, true)
}

func tell(t *testing.T, sizes bool) {
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			r.Fatal(err)
		}
		s, done := newStory(r, dir, sizes)
		defer done()
		s.cfg.Settings.Guardrails.Rules = append(s.cfg.Settings.Guardrails.Rules,
			config.GuardrailRule{Tools: config.Words{"careful"}, Action: "ask"})
		s.renew()
		if sizes {
			s.cfg.Settings.Summarization.Trigger = config.Thresholds{{Type: "tokens", Value: 6000},
				{Type: "messages", Value: 25}}
			s.cfg.Settings.Summarization.Keep = config.Threshold{Type: "messages", Value: 6}
		}
		for range rapid.IntRange(1, 5).Draw(r, "turns") {
			s.turn()
		}
		s.check()
	})
}

// check looks at all requests of the story.
func (s *story) check() {
	s.t.Helper()
	for i, req := range s.watch.all {
		for _, f := range strict(req.Request) {
			s.t.Errorf("request %d: %s\n%s", i, f, strings.Join(wire(req.Request), "\n"))
		}
		if i == 0 {
			continue
		}
		before := s.watch.all[i-1]
		if req.compactions != before.compactions || req.images < before.images || slices.Contains(s.refused, i-1) {
			continue
		}
		if why := begins(before.Request, req.Request); why != "" {
			s.t.Fatalf("request %d does not begin as the one before it: %s", i, why)
		}
		if len(req.Tools) != len(before.Tools) {
			s.t.Fatalf("request %d has other tools", i)
		}
	}
}

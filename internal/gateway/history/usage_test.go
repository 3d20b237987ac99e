package history

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/feature/history"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/message"
)

// TestARunThatHasNotAnswered counts as one of a model that is not known yet.
func TestARunThatHasNotAnswered(t *testing.T) {
	u := usageJSON{ByModel: make(map[string]modelJSON)}
	u.add(history.Run{})
	u.add(history.Run{Usage: message.Usage{TotalTokens: 7, InputTokens: 5, OutputTokens: 2},
		Models: map[string]int{"m": 6}})
	want := usageJSON{
		Total: 7, Input: 5, Output: 2, Runs: 2, ByCaller: callersJSON{Lead: 6, Middleware: 1},
		ByModel: map[string]modelJSON{unknown: {Runs: 1}, "m": {Tokens: 7, Runs: 1}},
	}
	if d := cmp.Diff(want, u); d != "" {
		t.Error(d)
	}
}

// TestAReadingIsNoRun: what reading the thread for the memory took is the memory's, beside the runs of the model.
func TestAReadingIsNoRun(t *testing.T) {
	u := usageJSON{ByModel: make(map[string]modelJSON)}
	u.add(history.Run{Usage: message.Usage{TotalTokens: 7, InputTokens: 5, OutputTokens: 2},
		Models: map[string]int{"m": 7}})
	u.read("m", memory.Spent{Input: 30, Output: 3, Total: 33})
	want := usageJSON{
		Total: 40, Input: 35, Output: 5, Runs: 1, ByCaller: callersJSON{Lead: 7, Memory: 33},
		ByModel: map[string]modelJSON{"m": {Tokens: 40, Runs: 1}},
	}
	if d := cmp.Diff(want, u); d != "" {
		t.Error(d)
	}
}

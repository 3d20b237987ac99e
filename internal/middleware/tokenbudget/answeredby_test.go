package tokenbudget

import (
	"encoding/json"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/agent/agenttest"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/model/modelcall"
	"github.com/pudu-ai/pudu/message"
)

// TestAnAnswerCostsWhatItsModelCosts, also when another than the run's has given it.
func TestAnAnswerCostsWhatItsModelCosts(t *testing.T) {
	prices := map[string]config.Pricing{"dear": {Input: 100}, "cheap": {Input: 1}}
	for by, want := range map[string]float64{"": 100, "cheap": 1, "without a price": 0} {
		answer := agenttest.Say("hello")
		answer[1].Usage = &message.Usage{InputTokens: 1_000_000, TotalTokens: 1_000_000}
		if raw, err := json.Marshal(by); by != "" && err == nil {
			answer[1].Metadata = message.Fields{modelcall.KeyAnsweredBy: raw}
		}
		b := agenttest.New(t, agent.Config{},
			[]agent.Middleware{New(Config{MaxCost: 1000, Model: "dear", Prices: prices})}, answer)
		b.Run(t, "go")
		if got := recordOf(b.State, b.RunID()).Cost; got != want {
			t.Errorf("by %q: %g, want %g", by, got, want)
		}
	}
}

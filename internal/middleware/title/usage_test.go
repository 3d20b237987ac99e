package title

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/agent/agenttest"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/middleware/tokenbudget"
	"github.com/pudu-ai/pudu/internal/model/modelcall"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// TestTheTokensOfATitleAreTheRuns also where no title came of them, and once.
func TestTheTokensOfATitleAreTheRuns(t *testing.T) {
	took := message.Usage{InputTokens: 90, OutputTokens: 10, TotalTokens: 100}
	for name, c := range map[string]struct {
		takes time.Duration
		says  string
		tries int
	}{
		"a title":                 {0, "Deer", 1},
		"nothing said":            {0, "", 3},
		"given up for the answer": {time.Hour, "Deer", 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			side := &titler{takes: c.takes, says: c.says, usage: &took}
			b := titled(t, Config{Model: side, ModelName: "small", Grace: -1}, time.Second,
				agenttest.Calls("bash", `{}`), agenttest.Calls("bash", `{}`))
			b.Run(t, question)
			var want message.Usage
			for range c.tries {
				want = want.Add(took)
			}
			if diff := cmp.Diff(map[string]message.Usage{"small": want},
				threadstate.SideUsage(b.State, b.RunID())); diff != "" {
				t.Errorf("%s: beside the conversation: %s", name, diff)
			}
			if diff := cmp.Diff(want, b.Usage); diff != "" {
				t.Errorf("%s: of the run: %s", name, diff)
			}
			b.Run(t, "more")
			if got := b.Usage; c.tries == 1 && got != (message.Usage{}) {
				t.Errorf("%s: the next run took %+v", name, got)
			}
		})
	}
}

// TestTheBudgetSeesTheTitle: its tokens alone spend the budget, so that the first calls are not made.
func TestTheBudgetSeesTheTitle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		side := &titler{says: "Deer", usage: &message.Usage{InputTokens: 5000, TotalTokens: 5000}}
		bash := &agenttest.Tool{Name: "bash"}
		b := agenttest.New(t, agent.Config{Tools: []tool.Tool{bash}}, []agent.Middleware{
			New(Config{Model: side, ModelName: "small"}), tokenbudget.New(tokenbudget.Config{MaxTokens: 5000}),
			slow{time.Second},
		}, agenttest.Calls("bash", `{}`))
		b.Run(t, question)
		if got := agent.StopState(b.State, b.RunID()).Reason; got != tokenbudget.Reason || bash.Ran() != 0 {
			t.Errorf("stop reason %q, the tool ran %d times", got, bash.Ran())
		}
	})
}

// TestTheTokensOfATitleAreThoseOfWhoMadeIt.
func TestTheTokensOfATitleAreThoseOfWhoMadeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		took := message.Usage{InputTokens: 90, OutputTokens: 10, TotalTokens: 100}
		other := &modelcall.Model{ChatModel: &titler{says: "Deer", usage: &took}, Entry: modelcall.Entry{Name: "other"},
			Instead: true}
		b := titled(t, Config{Model: other, ModelName: "small"}, time.Second)
		b.Run(t, question)
		if diff := cmp.Diff(map[string]message.Usage{"other": took},
			threadstate.SideUsage(b.State, b.RunID())); diff != "" || titleOf(b) != "Deer" {
			t.Error(diff)
		}
	})
}

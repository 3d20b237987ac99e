package summarization

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/middleware/tokenbudget"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// took is what the provider's calls took, of the agent and of the summarizer.
func (p *provider) took(asked []*model.Request, answer func(i int) int) (sum message.Usage) {
	for i, req := range asked {
		in, out := p.count(req), answer(i)
		sum = sum.Add(message.Usage{InputTokens: in, OutputTokens: out, TotalTokens: in + out})
	}
	return sum
}

// TestTheTokensOfASummaryAreTheRuns by the name of the model that wrote it, whether a hook or the guard of a call
// asked.
func TestTheTokensOfASummaryAreTheRuns(t *testing.T) {
	short := func(int, *model.Request) (string, error) { return "sum", nil } // rounds to no token
	for _, c := range []struct {
		name   string
		own    bool // the summarizer is another model
		cfg    Config
		window int
		by     string
	}{
		{"the run's model", false, Config{Trigger: Amount{Messages: 6}}, 0, "big"},
		{"a model of its own", true, Config{Trigger: Amount{Messages: 6}}, 0, "small"},
		{"for a request that was refused", false, Config{}, 700, "big"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &provider{answer: done, summary: short, window: c.window}
			by := p
			c.cfg.Keep, c.cfg.RunModelName, c.cfg.ModelName = Amount{Messages: 2}, "big", "small"
			if c.own {
				by = &provider{summary: short}
				c.cfg.Model = by
			}
			b := newBed(t, p, c.cfg).with(history("uauaua", 500))
			b.mustSay("go on")
			if len(by.summaries) == 0 {
				t.Fatal("nothing was summed up")
			}
			side := by.took(by.summaries, func(int) int { return 0 })
			if diff := cmp.Diff(map[string]message.Usage{c.by: side},
				threadstate.SideUsage(b.state, "r1")); diff != "" {
				t.Errorf("beside the conversation: %s", diff)
			}
			whole := side.Add(p.took(p.asked, func(int) int { return 1 })) // "done"
			if diff := cmp.Diff(whole, b.usage); diff != "" {
				t.Errorf("of the run: %s", diff)
			}
		})
	}
}

// TestTheTokensOfASummaryThatFailedAreCounted: the first model answers with nothing, the run's own takes its place.
func TestTheTokensOfASummaryThatFailedAreCounted(t *testing.T) {
	small := &provider{summary: func(int, *model.Request) (string, error) { return " ", nil }}
	p := &provider{answer: done, summary: func(int, *model.Request) (string, error) { return "", errors.New("down") }}
	b := newBed(t, p, Config{Trigger: Amount{Messages: 6}, Keep: Amount{Messages: 2}, Model: small, ModelName: "small",
		RunModelName: "big"})
	b.with(history("uauaua", 500)).mustSay("go on")
	want := map[string]message.Usage{"small": small.took(small.summaries, func(int) int { return 0 })}
	if diff := cmp.Diff(want, threadstate.SideUsage(b.state, "r1")); diff != "" || len(small.summaries) == 0 {
		t.Error(diff)
	}
}

// TestTheBudgetSeesTheSummary: its tokens spend the budget, so that the next calls are not made.
func TestTheBudgetSeesTheSummary(t *testing.T) {
	for _, c := range []struct{ most, dumps int }{{100_000, 1}, {1500, 0}} {
		p := &provider{answer: func(n int) message.Chunk {
			if n == 0 {
				return dumps(0, 50)
			}
			return says("done")
		}}
		cfg := Config{Trigger: Amount{Messages: 6}, Keep: Amount{Messages: 2}, Model: &provider{}, ModelName: "small"}
		b := newBed(t, p, cfg, tokenbudget.New(tokenbudget.Config{MaxTokens: c.most})).with(history("uauaua", 2000))
		b.mustSay("go on")
		ran := 0
		for _, m := range agent.Messages.Get(b.state) {
			if m.Role == message.Tool && m.Name == "read_file" && m.Status != message.StatusError {
				ran++
			}
		}
		if got := agent.StopState(b.state, "r1").Reason; ran != c.dumps ||
			(got == tokenbudget.Reason) != (c.dumps == 0) {
			t.Errorf("budget %d: stop reason %q, %d calls, used %+v", c.most, got, ran, b.usage)
		}
	}
}

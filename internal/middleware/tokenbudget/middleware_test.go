package tokenbudget

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/agent/agenttest"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// turn is one answer of the model: what it took, and what the sub-agents took to which it gave tasks.
type turn struct {
	in, out int
	tasks   []int  // input tokens of each; a negative one says nothing
	by      string // the sub-agents' model
}

// turns are answers, behind which the model sums up. It reports no usage if mute.
type turns struct {
	list []turn
	mute bool
}

func same(n int, t turn) turns { return turns{list: slices.Repeat([]turn{t}, n)} }

func (ts turns) answers() (out [][]message.Chunk) {
	for n, t := range ts.list {
		calls := agenttest.CallsOf(n, slices.Repeat([]string{"task", "{}"}, max(len(t.tasks), 1))...)
		out = append(out, ts.took(calls, message.Usage{InputTokens: t.in, OutputTokens: t.out, TotalTokens: t.in +
			t.out}))
	}
	return out
}

func (ts turns) took(answer []message.Chunk, u message.Usage) []message.Chunk {
	if !ts.mute {
		answer[1].Usage = &u
	}
	return answer
}

// task answers as a sub-agent's task does.
func (ts turns) task(c *tool.Call) (*tool.Result, error) {
	n, i, err := agenttest.Place(c.ID)
	if err != nil {
		return nil, err
	}
	res, of := tool.Text("ok"), ts.list[n]
	if i < len(of.tasks) && of.tasks[i] >= 0 {
		res.Kwargs = message.Fields{
			toolmeta.KeySubagentUsage: fmt.Appendf(nil, `{"input_tokens":%d,"output_tokens":0,"total_tokens":%[1]d}`,
				of.tasks[i]),
			toolmeta.KeySubagentModel: fmt.Appendf(nil, "%q", of.by),
		}
	}
	return res, nil
}

// play runs the turns with the budget and more middlewares, from the start or from a step that an earlier run
// committed.
func play(t agenttest.TB, cfg Config, ts turns, from *agent.Step, more ...agent.Middleware) *agenttest.Thread {
	t.Helper()
	task := &agenttest.Tool{Name: "task", Do: ts.task}
	th := agenttest.New(t, agent.Config{Tools: []tool.Tool{task}}, append(more, New(cfg)), ts.answers()...)
	th.Model.Last = ts.took(agenttest.Say("summed up"), message.Usage{})
	th.Play(t, from)
	return th
}

// notes are the warnings, each with the number of answers before it.
func notes(th *agenttest.Thread) (notes []string) {
	answers := 0
	for _, m := range agent.Messages.Get(th.State) {
		if m.Role == message.AI {
			answers++
		}
		if conversation.IsNote(m, NoteName) {
			notes = append(notes, fmt.Sprintf("%d: %s", answers, m.Text()))
		}
	}
	return notes
}

func TestBudgetWarnsOnceThenStops(t *testing.T) {
	p := play(t, Config{MaxTokens: 10_000}, same(20, turn{in: 900, out: 100}), nil)
	warned := notes(p)
	if p.Reason() != Reason || len(p.Model.Requests) != 11 || len(warned) != 2 {
		t.Fatalf("reason %q after %d requests, notes %q", p.Reason(), len(p.Model.Requests), warned)
	}
	if !strings.HasPrefix(warned[0], "8: Most of the budget of this run is spent: 8,000 of 10,000 tokens (80 %).") ||
		warned[1] != "10: The budget of this run is spent: 10,000 of 10,000 tokens (100 %)." {
		t.Errorf("notes %q", warned)
	}
	p.CheckGrowth(t)
}

// TestBudgetStopStillAnswers: the calls that are not allowed any more are answered, and the model sums up without
// tools.
func TestBudgetStopStillAnswers(t *testing.T) {
	p := play(t, Config{MaxTokens: 2000}, same(20, turn{in: 900, out: 100}), nil)
	msgs := agent.Messages.Get(p.State)
	last := p.Model.Requests[len(p.Model.Requests)-1]
	if got := msgs[len(msgs)-1].Text(); got != "summed up" || !last.Settings.NoTools {
		t.Errorf("the run ends with %q", got)
	}
	var results []string
	for _, m := range msgs {
		if m.Role == message.Tool {
			results = append(results, m.Text())
		}
	}
	if len(results) != 2 || results[0] != "ok" || !strings.HasPrefix(results[1], "This call was not executed") {
		t.Errorf("results %q", results)
	}
}

func TestAnAnswerWithoutCallsIsNoStop(t *testing.T) {
	p := play(t, Config{MaxInput: 1, MaxOutput: 1}, turns{mute: true}, nil)
	if p.Reason() != "" || len(p.Model.Requests) != 1 || len(notes(p)) != 0 {
		t.Errorf("reason %q, notes %q", p.Reason(), notes(p))
	}
}

func TestEachLimitCounts(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		want int // requests
		note string
	}{
		{"input", Config{MaxTokens: 1_000_000, MaxInput: 1800}, 3, "100 of 1,000,000 tokens"},
		{"output", Config{MaxOutput: 300}, 4, "300 of 300 output tokens (100 %)"},
		{"money", Config{MaxCost: 0.01, Model: "m",
			Prices: map[string]config.Pricing{"m": {Currency: "EUR", Input: 2, Output: 10}}}, 5,
			"0.0112 of 0.01 EUR (112 %)"},
		{"thresholds", Config{MaxTokens: 10_000, WarnAt: 0.1, StopAt: 0.3}, 4, "3,000 of 10,000 tokens (30 %)"},
		{"none", Config{}, 21, ""},
		{"money without prices", Config{MaxCost: 0.001}, 21, ""},
	} {
		p := play(t, c.cfg, same(20, turn{in: 900, out: 100}), nil)
		warned := strings.Join(notes(p), "\n")
		if len(p.Model.Requests) != c.want || c.note == "" && warned != "" ||
			c.name != "input" && !strings.Contains(warned, c.note) {
			t.Errorf("%s: %d requests, notes %q", c.name, len(p.Model.Requests), warned)
		}
	}
}

// TestSubagentTokensAreCountedOnce: they come with the results of tasks, later than the answer that gave the tasks.
func TestSubagentTokensAreCountedOnce(t *testing.T) { // pitfall 26
	ts := turns{list: []turn{{in: 10, out: 1, tasks: []int{300, 400, -1}, by: "small"}, {in: 20, out: 2},
		{in: 30, out: 3}}}
	prices := map[string]config.Pricing{"m": {Input: 1}, "small": {Input: 0.5}, "other": {Currency: "CNY", Input: 9}}
	p := play(t, Config{MaxTokens: 100_000, Model: "m", Prices: prices}, ts, nil)
	got := record.Get(p.State)
	if want := (message.Usage{InputTokens: 760, OutputTokens: 6, TotalTokens: 766}); got.Usage != want {
		t.Errorf("%+v", got.Usage)
	}
	if near := got.Cost * 1e6; near < 409.9 || near > 410.1 { // 60 at 1 and 700 at 0.5
		t.Errorf("cost %v", got.Cost)
	}
	ts.list[0].by = "other" // in another currency
	if got = record.Get(play(t, Config{Model: "m", Prices: prices}, ts, nil).State); got.Cost*1e6 > 60.1 {
		t.Errorf("cost %v", got.Cost)
	}
}

func TestSubagentsSpendTheBudget(t *testing.T) {
	ts := turns{list: []turn{{in: 10, out: 1, tasks: []int{4000, 5000}}, {in: 10, out: 1}, {in: 10, out: 1}}}
	p := play(t, Config{MaxTokens: 9000}, ts, nil)
	if p.Reason() != Reason || len(p.Model.Requests) != 2 || !p.Model.Requests[1].Settings.NoTools ||
		len(notes(p)) != 1 {
		t.Errorf("reason %q after %d requests, notes %q", p.Reason(), len(p.Model.Requests), notes(p))
	}
}

// titled is another middleware that asks a model beside the conversation.
type titled struct{}

func (titled) Name() string { return "Titled" }
func (titled) Channels() []state.AnyChannel {
	return []state.AnyChannel{threadstate.SideUsageChannel()}
}
func (titled) AfterModel(_ context.Context, rt *agent.Runtime, _ state.State) (agent.Command, error) {
	u := message.Usage{InputTokens: 400, OutputTokens: 100, TotalTokens: 500}
	return agent.Command{Update: threadstate.AddSideUsage(rt.RunID, "small", u)}, nil
}

func TestOtherCallersCount(t *testing.T) {
	prices := map[string]config.Pricing{"m": {Input: 1}, "small": {Input: 10}}
	p := play(t, Config{MaxTokens: 5000, MaxCost: 0.01, Model: "m", Prices: prices}, same(9, turn{in: 500}), nil,
		titled{})
	warned := notes(p)
	if p.Reason() != Reason || len(warned) != 2 ||
		warned[1] != "3: The budget of this run is spent: 3,000 of 5,000 tokens (60 %), 0.0135 of 0.01 USD (135 %)." {
		t.Errorf("reason %q, notes %q", p.Reason(), warned)
	}
}

func TestBudgetIsOfTheRun(t *testing.T) {
	p := play(t, Config{MaxTokens: 3000}, same(1, turn{in: 900}), nil)
	if recordOf(p.State, p.RunID()).Usage.InputTokens < 900 || recordOf(p.State, "next").Usage != (message.Usage{}) ||
		!record.Private() {
		t.Errorf("%+v", record.Get(p.State))
	}
	next := merge(record.Get(p.State), spending{RunID: "next", Cost: 1})
	if diff := cmp.Diff(spending{RunID: "next", Cost: 1}, next); diff != "" {
		t.Error(diff)
	}
}

func TestAnotherStopIsLeftAlone(t *testing.T) {
	p := play(t, Config{MaxTokens: 100_000}, same(2, turn{in: 900}), nil)
	stopped, _, err := p.State.Apply(agent.Stop(&agent.Runtime{RunID: p.RunID()}, "loop_capped"))
	if err != nil {
		t.Fatal(err)
	}
	m, rt := New(Config{MaxTokens: 10}), &agent.Runtime{RunID: p.RunID()}
	for name, hook := range map[string]func(context.Context, *agent.Runtime, state.State) (agent.Command, error){
		"before": m.BeforeModel, "after": m.AfterModel,
	} {
		if cmd, err := hook(t.Context(), rt, stopped); err != nil || len(cmd.Update) != 0 {
			t.Error(name, cmd, err)
		}
	}
}

// TestSpendingSurvivesARestart: a run that goes on from any of its checkpoints has spent the same at its end.
func TestSpendingSurvivesARestart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ts turns
		for range rapid.IntRange(1, 8).Draw(t, "turns") {
			ts.list = append(ts.list, turn{
				in: rapid.IntRange(0, 900).Draw(t, "in"), out: rapid.IntRange(0, 90).Draw(t, "out"),
				tasks: rapid.SliceOfN(rapid.IntRange(-1, 500), 0, 3).Draw(t, "tasks"),
				by:    rapid.SampledFrom([]string{"", "m", "s"}).Draw(t, "by"),
			})
		}
		cfg := Config{
			MaxTokens: rapid.IntRange(0, 4000).Draw(t, "max"), MaxCost: rapid.SampledFrom([]float64{0, 0.001}).
					Draw(t, "cost"), Model: "m", Prices: map[string]config.Pricing{"m": {Input: 0.7, Output: 2.1},
				"s": {Input: 0.3}, "small": {Input: 0.1}},
		}
		whole := play(t, cfg, ts, nil, titled{})
		step := whole.Steps[rapid.IntRange(0, len(whole.Steps)-1).Draw(t, "checkpoint")]
		if step.Next == agent.Done {
			return
		}
		again := play(t, cfg, ts, &step, titled{})
		ids := cmpopts.IgnoreFields(spending{}, "TasksOf")
		if diff := cmp.Diff(record.Get(whole.State), record.Get(again.State), ids); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(notes(whole), notes(again)); diff != "" || whole.Reason() != again.Reason() {
			t.Fatal(whole.Reason(), again.Reason(), diff)
		}
	})
}

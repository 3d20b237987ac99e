package toolprogress

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/agent/agenttest"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/middleware/toolerror"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// answers are what a tool brings, call by call; one that begins with "!" is a failure. The model makes one call for
// each.
type answers []string

func times(n int, s string) answers { return slices.Repeat(answers{s}, n) }

// probe answers by the number in the call's id.
func (a answers) probe(c *tool.Call) (*tool.Result, error) {
	n, _, err := agenttest.Place(c.ID)
	if err != nil {
		return nil, err
	}
	if text, failed := strings.CutPrefix(a[n], "!"); failed {
		return tool.Error(text), nil
	}
	return tool.Text(a[n]), nil
}

// play runs the calls with the middleware, from the start or from a step that an earlier run committed.
func play(t agenttest.TB, cfg Config, a answers, from *agent.Step) *agenttest.Thread {
	t.Helper()
	var asked [][]message.Chunk
	for n := range a {
		asked = append(asked, agenttest.CallsOf(n, "probe", "{}"))
	}
	probe := &agenttest.Tool{Name: "probe", Do: a.probe}
	th := agenttest.New(t, agent.Config{Tools: []tool.Tool{probe}}, []agent.Middleware{New(cfg), toolerror.New()},
		asked...)
	th.Play(t, from)
	return th
}

// results are the texts that the model got, in order; hints with the number of results before them.
func results(th *agenttest.Thread) (results, hints []string) {
	for _, m := range agent.Messages.Get(th.State) {
		switch {
		case m.Role == message.Tool:
			results = append(results, m.Text())
		case conversation.IsNote(m, NoteName):
			hints = append(hints, fmt.Sprintf("%d: %s", len(results), m.Text()))
		}
	}
	return results, hints
}

func wantHints(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("hints %q", got)
	}
	for i, w := range want {
		if !strings.HasPrefix(got[i], w) {
			t.Errorf("hint %q, want %q", got[i], w)
		}
	}
}

const page = "The quick brown fox jumps over the lazy dog while seven wise owls watch from their old oak tree number "

// TestRecoverableFailuresBringHints: seven failures that the model can help bring hints, and no call is blocked.
func TestRecoverableFailuresBringHints(t *testing.T) {
	results, hints := results(play(t, Config{}, times(7, "!File not found: /mnt/x"), nil))
	if len(results) != 7 || strings.Contains(strings.Join(results, ""), "BLOCKED") {
		t.Errorf("results %q", results)
	}
	wantHints(t, hints, "3: probe had no success 3 times in a row (not_found). Change what you ask for", "5: probe had",
		"7: probe had")
}

func TestUnrecoverableFailuresBlockTheTool(t *testing.T) {
	results, hints := results(play(t, Config{}, times(7, "!connection refused"), nil))
	wantHints(t, hints, "3: probe had no success 3 times in a row (transient). Use another tool")
	for i, r := range results {
		blockedText := "[TOOL_BLOCKED] probe failed 5 times in a row (transient). It is blocked until the run ends"
		if strings.HasPrefix(r, blockedText) != (i >= 5) {
			t.Errorf("result %d: %q", i, r)
		}
	}
}

func TestFailureThatNothingHelpsBlocksAtOnce(t *testing.T) {
	p := play(t, Config{}, append(answers{"fine"}, times(3, "!401 unauthorized")...), nil)
	results, hints := results(p)
	if len(hints) != 0 || results[1] != "401 unauthorized" ||
		!strings.HasPrefix(results[2], "[TOOL_BLOCKED] probe cannot work in this run (auth).") {
		t.Errorf("results %q, hints %q", results, hints)
	}
	for _, m := range agent.Messages.Get(p.State) {
		if m.ToolCallID == "c2_0" && m.Status != message.StatusError {
			t.Errorf("a blocked call ends with %q", m.Status)
		}
	}
}

func TestGoodResultResets(t *testing.T) {
	_, hints := results(play(t, Config{}, answers{"!timeout", "!timeout", "all is well", "!timeout", "!timeout"}, nil))
	wantHints(t, hints)
}

func TestSameTextAgain(t *testing.T) {
	var same, other answers
	for i := range 6 {
		same = append(same, fmt.Sprint(page, i))
		other = append(other, fmt.Sprint(strings.ReplaceAll(page, "e", fmt.Sprint(i)), i))
	}
	_, hints := results(play(t, Config{}, same, nil))
	wantHints(t, hints, "4: The last 3 results of probe brought nothing new.", "6: ")
	_, hints = results(play(t, Config{}, other, nil))
	wantHints(t, hints)
	_, hints = results(play(t, Config{}, times(6, "too few words to say"), nil))
	wantHints(t, hints)
	_, hints = results(play(t, Config{MinWords: 100}, same, nil))
	wantHints(t, hints)
	_, hints = results(play(t, Config{Similarity: 1}, times(4, page), nil))
	wantHints(t, hints, "4: ")
}

func TestPartialResultsAreProblems(t *testing.T) {
	_, hints := results(play(t, Config{}, times(3, "No results found."), nil))
	wantHints(t, hints, "3: The last 3 results of probe were incomplete or empty.")
}

func TestConfig(t *testing.T) {
	bad := times(8, "!connection refused")
	for _, c := range []struct {
		name           string
		cfg            Config
		hints, blocked int
	}{
		{"exempt", Config{Exempt: []string{"probe"}}, 0, 0},
		{"without hints", Config{NoHints: true}, 0, 3},
		{"earlier", Config{StagnationThreshold: 1, WarnEscalation: 1}, 1, 6},
		{"later", Config{StagnationThreshold: 4, WarnEscalation: 3}, 1, 1},
	} {
		results, hints := results(play(t, c.cfg, bad, nil))
		if n := strings.Count(strings.Join(results, "\n"), blocked); len(hints) != c.hints || n != c.blocked {
			t.Errorf("%s: %d hints, %d blocked", c.name, len(hints), n)
		}
	}
}

func TestResultsWithoutAMarkAreNotJudged(t *testing.T) {
	human, ai, res := message.New(message.Human, "go"), message.New(message.AI, ""), message.New(message.Tool, "!")
	human.ID, ai.ID, res.ID, res.Name, res.Status = "h", "a", "r", "probe", message.StatusError
	s, _, err := state.State{}.Apply(agent.Messages.Append(human, ai, res))
	if err != nil {
		t.Fatal(err)
	}
	cmd, err := New(Config{StagnationThreshold: 1}).BeforeModel(t.Context(), &agent.Runtime{RunID: "run"}, s)
	if err != nil || len(cmd.Update) != 0 {
		t.Error(cmd, err)
	}
}

// TestPhasesAreOfTheRun: another run begins with all tools active.
func TestPhasesAreOfTheRun(t *testing.T) {
	p := play(t, Config{}, times(2, "!401"), nil)
	if recordOf(p.State, p.RunID()).Tools["probe"].Phase != phaseBlocked || recordOf(p.State, "next").Tools != nil ||
		!record.Private() {
		t.Errorf("%+v", record.Get(p.State))
	}
	next := merge(record.Get(p.State), watched{RunID: "next", Tools: map[string]track{"other": {}}})
	if _, old := next.Tools["probe"]; old || next.RunID != "next" {
		t.Errorf("%+v", next)
	}
}

func TestWatchedToolsAreBounded(t *testing.T) {
	w := watched{RunID: "run"}
	for i := range 300 {
		w = merge(w, watched{RunID: "run", Tools: map[string]track{fmt.Sprint(i): {Problems: i}}})
	}
	if w = merge(w, watched{RunID: "run", Tools: map[string]track{"7": {Problems: 70}}}); len(w.Tools) > mostTools ||
		w.Tools["7"].Problems != 70 {
		t.Errorf("%d tools, %+v", len(w.Tools), w.Tools["7"])
	}
}

// TestPhasesSurviveARestart: a run that goes on from any of its checkpoints ends as the one that was not cut off.
func TestPhasesSurviveARestart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := []string{"fine", page + "1", page + "2", "!no such file", "!timeout", "No results found.", "!401"}
		cfg := Config{StagnationThreshold: rapid.IntRange(1, 3).Draw(t, "threshold"),
			WarnEscalation: rapid.IntRange(1, 2).Draw(t, "escalation")}
		a := answers(rapid.SliceOfN(rapid.SampledFrom(texts), 1, 12).Draw(t, "answers"))
		whole := play(t, cfg, a, nil)
		step := whole.Steps[rapid.IntRange(0, len(whole.Steps)-1).Draw(t, "checkpoint")]
		if step.Next == agent.Done {
			return
		}
		again := play(t, cfg, a, &step)
		ids := cmpopts.IgnoreFields(track{}, "Last")
		if diff := cmp.Diff(record.Get(whole.State).Tools, record.Get(again.State).Tools, ids,
			cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		r1, h1 := results(whole)
		r2, h2 := results(again)
		if diff := cmp.Diff(r1, r2) + cmp.Diff(h1, h2); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzSimilarity(f *testing.F) {
	f.Add("the same words here", "here the same words")
	f.Add("", "\xff\xfe")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := wordSet(a), wordSet(b)
		got := similarity(x, y)
		if got < 0 || got > 1 || got != similarity(y, x) || similarity(x, x) != 1 {
			t.Fatal(got)
		}
	})
}

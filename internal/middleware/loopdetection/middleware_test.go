package loopdetection

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

var same = ask{"bash", `{"description":"look","command":"ls"}`, "a b c"}

func TestSameCallWithSameResultIsWarnedThenStopped(t *testing.T) {
	r := play(t, Config{}, always(9, same), nil)
	if r.Reason() != Reason || r.made() != 5 || len(r.Model.Requests) != 6 {
		t.Errorf("reason %q, %d calls, %d requests", r.Reason(), r.made(), len(r.Model.Requests))
	}
	notes := r.notes()
	if len(notes) != 2 || !strings.HasPrefix(notes[0], "3: The same call (bash) brought the same result 3 times.") ||
		!strings.HasPrefix(notes[1], "5: The run ends here: the same call (bash) brought the same result 5 times.") {
		t.Errorf("notes %q", notes)
	}
	r.CheckGrowth(t)
}

// TestForcedStopStillAnswers: a stop gives the model one more call, without tools, to sum up what it has.
func TestForcedStopStillAnswers(t *testing.T) {
	r := play(t, Config{}, always(9, same), nil)
	msgs := agent.Messages.Get(r.State)
	last := msgs[len(msgs)-1]
	if last.Text() != "summed up" || !r.Model.Requests[5].Settings.NoTools {
		t.Errorf("the run ends with %q", last.Text())
	}
}

func TestWarningStandsBehindTheResults(t *testing.T) { // pitfall 21
	r := play(t, Config{}, always(4, same, same), nil)
	var open []string
	for _, m := range agent.Messages.Get(r.State) {
		switch m.Role {
		case message.AI:
			for _, c := range m.ToolCalls {
				open = append(open, c.ID)
			}
		case message.Tool:
			open = slices.DeleteFunc(open, func(id string) bool { return id == m.ToolCallID })
		case message.Human:
			if len(open) > 0 {
				t.Fatalf("a note stands before the results of %v", open)
			}
		}
	}
	if len(r.notes()) != 1 || !strings.HasPrefix(r.notes()[0], "6: ") {
		t.Errorf("a pair of equal calls is not one unit: %q", r.notes())
	}
}

func TestOtherDescriptionIsTheSameCall(t *testing.T) {
	r := play(t, Config{}, each(9, func(i int) ask {
		return ask{"bash", fmt.Sprintf(`{"description":"try %d", "command":"ls"}`, i), "a"}
	}), nil)
	if r.Reason() != Reason || r.made() != 5 {
		t.Errorf("reason %q after %d calls", r.Reason(), r.made())
	}
}

func TestAlternatingCallsAreALoop(t *testing.T) {
	a, b := ask{"bash", `{"command":"a"}`, "A"}, ask{"bash", `{"command":"b"}`, "B"}
	r := play(t, Config{}, each(20, func(i int) ask { return []ask{a, b}[i%2] }), nil)
	if r.Reason() != Reason || r.made() != 9 || len(r.notes()) != 2 || !strings.HasPrefix(r.notes()[0], "5: ") {
		t.Errorf("reason %q after %d calls, notes %q", r.Reason(), r.made(), r.notes())
	}
}

func TestProgressForgives(t *testing.T) {
	test := ask{"bash", `{"command":"go test"}`, "FAIL"}
	for name, fix := range map[string]func(i int) ask{
		"a file that is written without a word": func(i int) ask {
			return ask{"write_file", fmt.Sprintf(`{"path":"a.go","content":"try %d"}`, i), "OK"}
		},
		"a command without output": func(i int) ask {
			return ask{"bash", fmt.Sprintf(`{"command":"mv a b%d"}`, i), "(no output)"}
		},
		"a plan that moves": func(i int) ask {
			return ask{"write_todos", fmt.Sprintf(`{"todos":[{"content":"%d","status":"pending"}]}`, i),
				"There are 3 items."}
		},
		"a new fact": func(i int) ask { return ask{"web_search", `{"query":"why"}`, fmt.Sprintf("page %d", i)} },
		"a new file presented": func(i int) ask {
			return ask{"present_files", fmt.Sprintf(`{"filepaths":["/mnt/%d"]}`, i), "Successfully presented files"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := play(t, Config{}, each(60, func(i int) ask {
				if i%2 == 0 {
					return test
				}
				return fix(i)
			}), nil)
			if r.Reason() != "" || r.made() != 60 {
				t.Errorf("stopped (%q) after %d calls", r.Reason(), r.made())
			}
		})
	}
}

func TestNoProgress(t *testing.T) {
	for name, c := range map[string]struct {
		asks func(i int) ask
		made int
	}{
		"the same file with the same text": {func(int) ask {
			return ask{"write_file", `{"path":"a","content":"x"}`, "OK"}
		}, 5},
		"a plan that goes back and forth": {func(i int) ask {
			return ask{"write_todos", fmt.Sprintf(`{"todos":[{"content":"a","status":"%d"}]}`, i%2),
				"Updated the list."}
		}, 9},
		"a failure with the same words": {func(i int) ask { return ask{"bash", `{"command":"x"}`, "!no"} }, 5},
		"the same lines, moved a little": {func(i int) ask {
			return ask{"read_file", fmt.Sprintf(`{"path":"a","start_line":%d,"end_line":%d}`, 1+i, 100+i), "text"}
		}, 5},
		"a result that each time lies in another file": {func(i int) ask {
			return ask{"bash", `{"command":"cat big"}`,
				fmt.Sprintf("[Full bash output saved to /mnt/x-%012d.log (20000 chars, ~5000 tokens).]\nhead\nread /mnt/x-%012d.log", i, i)}
		}, 5},
		"arguments that are no JSON": {func(int) ask { return ask{"bash", `]`, ""} }, 5},
		"a tool that does not exist": {func(int) ask { return ask{"nosuch", `{"n":1}`, ""} }, 5},
	} {
		t.Run(name, func(t *testing.T) {
			r := play(t, Config{}, each(20, c.asks), nil)
			if r.Reason() != Reason || r.made() != c.made {
				t.Errorf("reason %q after %d calls", r.Reason(), r.made())
			}
		})
	}
}

// TestFailuresAreNoProgress: an error that repeats the call says something else each time, and nothing came of it.
func TestFailuresAreNoProgress(t *testing.T) {
	for name, f := range map[string]func(i int) ask{
		"arguments that are no JSON, other ones each time": func(i int) ask {
			return ask{"bash", fmt.Sprint("] ", i), ""}
		},
		"calls of a tool that does not exist": func(i int) ask {
			return ask{"nosuch", fmt.Sprintf(`{"n":%d}`, i), ""}
		},
		"failures in other words": func(i int) ask {
			return ask{"bash", fmt.Sprintf(`{"command":"x%d"}`, i), fmt.Sprintf("!x%d: command not found", i)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := play(t, Config{}, each(80, f), nil)
			if r.Reason() != Reason || r.made() != 50 {
				t.Errorf("reason %q after %d calls", r.Reason(), r.made())
			}
		})
	}
	t.Run("success in between", func(t *testing.T) {
		r := play(t, Config{}, each(120, func(i int) ask {
			if i%10 == 9 {
				return ask{"bash", fmt.Sprintf(`{"command":"y%d"}`, i), fmt.Sprint("found ", i)}
			}
			return ask{"bash", fmt.Sprintf(`{"command":"x%d"}`, i), fmt.Sprintf("!x%d: command not found", i)}
		}), nil)
		if r.Reason() != "" || r.made() != 120 {
			t.Errorf("stopped (%q) after %d calls", r.Reason(), r.made())
		}
	})
}

func TestReadFileMovesOn(t *testing.T) { // pitfall 23
	r := play(t, Config{}, each(40, func(i int) ask {
		return ask{"read_file", fmt.Sprintf(`{"path":"a","start_line":%d,"end_line":%d}`, i*200+1, i*200+200),
			fmt.Sprintf("part %d", i)}
	}), nil)
	if r.Reason() != "" || r.made() != 40 {
		t.Errorf("stopped (%q) after %d calls", r.Reason(), r.made())
	}
}

// TestHonestBatchGoesOn: many different calls with different results are told of once and never stopped.
func TestHonestBatchGoesOn(t *testing.T) {
	r := play(t, Config{}, each(60, func(i int) ask {
		return ask{"web_fetch", fmt.Sprintf(`{"url":"https://x/%d"}`, i), fmt.Sprintf("page %d", i)}
	}), nil)
	if r.Reason() != "" || r.made() != 60 {
		t.Errorf("stopped (%q) after %d calls", r.Reason(), r.made())
	}
	if n := r.notes(); len(n) != 1 || !strings.HasPrefix(n[0], "30: web_fetch was called 30 times by now.") {
		t.Errorf("notes %q", n)
	}
}

func TestBatchWithoutResultsStops(t *testing.T) { // pitfall 22: the window is as large as the limit
	fetch := func(i int) ask { return ask{"web_fetch", fmt.Sprintf(`{"url":"https://x/%d"}`, i), "nothing here"} }
	for _, c := range []struct {
		name string
		cfg  Config
		in   script
		made int
	}{
		{"one by one", Config{}, each(80, fetch), 50},
		{"in parallel they count one by one", Config{}, func() script {
			var s script
			for i := range 10 {
				s = append(s, []ask{fetch(8 * i), fetch(8*i + 1), fetch(8*i + 2), fetch(8*i + 3), fetch(8*i + 4),
					fetch(8*i + 5), fetch(8*i + 6), fetch(8*i + 7)})
			}
			return s
		}(), 56},
		{"by a rule of its own", Config{Tools: map[string]Rule{"web_fetch": {Warn: 4, HardLimit: 7}}}, each(80, fetch),
			7},
		{"a rule of another tool makes the window larger", Config{Tools: map[string]Rule{"bash": {HardLimit: 70}}},
			each(80, fetch), 50},
		{"two tools by turns", Config{}, each(80, func(i int) ask {
			if i%2 == 0 {
				return fetch(i)
			}
			return ask{"web_search", fmt.Sprintf(`{"query":"%d"}`, i), "nothing"}
		}), 51}, // the second of them was new
	} {
		t.Run(c.name, func(t *testing.T) {
			r := play(t, c.cfg, c.in, nil)
			if r.Reason() != Reason || r.made() != c.made {
				t.Errorf("reason %q after %d calls", r.Reason(), r.made())
			}
		})
	}
}

func TestCountersAreOfTheRun(t *testing.T) { // pitfall 25
	r := play(t, Config{}, always(2, same), nil)
	if got := recordOf(r.State, r.RunID()); len(got.Units) != 2 {
		t.Fatalf("%+v", got)
	}
	if got := recordOf(r.State, "other"); len(got.Units) != 0 || got.RunID != "other" {
		t.Errorf("another run begins with %+v", got)
	}
	next := merge(record.Get(r.State), seen{RunID: "other", At: "x", KeepUnits: 3, KeepCalls: 3,
		Units: []unit{{Key: "k"}}})
	if diff := cmp.Diff([]unit{{Key: "k"}}, next.Units); diff != "" {
		t.Error(diff)
	}
	if !record.Private() {
		t.Error("clients see the counters")
	}
}

func TestStopReasonWithoutARunID(t *testing.T) { // pitfall 24
	r, in := thread(t, Config{}, always(9, same)), message.New(message.Human, "go")
	r.Model.ByHistory, in.ID = true, "h"
	var err error
	if r.State, err = r.Agent.Run(t.Context(), &agent.Runtime{Input: agent.Messages.Append(in)}, r.State); err != nil {
		t.Fatal(err)
	}
	if got := agent.StopState(r.State, "").Reason; got != Reason || r.made() != 5 {
		t.Errorf("reason %q after %d calls", got, r.made())
	}
}

func TestAnotherStopIsLeftAlone(t *testing.T) {
	r := play(t, Config{}, always(4, same), nil)
	stopped, _, err := r.State.Apply(agent.Stop(&agent.Runtime{RunID: r.RunID()}, "token_capped"))
	if err != nil {
		t.Fatal(err)
	}
	cmd, err := New(Config{}).BeforeModel(t.Context(), &agent.Runtime{RunID: r.RunID()}, stopped)
	if err != nil || len(cmd.Update) != 0 {
		t.Error(cmd, err)
	}
}

// BenchmarkBeforeModel is what a step costs in a long run.
func BenchmarkBeforeModel(b *testing.B) {
	fetch := func(i int) ask {
		return ask{"web_fetch", fmt.Sprintf(`{"url":"https://x/%d"}`, i), strings.Repeat("page ", i)}
	}
	r := play(b, Config{}, each(100, fetch), nil)
	var before state.State
	for _, step := range r.Steps {
		if step.Next == agent.NodeBeforeModel {
			before = step.State
		}
	}
	m, rt := New(Config{}), &agent.Runtime{RunID: r.RunID(), NewID: func() string { return "n" }}
	b.ReportAllocs()
	for b.Loop() {
		cmd, err := m.BeforeModel(b.Context(), rt, before)
		if err != nil || len(cmd.Update) == 0 {
			b.Fatal(cmd, err)
		}
	}
}
